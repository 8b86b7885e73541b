#pragma once

// The one place that knows which version of Catch2 is installed.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <string>

/// Says why the case that runs was not tested, or not all of it. Where nothing fails, ctest counts
/// it as skipped.
void skip(const std::string& why);
