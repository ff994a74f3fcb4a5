# Finds the installed torch through Python, without its CMake package: that one
# insists on a CUDA toolkit if torch was built with CUDA, and we link only
# libtorch_cpu and libc10.
#
# Defines: Python_EXECUTABLE, TORCH_ROOT, TORCH_VERSION, and the imported
# targets torch_cpu_library, torch_python_library, pybind11_headers.

find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)

# torch is asked in a process that does not load plugins, ours among them.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env TORCH_DEVICE_BACKEND_AUTOLOAD=0
    ${Python_EXECUTABLE} -c "import os, torch; print(os.path.dirname(torch.__file__)); print(torch.__version__)"
  OUTPUT_VARIABLE ANVIL_TORCH_FOUND RESULT_VARIABLE ANVIL_TORCH_RESULT
  ERROR_VARIABLE ANVIL_TORCH_ERROR OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT ANVIL_TORCH_RESULT EQUAL 0)
  message(FATAL_ERROR
    "${Python_EXECUTABLE} cannot import torch; install it with: ${Python_EXECUTABLE} -m pip install torch\n"
    "${ANVIL_TORCH_ERROR}")
endif()
string(REPLACE "\n" ";" ANVIL_TORCH_FOUND "${ANVIL_TORCH_FOUND}")
list(GET ANVIL_TORCH_FOUND 0 TORCH_ROOT)
list(GET ANVIL_TORCH_FOUND 1 TORCH_VERSION)
message(STATUS "torch ${TORCH_VERSION}: ${TORCH_ROOT}")

add_library(torch_cpu_library INTERFACE)
target_include_directories(torch_cpu_library SYSTEM INTERFACE
  ${TORCH_ROOT}/include ${TORCH_ROOT}/include/torch/csrc/api/include)
target_link_libraries(torch_cpu_library INTERFACE
  ${TORCH_ROOT}/lib/libtorch_cpu.so ${TORCH_ROOT}/lib/libc10.so Threads::Threads)
target_compile_definitions(torch_cpu_library INTERFACE AT_PER_OPERATOR_HEADERS)

add_library(torch_python_library INTERFACE)
target_link_libraries(torch_python_library INTERFACE
  torch_cpu_library ${TORCH_ROOT}/lib/libtorch_python.so Python::Module)
