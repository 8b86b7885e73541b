#include "dynet-like/train/adaptive.h"

#include "dynet-like/train/update_kernels.h"
#include "kernels/cuda/update.h"

namespace dynet {
namespace {

constexpr TrainerRule kAdagrad = rule_of<rules::Adagrad>(&cuda::kUpdateAdagrad);
constexpr TrainerRule kAdadelta = rule_of<rules::Adadelta>(&cuda::kUpdateAdadelta);
constexpr TrainerRule kRMSProp = rule_of<rules::RMSProp>(&cuda::kUpdateRMSProp);

}  // namespace

AdagradTrainer::AdagradTrainer(const ParameterCollection& pc, real lr, real eps)
    : Trainer(pc, lr, kAdagrad), epsilon_(eps) {
  need_positive("AdagradTrainer", "eps", eps);
}

void AdagradTrainer::begin_update(std::uint64_t, TrainerConstants& c) {
  c = {learning_rate, epsilon_};
}

std::vector<Trainer::Field> AdagradTrainer::fields() {
  return with(Trainer::fields(), {{"epsilon", &epsilon_}});
}

AdadeltaTrainer::AdadeltaTrainer(const ParameterCollection& pc, real eps, real rho)
    : Trainer(pc, 1.0f, kAdadelta), epsilon_(eps), rho_(rho) {
  need_positive("AdadeltaTrainer", "eps", eps);
  need_fraction("AdadeltaTrainer", "rho", rho);
}

void AdadeltaTrainer::begin_update(std::uint64_t, TrainerConstants& c) {
  c = {learning_rate, epsilon_, rho_};
}

std::vector<Trainer::Field> AdadeltaTrainer::fields() {
  return with(Trainer::fields(), {{"epsilon", &epsilon_}, {"rho", &rho_}});
}

RMSPropTrainer::RMSPropTrainer(const ParameterCollection& pc, real lr, real eps, real rho)
    : Trainer(pc, lr, kRMSProp), epsilon_(eps), rho_(rho) {
  need_positive("RMSPropTrainer", "eps", eps);
  need_fraction("RMSPropTrainer", "rho", rho);
}

void RMSPropTrainer::begin_update(std::uint64_t, TrainerConstants& c) {
  c = {learning_rate, epsilon_, rho_};
}

std::vector<Trainer::Field> RMSPropTrainer::fields() {
  return with(Trainer::fields(), {{"epsilon", &epsilon_}, {"rho", &rho_}});
}

}  // namespace dynet
