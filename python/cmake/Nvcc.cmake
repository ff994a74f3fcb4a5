# Finds nvcc and the headers of its own version, for the CUDA kernel library.
#
# In this order: CMAKE_CUDA_COMPILER or CUDACXX; nvcc beside torch, installed
# from PyPI at the version that torch pins (ci/cuda_pin.py nvcc,cccl); nvcc of a
# system toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda, PATH). nvcc and the
# headers that it reads must be of one version, so they are taken from one place:
# what nvcc compiles uses ANVIL_NVCC_INCLUDE_DIR, not anvil_cuda_headers.
#
# Defines: ANVIL_NVCC, ANVIL_NVCC_VERSION (13.2), ANVIL_NVCC_ROOT, ANVIL_NVCC_INCLUDE_DIR.

cmake_path(SET ANVIL_PYPI_TOOLKIT NORMALIZE ${TORCH_ROOT}/../nvidia/cu13)
if(CMAKE_CUDA_COMPILER)
  set(ANVIL_NVCC ${CMAKE_CUDA_COMPILER})
elseif(DEFINED ENV{CUDACXX})
  set(ANVIL_NVCC $ENV{CUDACXX})
else()
  find_program(ANVIL_NVCC_FOUND nvcc
    HINTS ${ANVIL_PYPI_TOOLKIT}/bin ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda/bin PATH_SUFFIXES bin)
  if(NOT ANVIL_NVCC_FOUND)
    message(FATAL_ERROR
      "ANVIL_BUILD_CUDA is on, but nvcc was not found. Install it beside torch:\n"
      "  ${Python_EXECUTABLE} -m pip install \"$(${Python_EXECUTABLE} ci/cuda_pin.py nvcc,cccl)\"\n"
      "or set CUDA_HOME to a toolkit of version 13.")
  endif()
  set(ANVIL_NVCC ${ANVIL_NVCC_FOUND})
endif()

execute_process(COMMAND ${ANVIL_NVCC} --version
  OUTPUT_VARIABLE ANVIL_NVCC_OUTPUT RESULT_VARIABLE ANVIL_NVCC_RESULT ERROR_QUIET)
if(NOT ANVIL_NVCC_RESULT EQUAL 0 OR NOT ANVIL_NVCC_OUTPUT MATCHES "release ([0-9]+)\\.([0-9]+)")
  message(FATAL_ERROR "${ANVIL_NVCC} does not run; its version is unknown.")
endif()
set(ANVIL_NVCC_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
if(NOT CMAKE_MATCH_1 EQUAL 13)
  message(FATAL_ERROR "nvcc ${ANVIL_NVCC_VERSION} (${ANVIL_NVCC}) was found; Anvil needs version 13.")
endif()

file(REAL_PATH ${ANVIL_NVCC} ANVIL_NVCC_REAL)
cmake_path(GET ANVIL_NVCC_REAL PARENT_PATH ANVIL_NVCC_BIN)
cmake_path(GET ANVIL_NVCC_BIN PARENT_PATH ANVIL_NVCC_ROOT)
find_path(ANVIL_NVCC_INCLUDE_DIR crt/host_defines.h
  HINTS ${ANVIL_NVCC_ROOT} PATH_SUFFIXES include targets/x86_64-linux/include
  NO_DEFAULT_PATH)
if(NOT ANVIL_NVCC_INCLUDE_DIR)
  message(FATAL_ERROR
    "The headers of nvcc ${ANVIL_NVCC_VERSION} are not in ${ANVIL_NVCC_ROOT}. Install them at the same version:\n"
    "  ${Python_EXECUTABLE} -m pip install \"$(${Python_EXECUTABLE} ci/cuda_pin.py nvcc,cccl)\"")
endif()
file(STRINGS ${ANVIL_NVCC_INCLUDE_DIR}/cuda_runtime_api.h ANVIL_NVCC_CUDART
  REGEX "define +CUDART_VERSION +[0-9]+")
string(REGEX MATCH "[0-9]+$" ANVIL_NVCC_CUDART "${ANVIL_NVCC_CUDART}")
math(EXPR ANVIL_NVCC_CUDART_MAJOR "${ANVIL_NVCC_CUDART} / 1000")
math(EXPR ANVIL_NVCC_CUDART_MINOR "${ANVIL_NVCC_CUDART} % 1000 / 10")
if(NOT ANVIL_NVCC_VERSION STREQUAL "${ANVIL_NVCC_CUDART_MAJOR}.${ANVIL_NVCC_CUDART_MINOR}")
  message(FATAL_ERROR
    "nvcc is ${ANVIL_NVCC_VERSION}, but its headers in ${ANVIL_NVCC_INCLUDE_DIR} are "
    "${ANVIL_NVCC_CUDART_MAJOR}.${ANVIL_NVCC_CUDART_MINOR}: they do not compile together.")
endif()
message(STATUS "nvcc ${ANVIL_NVCC_VERSION}: ${ANVIL_NVCC}")
