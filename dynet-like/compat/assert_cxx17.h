#pragma once

// Every header with a name of DyNet's begins here. After #error compilers go on and report what
// they do not understand in C++17; a header that does not exist is what stops them.
#if __cplusplus < 201703L
#error \
    "dynet-like needs C++17: compile with -std=c++17 or later (CMake: target_compile_features(... cxx_std_17))"
#include <compile-with-std-c++17>
#endif
