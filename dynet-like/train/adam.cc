#include "dynet-like/train/adam.h"

#include <algorithm>
#include <cmath>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

enum : unsigned { kBeta1, kBeta2, kStep, kEpsilon, kKeep };  // constants of an update

template <bool kMaximum>
void apply(const TrainerSlice& s) {
  const float b1 = s.c[kBeta1], b2 = s.c[kBeta2], step = s.c[kStep], eps = s.c[kEpsilon];
  const float keep = s.c[kKeep], a1 = 1.0f - b1, a2 = 1.0f - b2;
  each_value<kMaximum ? 3 : 2>(s, [=](float w, float g, float* a) {
    a[0] = b1 * a[0] + a1 * g;
    a[1] = b2 * a[1] + a2 * (g * g);
    float v = a[1];
    if constexpr (kMaximum) v = a[2] = std::max(a[2], v);
    return keep * w - step * a[0] / (std::sqrt(v) + eps);
  });
}

// Without a first moment values only decay.
std::size_t rest(const TrainerSlice& s, const MissedUpdate* missed, std::size_t n) {
  if (!all_zero(s.state[0], s.n)) return 0;
  double keep = 1;
  for (std::size_t k = 0; k < n; ++k) keep *= static_cast<double>(missed[k].constants[kKeep]);
  scale_values(s.w, s.n, keep);
  const double b2 = missed[0].constants[kBeta2];
  scale_values(s.state[1], s.n, std::pow(b2, static_cast<double>(n)));
  return n;
}

constexpr TrainerRule kAdam{.arrays = 2, .apply = apply<false>, .rest = rest};
constexpr TrainerRule kAmsgrad{.arrays = 3, .apply = apply<true>, .rest = rest};

}  // namespace

AdamTrainer::AdamTrainer(const ParameterCollection& pc, real lr, real beta_1, real beta_2, real eps,
                         const TrainerRule& rule, const char* name)
    : Trainer(pc, lr, rule), beta_1_(beta_1), beta_2_(beta_2), epsilon_(eps) {
  if (!(beta_1 >= 0 && beta_1 < 1 && beta_2 >= 0 && beta_2 < 1 && eps > 0))
    throw ArgumentError(name + std::string(": needs 0 <= beta_1, beta_2 < 1 and eps > 0, got ") +
                        std::to_string(beta_1) + ", " + std::to_string(beta_2) + " and " +
                        std::to_string(eps));
}

AdamTrainer::AdamTrainer(const ParameterCollection& pc, real lr, real beta_1, real beta_2, real eps)
    : AdamTrainer(pc, lr, beta_1, beta_2, eps, kAdam, "AdamTrainer") {}

void AdamTrainer::begin_update(std::uint64_t step, TrainerConstants& c) {
  const double t = static_cast<double>(step);
  const double b1 = beta_1_, b2 = beta_2_;
  const auto rate = static_cast<float>(static_cast<double>(learning_rate) *
                                       std::sqrt(1.0 - std::pow(b2, t)) / (1.0 - std::pow(b1, t)));
  c = {beta_1_, beta_2_, rate, epsilon_, 1.0f};
}

std::vector<Trainer::Field> AdamTrainer::fields() {
  return with(Trainer::fields(),
              {{"beta_1", &beta_1_}, {"beta_2", &beta_2_}, {"epsilon", &epsilon_}});
}

AmsgradTrainer::AmsgradTrainer(const ParameterCollection& pc, real lr, real beta_1, real beta_2,
                               real eps)
    : AdamTrainer(pc, lr, beta_1, beta_2, eps, kAmsgrad, "AmsgradTrainer") {}

AdamWTrainer::AdamWTrainer(const ParameterCollection& pc, real lr, real beta_1, real beta_2,
                           real eps, real weight_decay)
    : AdamTrainer(pc, lr, beta_1, beta_2, eps, kAdam, "AdamWTrainer"), weight_decay_(weight_decay) {
  if (!(weight_decay >= 0))
    throw ArgumentError("AdamWTrainer: the weight decay must not be negative, got " +
                        std::to_string(weight_decay));
}

void AdamWTrainer::begin_update(std::uint64_t step, TrainerConstants& c) {
  AdamTrainer::begin_update(step, c);
  c[kKeep] = 1.0f - learning_rate * weight_decay_;
}

std::vector<Trainer::Field> AdamWTrainer::fields() {
  return with(AdamTrainer::fields(), {{"weight_decay", &weight_decay_}});
}

}  // namespace dynet
