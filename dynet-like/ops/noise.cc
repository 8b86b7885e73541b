#include "dynet-like/ops/noise.h"

#include <cmath>
#include <cstdio>

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/noise.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

std::string text(double x) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", x);
  return digits;
}
// `rule` builds the error text, only if the rule is broken.
template <class Rule>
void require(bool holds, Rule rule) {
  if (!holds) throw RuleBroken{RuleBroken::Kind::argument, rule()};
}
void need_probability(double p) {
  require(p >= 0 && p < 1,
          [&] { return "the probability must be at least 0 and below 1, got " + text(p); });
}
void need_deviation(double stddev) {
  require(stddev >= 0 && std::isfinite(stddev), [&] {
    return "the standard deviation must be finite and not negative, got " + text(stddev);
  });
}

const OpForm kDropout = {.name = "dropout",
                         .shape =
                             [](const Operands& x) {
                               need_probability(x.as<DropoutAttr>().p);
                               return x[0];
                             },
                         .batch = BatchRule::each(offsetof(DropoutAttr, key)),
                         .reads = Reads::nothing,
                         .aux = no_aux,
                         .forward = DYNET_FORWARD(cpu::dropout_forward),
                         .backward = DYNET_BACKWARD(cpu::dropout_backward),
                         .cuda = CudaRule::by(&cuda::kDropout)};

constexpr OpForm shared_dropout(const char* name) {
  return {.name = name,
          .shape =
              [](const Operands& x) {
                const auto& a = x.as<SharedDropoutAttr>();
                need_probability(a.p);
                return a.dimension == SharedDropoutAttr::kAllDimensions
                           ? x[0]
                           : shape::along(x[0], static_cast<unsigned>(a.dimension));
              },
          .batch = BatchRule::each(offsetof(SharedDropoutAttr, key)),
          .reads = Reads::nothing,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::shared_dropout_forward),
          .backward = DYNET_BACKWARD(cpu::shared_dropout_backward),
          .cuda = CudaRule::by(&cuda::kSharedDropout)};
}
const OpForm kDropoutDim = shared_dropout("dropout_dim");
const OpForm kDropoutBatch = shared_dropout("dropout_batch");
const OpForm kBlockDropout = shared_dropout("block_dropout");

const OpForm kNoise = {.name = "noise",
                       .shape =
                           [](const Operands& x) {
                             need_deviation(x.as<NoiseAttr>().stddev);
                             return x[0];
                           },
                       .batch = BatchRule::each(offsetof(NoiseAttr, key)),
                       .reads = Reads::nothing,
                       .aux = no_aux,
                       .forward = DYNET_FORWARD(cpu::noise_forward),
                       .backward = DYNET_BACKWARD(cpu::noise_backward),
                       .cuda = CudaRule::by(&cuda::kNoise)};

constexpr OpForm random(const char* name, Dim (*rule)(const Operands&), Forward forward,
                        const cuda::Kernels* on_cuda) {
  return {.name = name,
          .shape = rule,
          .batch = BatchRule::each(offsetof(RandomAttr, key)),
          .reads = Reads::nothing,
          .aux = no_aux,
          .passes_gradient = false,
          .forward = forward,
          .backward = kNoBackward,
          .cuda = CudaRule::by(on_cuda)};
}

Dim normal(const Operands& x) {
  const auto& a = x.as<RandomAttr>();
  require(std::isfinite(a.first), [&] { return "the mean must be finite, got " + text(a.first); });
  need_deviation(a.second);
  return shape::checked(a.dim);
}
Dim bernoulli(const Operands& x) {
  const auto& a = x.as<RandomAttr>();
  require(a.first >= 0 && a.first <= 1,
          [&] { return "the probability must be between 0 and 1, got " + text(a.first); });
  return shape::checked(a.dim);
}
Dim uniform(const Operands& x) {
  const auto& a = x.as<RandomAttr>();
  require(a.first <= a.second && std::isfinite(a.second - a.first),
          [&] { return "[" + text(a.first) + ", " + text(a.second) + ") is not an interval"; });
  return shape::checked(a.dim);
}
Dim gumbel(const Operands& x) {
  const auto& a = x.as<RandomAttr>();
  require(std::isfinite(a.first), [&] { return "mu must be finite, got " + text(a.first); });
  require(a.second >= 0 && std::isfinite(a.second),
          [&] { return "beta must be finite and not negative, got " + text(a.second); });
  return shape::checked(a.dim);
}

