#pragma once

// Includes of nearly every test: the library, Catch2, and the parts of the standard library that
// tests use most.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

// Expressions as functions of one or two operands, for tables.
#define OF_X(...) [=](const dynet::Expression& x) { return __VA_ARGS__; }
#define OF_XY(...) \
  [=](const dynet::Expression& x, const dynet::Expression& y) { return __VA_ARGS__; }
