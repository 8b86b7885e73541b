#pragma once

// First include of every header with a DyNet name. After #error compilers continue and report every
// C++17 construct that follows; a missing header stops them.
#if __cplusplus < 201703L
#error \
    "dynet-like needs C++17: compile with -std=c++17 or later (CMake: target_compile_features(... cxx_std_17))"
#include <compile-with-std-c++17>
#endif
