#include <memory>

#include "dynet-like/attributes/along.h"
#include "dynet-like/attributes/noise.h"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

// Array of make(i) by node.
template <class T, class Make>
const T* for_nodes(Queue& q, const Batch<float>& b, Make make) {
  T* const all = q.stage<T>(b.count);
  for (std::size_t i = 0; i < b.count; ++i) std::construct_at(all + i, make(i));
  return q.on_device(all);
}

template <class A>
const RandomStream* streams(Queue& q, const Batch<float>& b) {
  return for_nodes<RandomStream>(q, b, [&](std::size_t i) { return stream_of<A>(b, i); });
}
template <class A>
const Coin* coins(Queue& q, const Batch<float>& b, double p) {
  return for_nodes<Coin>(q, b, [&](std::size_t i) { return Coin(stream_of<A>(b, i), p); });
}

/// Same as RandomStream::normal.
__device__ double normal(const RandomStream& stream, std::size_t e) {
  const std::uint64_t bits = stream.bits(e);
  const double v = static_cast<double>(bits & 0xffffffffu) * 0x1p-32;
  return std::sqrt(-2.0 * std::log(open_uniform(bits))) * std::cos(6.283185307179586 * v);
}

// Element e uses draw number (e / size / inner) inner + e % inner.
struct Dropped {
  TensorArray<const float> from;
  const Coin* coins;
  float scale;
  std::size_t inner, size;
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient in = divide(e, inner);
    return coins[i](divide(in.by, size).by * inner + in.rest) ? 0.0f : scale * from[i][e];
  }
};

Dropped dropped(Queue& q, const Batch<float>& b, TensorArray<const float> from) {
  const double p = b.attr<DropoutAttr>().p;
  return {from, coins<DropoutAttr>(q, b, p), static_cast<float>(1.0 / (1.0 - p)), 1, 1};
}

Dropped dropped_together(Queue& q, const Batch<float>& b, TensorArray<const float> from) {
  const auto& a = b.attr<SharedDropoutAttr>();
  const Along x(b.dim(), a.dimension);
  const bool all = a.dimension == SharedDropoutAttr::kAllDimensions;
  return {from, coins<SharedDropoutAttr>(q, b, a.p), static_cast<float>(1.0 / (1.0 - a.p)),
          all ? 1 : x.inner, all ? b.dim().batch_size() : x.size};
}

void dropout_forward(Queue& q, const Batch<float>& b) {
  each_value(q, b, dropped(q, b, q.ins(b, 0)));
}
void dropout_backward(Queue& q, const GradientBatch<float>& b) {
  each_gradient(q, b, 0, dropped(q, b, q.d_outs(b)));
}
void shared_dropout_forward(Queue& q, const Batch<float>& b) {
  each_value(q, b, dropped_together(q, b, q.ins(b, 0)));
}
void shared_dropout_backward(Queue& q, const GradientBatch<float>& b) {
  each_gradient(q, b, 0, dropped_together(q, b, q.d_outs(b)));
}

struct Noise {
  TensorArray<const float> x;
  const RandomStream* streams;
  double stddev;
  __device__ float operator()(std::size_t i, std::size_t e) const {
    return x[i][e] + static_cast<float>(stddev * normal(streams[i], e));
  }
};

void noise_forward(Queue& q, const Batch<float>& b) {
  each_value(q, b, Noise{q.ins(b, 0), streams<NoiseAttr>(q, b), b.attr<NoiseAttr>().stddev});
}

void noise_backward(Queue& q, const GradientBatch<float>& b) { kAlias.backward(q, b); }

// The two parameters of a distribution.
struct Drawn {
  double first, second;
};

struct Normal {
  static __device__ float draw(const RandomStream& s, std::size_t e, const Drawn& a) {
    return static_cast<float>(a.first + a.second * normal(s, e));
  }
};
struct Uniform {
  static __device__ float draw(const RandomStream& s, std::size_t e, const Drawn& a) {
    return static_cast<float>(a.first + (a.second - a.first) * s.uniform(e));
  }
};
struct Gumbel {
  static __device__ float draw(const RandomStream& s, std::size_t e, const Drawn& a) {
    const double u = open_uniform(s.bits(e));
    return static_cast<float>(a.first - a.second * std::log(-std::log(u)));
  }
};

template <class D>
struct Random {
  const RandomStream* streams;
  Drawn drawn;
  __device__ float operator()(std::size_t i, std::size_t e) const {
    return D::draw(streams[i], e, drawn);
  }
};

template <class D>
void random_forward(Queue& q, const Batch<float>& b) {
  const auto& a = b.attr<RandomAttr>();
  each_value(q, b, Random<D>{streams<RandomAttr>(q, b), {a.first, a.second}});
}

struct Bernoulli {
  const Coin* heads;
  float one;
  __device__ float operator()(std::size_t i, std::size_t e) const {
    return heads[i](e) ? one : 0.0f;
  }
};

void random_bernoulli_forward(Queue& q, const Batch<float>& b) {
  const auto& a = b.attr<RandomAttr>();
  each_value(q, b, Bernoulli{coins<RandomAttr>(q, b, a.first), static_cast<float>(a.second)});
}

}  // namespace

const Kernels kDropout = {dropout_forward, dropout_backward};
const Kernels kSharedDropout = {shared_dropout_forward, shared_dropout_backward};
const Kernels kNoise = {noise_forward, noise_backward};
const Kernels kRandomNormal = {random_forward<Normal>, nullptr};
const Kernels kRandomBernoulli = {random_bernoulli_forward, nullptr};
const Kernels kRandomUniform = {random_forward<Uniform>, nullptr};
const Kernels kRandomGumbel = {random_forward<Gumbel>, nullptr};

}  // namespace dynet::cuda
