#pragma once

// Every header with a name of DyNet's begins here. After #error compilers go on and report what
// they do not understand in C++20; a header that does not exist is what stops them.
#if __cplusplus < 202002L
#error \
    "dynet-like needs C++20: compile with -std=c++20 (CMake: target_compile_features(... cxx_std_20))"
#include <compile-with-std-c++20>
#endif
