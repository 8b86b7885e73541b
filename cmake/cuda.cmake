# Detection of CUDA, and its kernels as a part of the library.

# Enabled by default if CUDA can be compiled and used.
find_program(DYNET_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(DYNET_NVCC)
set(dynet_cuda_default OFF)
if(DYNET_NVCC AND EXISTS /proc/driver/nvidia/version AND NOT DYNET_SANITIZE)
  set(dynet_cuda_default ON)
endif()
option(DYNET_CUDA "Graphs that run on NVIDIA's GPUs" ${dynet_cuda_default})

# Adds the kernels to a target. Programs that link the target need neither a CUDA compiler nor cuBLAS, which is loaded
# on first use.
function(dynet_add_cuda target)
  file(GLOB sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/kernels/cuda/*.cc" "${PROJECT_SOURCE_DIR}/kernels/cuda/*.cu")
  target_sources(${target} PRIVATE ${sources})
  target_link_libraries(${target} PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
  # DYNET_CUDA: missing kernels are link errors.
  target_compile_definitions(${target} PRIVATE DYNET_CUDA)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/kernels/cuda/library.cc" PROPERTIES
    COMPILE_DEFINITIONS "DYNET_CUDA_LIBRARIES=\"${CUDAToolkit_LIBRARY_DIR}\"")
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  # -std as an option, since CMake 3.25 does not know this standard for nvcc.
  set(options -std=c++20 --expt-relaxed-constexpr --expt-extended-lambda -Xcompiler=-Wall,-Wextra)
  if(DYNET_WERROR)
    list(APPEND options -Werror=all-warnings)
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${options}>")
endfunction()

if(DYNET_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "80;90")
  endif()
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND DYNET_NVCC)
    set(CMAKE_CUDA_COMPILER "${DYNET_NVCC}")
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