const OpForm kRandomNormal = random(
    "random_normal", normal, DYNET_FORWARD(cpu::random_normal_forward), &cuda::kRandomNormal);
const OpForm kRandomBernoulli =
    random("random_bernoulli", bernoulli, DYNET_FORWARD(cpu::random_bernoulli_forward),
           &cuda::kRandomBernoulli);
const OpForm kRandomUniform = random(
    "random_uniform", uniform, DYNET_FORWARD(cpu::random_uniform_forward), &cuda::kRandomUniform);
const OpForm kRandomGumbel = random(
    "random_gumbel", gumbel, DYNET_FORWARD(cpu::random_gumbel_forward), &cuda::kRandomGumbel);

// Adds a random node with the next key of its owner, an operand or a graph. If `add` throws, the
// key is returned for the next node.
template <class Owner, class Add>
Expression add_with_key(Owner& owner, Add add) {
  const std::uint64_t key = next_random_key(owner);
  try {
    return add(key);
  } catch (...) {
    give_back_random_key(owner);
    throw;
  }
}

Expression drop_together(const OpForm& form, const Expression& x, std::uint64_t d, real p,
                         SourceLocation at) {
  return add_with_key(x, [&](std::uint64_t key) {
    return add_node(form, x, SharedDropoutAttr{p, d, key}, at);
  });
}

Expression draw(const OpForm& form, ComputationGraph& g, const Dim& d, double first, double second,
                SourceLocation at, Device* device) {
  return add_with_key(g, [&](std::uint64_t key) {
    return add_node(g, form, RandomAttr{first, second, key, d, 0}, at, device);
  });
}

}  // namespace

OpFamily noise_ops() {
  static constexpr const OpForm* kAll[] = {&kDropout,         &kDropoutDim,    &kDropoutBatch,
                                           &kBlockDropout,    &kNoise,         &kRandomNormal,
                                           &kRandomBernoulli, &kRandomUniform, &kRandomGumbel};
  return kAll;
}

Expression dropout(const Expression& x, real p, SourceLocation at) {
  return add_with_key(x, [&](std::uint64_t key) {
    return add_node(kDropout, x, DropoutAttr{p, key}, at);
  });
}
Expression dropout_dim(const Expression& x, unsigned d, real p, SourceLocation at) {
  return drop_together(kDropoutDim, x, d, p, at);
}
Expression dropout_batch(const Expression& x, real p, SourceLocation at) {
  return drop_together(kDropoutBatch, x, SharedDropoutAttr::kAllDimensions, p, at);
}
Expression block_dropout(const Expression& x, real p, SourceLocation at) {
  return drop_together(kBlockDropout, x, SharedDropoutAttr::kAllDimensions, p, at);
}
Expression noise(const Expression& x, real stddev, SourceLocation at) {
  return add_with_key(x, [&](std::uint64_t key) {
    return add_node(kNoise, x, NoiseAttr{stddev, key}, at);
  });
}
Expression random_normal(ComputationGraph& g, const Dim& d, float mean, float stddev,
                         DeviceArgument device, SourceLocation at) {
  return draw(kRandomNormal, g, d, mean, stddev, at, device.get("random_normal", at));
}
Expression random_bernoulli(ComputationGraph& g, const Dim& d, real p, real scale,
                            DeviceArgument device, SourceLocation at) {
  return draw(kRandomBernoulli, g, d, p, scale, at, device.get("random_bernoulli", at));
}
Expression random_uniform(ComputationGraph& g, const Dim& d, real left, real right,
                          DeviceArgument device, SourceLocation at) {
  return draw(kRandomUniform, g, d, left, right, at, device.get("random_uniform", at));
}
Expression random_gumbel(ComputationGraph& g, const Dim& d, real mu, real beta,
                         DeviceArgument device, SourceLocation at) {
  return draw(kRandomGumbel, g, d, mu, beta, at, device.get("random_gumbel", at));
}

}  // namespace dynet
