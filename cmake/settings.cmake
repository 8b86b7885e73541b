# Compiler settings, always per target: a project that includes this one keeps its own flags.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

# Programs of this checkout in one file each: static libraries only, and neither MPI nor ICU, whose data alone are 31 MB.
if(DYNET_STATIC)
  if(BUILD_SHARED_LIBS OR DYNET_PYTHON OR DYNET_CUDA)
    message(FATAL_ERROR "DYNET_STATIC: not with BUILD_SHARED_LIBS, DYNET_PYTHON or DYNET_CUDA")
  endif()
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(Boost_USE_STATIC_LIBS ON)
  set(DYNET_MPI OFF)
  set(CMAKE_DISABLE_FIND_PACKAGE_ICU ON)
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-static -s -Wl,--gc-sections)
endif()

# Options of the C++ compiler; CUDA has its own.
function(dynet_options target)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>")
endfunction()

# Language and warnings, for every target of this project.
function(dynet_settings target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  dynet_options(${target}
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # warnings with false positives
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)  # on std::string
      dynet_options(${target} -Wno-restrict)
    endif()
    if(DYNET_SANITIZE)  # on instrumented code
      dynet_options(${target} -Wno-maybe-uninitialized -Wno-uninitialized)
    endif()
    # Lets GCC free memory above half a GB instead of 128 MB, which is faster, mainly for tests.
    dynet_options(${target} "SHELL:--param ggc-min-heapsize=500000")
  endif()
  if(DYNET_WERROR)
    dynet_options(${target} -Werror)
  endif()
endfunction()

# For programs that spend their time in the library: compiles in two thirds of the time.
function(dynet_optimize_less target)
  dynet_options(${target} $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
endfunction()

# For targets with numeric code. NaN and infinity are respected.
function(dynet_tune target)
  dynet_options(${target} -fno-math-errno -fno-trapping-math)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 has false warnings for the AVX-512 intrinsics in Eigen.
    dynet_options(${target} -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
endfunction()

# Instruments everything that links the library. Reports end the program, so that a test fails. Tests themselves
# (targets with the property DYNET_TEST) are compiled three times faster without optimization and without checks of
# undefined behaviour; memory checks remain.
function(dynet_sanitize target)
  set(flags -fsanitize=${DYNET_SANITIZE} -fno-sanitize-recover=all)
  set(test $<BOOL:$<TARGET_PROPERTY:DYNET_TEST>>)
  target_compile_options(${target} PUBLIC
    "$<BUILD_INTERFACE:${flags};-fno-omit-frame-pointer;-g1;$<IF:${test},-fno-sanitize=undefined,-O1>>")
  target_compile_definitions(${target} PUBLIC $<BUILD_INTERFACE:_GLIBCXX_ASSERTIONS>)
  target_link_options(${target} PUBLIC "$<BUILD_INTERFACE:${flags}>")
  find_program(DYNET_LLD ld.lld)  # links large programs in half of the time
  mark_as_advanced(DYNET_LLD)
  if(DYNET_LLD)
    target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fuse-ld=lld>)
  endif()
endfunction()
