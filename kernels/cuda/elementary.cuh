#pragma once

// Elementary functions that CUDA lacks, or that are less exact than 1e-6 there; analogous to
// kernels/cpu/elementary.h.

#include "kernels/cuda/device.cuh"

namespace dynet::cuda {

inline __device__ float square(float x) { return x * x; }
inline __device__ float sign(float x) { return x > 0 ? 1 : x < 0 ? -1 : x; }  // NaN for NaN
/// Replaces an infinity by the largest number, so that its product with zero is zero.
inline __device__ float finite(float x) {
  constexpr float kLargest = 3.40282347e+38f;
  return x > kLargest ? kLargest : x < -kLargest ? -kLargest : x;
}

/// Rounding error of the product p of x and y; zero unless p is below 1000.
inline __device__ float rest_of_product(float x, float y, float p) {
  return fabsf(p) < 1e3f ? fmaf(x, y, -p) : 0;
}

/// 1 / (1 + e^-z) and 1 / (1 + e^z), and e^-|z|.
struct Sigmoid {
  float up, down, e;
};
/// Sigmoid of a x.
inline __device__ Sigmoid sigmoid(float x, float a) {
  const float z = a * x, rest = rest_of_product(a, x, z);
  float e = expf(-fabsf(z));
  e += e * (z < 0 ? rest : -rest);
  const float large = 1 / (1 + e), small = e * large;
  return z < 0 ? Sigmoid{small, large, e} : Sigmoid{large, small, e};
}
inline __device__ float logistic(float x) { return sigmoid(x, 1).up; }

/// e^(-x^2)
inline __device__ float exp_of_minus_square(float x) {
  const float s = x * x, e = expf(-s);
  return e - e * rest_of_product(x, x, s);
}

/// c a^b, or c a^(b - 1); the power alone may exceed the range of float.
inline __device__ float scaled_power(float c, float a, float b) {
  const float p = powf(a, b);
  if (fabsf(p) > 1e-30f && fabsf(p) < 1e30f) return c * p;
  return static_cast<float>(c * pow(static_cast<double>(a), static_cast<double>(b)));
}
inline __device__ float scaled_power_less_one(float c, float a, float b) {
  const float p = powf(a, b);
  if (fabsf(p) > 1e-30f && fabsf(p) < 1e30f) return c * p / a;
  return static_cast<float>(c * pow(static_cast<double>(a), b - 1.0));
}

}  // namespace dynet::cuda
