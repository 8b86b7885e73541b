#include "dynet-like/train/adam.h"

#include <cmath>

#include "dynet-like/base/errors.h"
#include "dynet-like/train/update_kernels.h"
#include "kernels/cuda/update.h"

namespace dynet {
namespace {

using AdamRule = rules::Adam<false>;
using AmsgradRule = rules::Adam<true>;

constexpr TrainerRule kAdam = rule_of<AdamRule>(&cuda::kUpdateAdam);
constexpr TrainerRule kAmsgrad = rule_of<AmsgradRule>(&cuda::kUpdateAmsgrad);

}  // namespace

AdamTrainer::AdamTrainer(const ParameterCollection& pc, real lr, real beta_1, real beta_2, real eps,
                         const TrainerRule& rule, const char* name)
    : Trainer(pc, lr, rule), beta_1_(beta_1), beta_2_(beta_2), epsilon_(eps) {
  need_fraction(name, "beta_1", beta_1);
  need_fraction(name, "beta_2", beta_2);
  need_positive(name, "eps", eps);
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
  if (!(weight_decay >= 0 && std::isfinite(weight_decay)))
    throw ArgumentError("AdamWTrainer: weight_decay must be finite and not negative, got " +
                        std::to_string(weight_decay));
}

void AdamWTrainer::begin_update(std::uint64_t step, TrainerConstants& c) {
  AdamTrainer::begin_update(step, c);
  c[AdamRule::kDecayFactor] = 1.0f - learning_rate * weight_decay_;
}

std::vector<Trainer::Field> AdamWTrainer::fields() {
  return with(AdamTrainer::fields(), {{"weight_decay", &weight_decay_}});
}

}  // namespace dynet
