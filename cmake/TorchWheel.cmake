# LibTorch as imported targets of the unpacked wheels. find_package(Torch) changes global flags, requires Python and
# breaks C++20 for CUDA under CMake 3.25.
#
#   headroom_torch       LibTorch, the CUDA runtime and the run path
#   headroom_torch_pch   its precompiled header
#   headroom_cublaslt, headroom_cupti, headroom_nvrtc   LibTorch's copies of these libraries

set(HEADROOM_TORCH "${HEADROOM_DEPS}/wheels/torch" CACHE PATH "Folder 'torch' of the unpacked wheel, or a LibTorch")
get_filename_component(_wheels "${HEADROOM_TORCH}/.." ABSOLUTE)
set(HEADROOM_NVIDIA "${_wheels}/nvidia" CACHE PATH "Folder 'nvidia' of the unpacked CUDA wheels")
set(HEADROOM_TORCH_RPATH "${HEADROOM_TORCH}/lib:${HEADROOM_NVIDIA}/cu13/lib:${HEADROOM_NVIDIA}/nccl/lib" CACHE STRING
  "Run path of the engine; give another machine's folders to run it there")
if(NOT EXISTS "${HEADROOM_TORCH}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "LibTorch is not at ${HEADROOM_TORCH}. Run './run doctor' (./run fetches it), give "
    "-DHEADROOM_TORCH=FOLDER, or build without it: -DHEADROOM_LIGHT=ON.")
endif()

set(_cuda "${HEADROOM_NVIDIA}/cu13")
function(_imported target file)
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${file}")
endfunction()
foreach(_name c10 c10_cuda torch_cpu torch_cuda torch)
  _imported(wheel_${_name} ${HEADROOM_TORCH}/lib/lib${_name}.so)
endforeach()
_imported(wheel_gomp ${HEADROOM_TORCH}/lib/libgomp.so.1)
_imported(wheel_cudart ${_cuda}/lib/libcudart.so.13)

add_library(headroom_torch INTERFACE)
target_include_directories(headroom_torch SYSTEM INTERFACE ${HEADROOM_TORCH}/include
  ${HEADROOM_TORCH}/include/torch/csrc/api/include ${_cuda}/include ${HEADROOM_NVIDIA}/nccl/include)
target_compile_definitions(headroom_torch INTERFACE USE_DISTRIBUTED USE_C10D_NCCL)
# Without OpenMP at::parallel_for is a plain loop. LibTorch's libgomp runs the threads.
target_compile_options(headroom_torch INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fopenmp>")
# Unlike DT_RUNPATH, DT_RPATH also applies to libraries that LibTorch loads.
target_link_options(headroom_torch INTERFACE "LINKER:--disable-new-dtags,-rpath,${HEADROOM_TORCH_RPATH}")
target_link_libraries(headroom_torch INTERFACE "-Wl,--no-as-needed" wheel_torch wheel_torch_cpu wheel_torch_cuda
  wheel_c10_cuda wheel_c10 wheel_cudart wheel_gomp "-Wl,--as-needed")

foreach(_pair cublaslt=cublasLt.so.13 cublas=cublas.so.13 cupti=cupti.so.13 nvrtc=nvrtc.so.13)
  string(REPLACE "=" ";" _pair "${_pair}")
  list(GET _pair 0 _name)
  list(GET _pair 1 _file)
  _imported(headroom_${_name} ${_cuda}/lib/lib${_file})
  target_include_directories(headroom_${_name} SYSTEM INTERFACE ${_cuda}/include)
endforeach()

file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/torch_pch.cpp" @ONLY CONTENT "// Carries the precompiled header of torch code.\n")
add_library(headroom_torch_pch OBJECT ${CMAKE_BINARY_DIR}/generated/torch_pch.cpp)
target_link_libraries(headroom_torch_pch PRIVATE headroom_torch headroom_warnings)
target_compile_options(headroom_torch_pch PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
target_precompile_headers(headroom_torch_pch PRIVATE <algorithm> <cstdint> <functional> <memory> <optional> <string> <vector>
  <ATen/ATen.h> <torch/csrc/autograd/custom_function.h> <torch/csrc/autograd/autograd.h>)
target_compile_options(headroom_torch INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
