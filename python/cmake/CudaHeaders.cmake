# The headers of the CUDA runtime API: torch's own dependencies from PyPI
# (nvidia/cu13/include, with `crt` from cuda-toolkit[crt]), or a system toolkit.
# nvcc must be given headers of its own version, so with a system nvcc the
# toolkit's headers are taken for everything that nvcc compiles.
#
# Defines: ANVIL_CUDA_INCLUDE_DIR, ANVIL_CUDA_VERSION and the target anvil_cuda_headers.

set(ANVIL_CUDA_INCLUDE_DIR "" CACHE PATH "Folder that holds cuda_runtime_api.h")
if(NOT ANVIL_CUDA_INCLUDE_DIR)
  find_path(ANVIL_CUDA_INCLUDE_FOUND crt/host_defines.h
    HINTS ${TORCH_ROOT}/../nvidia/cu13/include
    PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
    PATH_SUFFIXES include targets/x86_64-linux/include)
  if(NOT ANVIL_CUDA_INCLUDE_FOUND)
    message(FATAL_ERROR
      "The CUDA runtime's headers were not found. Install them beside torch:\n"
      "  ${Python_EXECUTABLE} -m pip install 'cuda-toolkit[cudart,crt]==13.2.2'\n"
      "or set CUDA_HOME to a toolkit of version 13.")
  endif()
  set(ANVIL_CUDA_INCLUDE_DIR ${ANVIL_CUDA_INCLUDE_FOUND})
endif()
file(STRINGS ${ANVIL_CUDA_INCLUDE_DIR}/cuda_runtime_api.h ANVIL_CUDART_VERSION
  REGEX "define +CUDART_VERSION +[0-9]+")
string(REGEX MATCH "[0-9]+$" ANVIL_CUDART_VERSION "${ANVIL_CUDART_VERSION}")
math(EXPR ANVIL_CUDA_MAJOR "${ANVIL_CUDART_VERSION} / 1000")
math(EXPR ANVIL_CUDA_MINOR "${ANVIL_CUDART_VERSION} % 1000 / 10")
set(ANVIL_CUDA_VERSION ${ANVIL_CUDA_MAJOR}.${ANVIL_CUDA_MINOR})
message(STATUS "CUDA headers ${ANVIL_CUDA_VERSION}: ${ANVIL_CUDA_INCLUDE_DIR}")

add_library(anvil_cuda_headers INTERFACE)
target_include_directories(anvil_cuda_headers SYSTEM INTERFACE ${ANVIL_CUDA_INCLUDE_DIR})
