#pragma once

#include <cstddef>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/op_case.h"

namespace dynet::test {

/// The largest difference.
inline double check_near(const std::vector<float>& a, const std::vector<float>& b,
                         double tolerance) {
  REQUIRE(a.size() == b.size());
  const double d = largest_difference(a.data(), b.data(), a.size());
  CHECK(d <= tolerance);
  return d;
}

/// Lists of numbers of the CPU, and those that a device has in their place.
inline void check_equal(const std::vector<std::vector<float>>& host,
                        const std::vector<std::vector<float>>& device) {
  REQUIRE(host.size() == device.size());
  for (std::size_t k = 0; k < host.size(); ++k) {
    REQUIRE(host[k].size() == device[k].size());
    for (std::size_t i = 0; i < host[k].size(); ++i) {
      CAPTURE(k, i);
      CHECK(device[k][i] == Approx(host[k][i]).epsilon(2e-5).margin(2e-6));
    }
  }
}

}  // namespace dynet::test
