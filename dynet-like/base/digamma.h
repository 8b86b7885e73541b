#pragma once

#include <cmath>
#include <numbers>

#include "dynet-like/base/device_code.h"

namespace dynet {

/// Digamma function, d/dx log |Gamma(x)|, in double: reflection below zero, recurrence up to ten,
/// then the asymptotic series.
inline DYNET_DEVICE double digamma(double x) {
  constexpr double kPi = std::numbers::pi;
  double reflected = 0;
  if (x <= 0) {
    const double near = x - std::round(x);  // exact
    if (!(std::abs(near) > 0)) return NAN;  // a pole
    reflected = kPi / std::tan(kPi * near);
    x = 1 - x;
  }
  double steps = 0;
  for (; x < 10; x += 1) steps += 1 / x;
  const double z = 1 / (x * x);
  double series = z * (691 / 32760.0 - z * (1 / 12.0));
  series = z * (5 / 660.0 - series);
  series = z * (1 / 240.0 - series);
  series = z * (1 / 252.0 - series);
  series = z * (1 / 120.0 - series);
  series = z * (1 / 12.0 - series);
  return std::log(x) - 0.5 / x - series - steps - reflected;
}
inline DYNET_DEVICE float digamma(float x) {
  return static_cast<float>(digamma(static_cast<double>(x)));
}

}  // namespace dynet
