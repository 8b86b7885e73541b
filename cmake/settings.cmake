# Compiler settings, always on a target: a project that includes this one keeps its own flags.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

# Options of the C++ compiler; that of CUDA has its own.
function(dynet_options target)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>")
endfunction()

# Language and warnings, for every target of this project.
function(dynet_settings target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  dynet_options(${target}
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # what is switched off here is known to err
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)  # on std::string
      dynet_options(${target} -Wno-restrict)
    endif()
    if(DYNET_SANITIZE)  # on instrumented code
      dynet_options(${target} -Wno-maybe-uninitialized -Wno-uninitialized)
    endif()
    # GCC looks for memory to free from half a GB only, not from 128 MB, which takes less time, most of all in tests.
    dynet_options(${target} "SHELL:--param ggc-min-heapsize=500000")
  endif()
  if(DYNET_WERROR)
    dynet_options(${target} -Werror)
  endif()
endfunction()

# For a program whose time goes into the library: it compiles in two thirds of the time.
function(dynet_optimize_less target)
  dynet_options(${target} $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
endfunction()

# For targets that hold numeric code. NaN and infinity keep their meaning.
function(dynet_tune target)
  dynet_options(${target} -fno-math-errno -fno-trapping-math)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 errs on the AVX-512 intrinsics that Eigen uses.
    dynet_options(${target} -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
endfunction()

# Whatever links the library is checked with it. Reports end the program, so that a test fails.
# Tests themselves (targets with the property DYNET_TEST) are compiled three times faster without
# optimization and without checks of undefined behaviour; memory is checked in them too.
function(dynet_sanitize target)
  set(flags -fsanitize=${DYNET_SANITIZE} -fno-sanitize-recover=all)
  set(test $<BOOL:$<TARGET_PROPERTY:DYNET_TEST>>)
  target_compile_options(${target} PUBLIC
    "$<BUILD_INTERFACE:${flags};-fno-omit-frame-pointer;-g1;$<IF:${test},-fno-sanitize=undefined,-O1>>")
  target_compile_definitions(${target} PUBLIC $<BUILD_INTERFACE:_GLIBCXX_ASSERTIONS>)
  target_link_options(${target} PUBLIC "$<BUILD_INTERFACE:${flags}>")
  find_program(DYNET_LLD ld.lld)  # links programs of this size in half of the time
  mark_as_advanced(DYNET_LLD)
  if(DYNET_LLD)
    target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fuse-ld=lld>)
  endif()
endfunction()
