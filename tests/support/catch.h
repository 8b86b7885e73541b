#pragma once

// The only includes of Catch2, for both of its major versions.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <string>

/// Marks the running case as skipped, or partly skipped, with the reason. ctest counts a case
/// without failures as skipped.
void skip(const std::string& why);
