#include "kernels/cpu/noise.h"

#include <algorithm>
#include <cmath>

#include "dynet-like/attributes/along.h"
#include "kernels/cpu/eigen.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

/// Draws of RandomStream::normal, as calls use(at, length, z) for pieces.
template <class Use>
void over_normals(const RandomStream& stream, std::size_t n, Use use) {
  constexpr std::size_t kPiece = 256, kVector = 8;
  alignas(64) double u[kPiece], v[kPiece];
  for (std::size_t at = 0; at < n; at += kPiece) {
    const std::size_t length = std::min(kPiece, n - at);
    for (std::size_t k = 0; k < length; ++k) {
      const std::uint64_t bits = stream.bits(at + k);
      u[k] = open_uniform(bits);
      v[k] = static_cast<double>(bits & 0xffffffffu) * 0x1p-32;
    }
    // Pads to whole vectors, so that draws are independent of the count.
    const std::size_t whole = (length + kVector - 1) / kVector * kVector;
    std::fill(u + length, u + whole, 0.5);
    std::fill(v + length, v + whole, 0.0);
    array(u, whole) =
        (-2.0 * array(u, whole).log()).sqrt() * (6.283185307179586 * array(v, whole)).cos();
    use(at, length, static_cast<const double*>(u));
  }
}

}  // namespace

void dropout_forward(const Batch<T>& b) {
  const double p = b.attr<DropoutAttr>().p;
  const T scale = static_cast<T>(1.0 / (1.0 - p));
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i) {
    const Coin drop(stream_of<DropoutAttr>(b, i), p);
    const T* x = b.in(0, i);
    T* y = b.out(i);
    for (std::size_t k = 0; k < n; ++k) y[k] = drop(k) ? T(0) : scale * x[k];
  }
}

void dropout_backward(const GradientBatch<T>& b) {
  const double p = b.attr<DropoutAttr>().p;
  const T scale = static_cast<T>(1.0 / (1.0 - p));
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const Coin drop(stream_of<DropoutAttr, T>(b, i), p);
    const T* dy = b.d_out(i);
    T* dx = b.d_in(0, i);
    const bool add = b.add(0, i);
    for (std::size_t k = 0; k < n; ++k) {
      const T g = drop(k) ? T(0) : scale * dy[k];
      dx[k] = add ? dx[k] + g : g;
    }
  }
}

namespace {

// Calls f(k, scale) for every element k: the scale is 0 for dropped elements, otherwise 1 / (1 -
// p).
template <class F>
void over_shared_draws(const Batch<T>& b, std::size_t i, F f) {
  const auto& a = b.attr<SharedDropoutAttr>();
  const Coin drop(stream_of<SharedDropoutAttr, T>(b, i), a.p);
  const T scale = static_cast<T>(1.0 / (1.0 - a.p));
  const std::size_t n = b.dim().batch_size();
  Along x(b.dim(), a.dimension);
  std::size_t lines = x.outer * b.dim().bd;
  if (a.dimension == SharedDropoutAttr::kAllDimensions) {
    x.inner = 1;
    x.size = n;
    lines = b.dim().bd;
  }
  for (std::size_t line = 0; line < lines; ++line)
    for (std::size_t j = 0; j < x.inner; ++j) {
      const T s = drop(line * x.inner + j) ? T(0) : scale;
      for (std::size_t k = 0; k < x.size; ++k) f((line * x.size + k) * x.inner + j, s);
    }
}

}  // namespace

void shared_dropout_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    over_shared_draws(b, i, [x = b.in(0, i), y = b.out(i)](std::size_t k, T scale) {
      y[k] = scale == T(0) ? T(0) : scale * x[k];
    });
}

void shared_dropout_backward(const GradientBatch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* const dx = b.d_in(0, i))
      over_shared_draws(b, i, [&, dy = b.d_out(i)](std::size_t k, T scale) {
        const T g = scale == T(0) ? T(0) : scale * dy[k];
        dx[k] = b.add(0, i) ? dx[k] + g : g;
      });
}

void noise_forward(const Batch<T>& b) {
  const double stddev = b.attr<NoiseAttr>().stddev;
  for (std::size_t i = 0; i < b.count; ++i)
    over_normals(stream_of<NoiseAttr>(b, i), b.dim().size(),
                 [&](std::size_t at, std::size_t n, const double* z) {
                   array(b.out(i) + at, n) =
                       array(b.in(0, i) + at, n) + (stddev * array(z, n)).template cast<T>();
                 });
}

void noise_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i)
    if (b.d_in(0, i)) store_or_add(b.add(0, i), array(b.d_in(0, i), n), array(b.d_out(i), n));
}

void random_normal_forward(const Batch<T>& b) {
  const auto& a = b.attr<RandomAttr>();
  for (std::size_t i = 0; i < b.count; ++i)
    over_normals(stream_of<RandomAttr>(b, i), b.dim().size(),
                 [&](std::size_t at, std::size_t n, const double* z) {
                   array(b.out(i) + at, n) = (a.first + a.second * array(z, n)).template cast<T>();
                 });
}

void random_bernoulli_forward(const Batch<T>& b) {
  const auto& a = b.attr<RandomAttr>();
  const T one = static_cast<T>(a.second);
  for (std::size_t i = 0; i < b.count; ++i) {
    const Coin heads(stream_of<RandomAttr>(b, i), a.first);
    for (std::size_t k = 0; k < b.dim().size(); ++k) b.out(i)[k] = heads(k) ? one : T(0);
  }
}

void random_uniform_forward(const Batch<T>& b) {
  const auto& a = b.attr<RandomAttr>();
  for (std::size_t i = 0; i < b.count; ++i) {
    const RandomStream stream = stream_of<RandomAttr>(b, i);
    for (std::size_t k = 0; k < b.dim().size(); ++k)
      b.out(i)[k] = static_cast<T>(a.first + (a.second - a.first) * stream.uniform(k));
  }
}

void random_gumbel_forward(const Batch<T>& b) {
  const auto& a = b.attr<RandomAttr>();
  for (std::size_t i = 0; i < b.count; ++i) {
    const RandomStream stream = stream_of<RandomAttr>(b, i);
    for (std::size_t k = 0; k < b.dim().size(); ++k)
      b.out(i)[k] =
          static_cast<T>(a.first - a.second * std::log(-std::log(open_uniform(stream.bits(k)))));
  }
}

}  // namespace dynet::cpu::DYNET_ISA
