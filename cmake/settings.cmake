# Compiler settings, always on a target: a project that includes this one keeps its own flags.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

# Language and warnings, for every target of this project.
function(dynet_settings target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Known to err in GCC 12: the first on std::string, the second on AVX-512 intrinsics. The second
    # errs on instrumented code in later versions too.
    string(COMPARE NOTEQUAL "${DYNET_SANITIZE}" "" sanitized)  # its comma would part an expression
    target_compile_options(${target} PRIVATE
      $<$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>:-Wno-restrict>
      $<$<OR:$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>,$<BOOL:${sanitized}>>:-Wno-maybe-uninitialized>)
  endif()
  if(DYNET_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# For targets that hold numeric code. NaN and infinity keep their meaning.
function(dynet_tune target)
  target_compile_options(${target} PRIVATE -fno-math-errno -fno-trapping-math)
  if(DYNET_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  endif()
endfunction()

# Whatever links the library is checked with it. Reports end the program, so that a test fails.
function(dynet_sanitize target)
  set(flags -fsanitize=${DYNET_SANITIZE} -fno-sanitize-recover=all)
  target_compile_options(${target} PUBLIC
    "$<BUILD_INTERFACE:${flags};-fno-omit-frame-pointer;-g1;-O1>")
  target_compile_definitions(${target} PUBLIC $<BUILD_INTERFACE:_GLIBCXX_ASSERTIONS>)
  target_link_options(${target} PUBLIC "$<BUILD_INTERFACE:${flags}>")
endfunction()
