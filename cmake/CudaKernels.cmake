# The CUDA language, from the system's toolkit (13.x) or NVIDIA's wheels, and headroom_cuda_library.

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  # Searches PATH first, like tools/setup.sh, which fetches nvcc if it finds no CUDA 13.
  find_program(HEADROOM_NVCC nvcc PATHS /usr/local/cuda/bin /usr/local/cuda-13.0/bin)
  set(_version 0)
  if(HEADROOM_NVCC)
    execute_process(COMMAND ${HEADROOM_NVCC} --version OUTPUT_VARIABLE _text ERROR_QUIET)
    if(_text MATCHES "release ([0-9]+\\.[0-9]+)")
      set(_version ${CMAKE_MATCH_1})
    endif()
  endif()
  if(_version VERSION_GREATER_EQUAL 13.0 AND _version VERSION_LESS 14)
    set(CMAKE_CUDA_COMPILER "${HEADROOM_NVCC}")
  else()
    set(CMAKE_CUDA_COMPILER "${HEADROOM_NVIDIA}/cu13/bin/nvcc")
  endif()
endif()

# This machine's GPUs, or 90 (H100, H200) and portable code from 120 (RTX 50) on.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  find_program(HEADROOM_NVIDIA_SMI nvidia-smi)
  set(_found "")
  if(HEADROOM_NVIDIA_SMI)
    execute_process(COMMAND ${HEADROOM_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE _caps ERROR_QUIET RESULT_VARIABLE _failed)
    if(NOT _failed)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]+" _caps "${_caps}")
      foreach(_cap IN LISTS _caps)
        string(REPLACE "." "" _cap "${_cap}")
        list(APPEND _found "${_cap}-real")
      endforeach()
      list(REMOVE_DUPLICATES _found)
    endif()
  endif()
  if(NOT _found)
    set(_found 90-real 120-virtual)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${_found}" CACHE STRING "GPU architectures the kernels are compiled for")
endif()

# The process has LibTorch's CUDA runtime; nvcc must not link a second, static one.
set(CMAKE_CUDA_RUNTIME_LIBRARY None)
enable_language(CUDA)
# A flag of nvcc 13 that CMake 3.25 does not know.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
message(STATUS "CUDA kernels: ${CMAKE_CUDA_COMPILER} for ${CMAKE_CUDA_ARCHITECTURES}")

# headroom_cuda_library(<target> SOURCES a.cu …): kernels and launchers, without torch.
function(headroom_cuda_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${target} STATIC ${arg_SOURCES})
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  # The C++ compiler links, against the wheel's libcudart.
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX CUDA_RUNTIME_LIBRARY None UNITY_BUILD OFF)
endfunction()
