#include "dynet-like/train/sgd.h"

#include "dynet-like/train/update_kernels.h"
#include "kernels/cuda/update.h"

namespace dynet {
namespace {

constexpr TrainerRule kSGD = rule_of<rules::SGD>(&cuda::kUpdateSGD);
constexpr TrainerRule kMomentum = rule_of<rules::Momentum>(&cuda::kUpdateMomentum);

}  // namespace

SimpleSGDTrainer::SimpleSGDTrainer(const ParameterCollection& pc, real lr)
    : Trainer(pc, lr, kSGD) {}

CyclicalSGDTrainer::CyclicalSGDTrainer(const ParameterCollection& pc, real learning_rate_min,
                                       real learning_rate_max, real step_size, real gamma, real)
    : SimpleSGDTrainer(pc, learning_rate_min) {
  set_schedule(
      LearningRateSchedule::cyclical(learning_rate_min, learning_rate_max, step_size, gamma));
}

MomentumSGDTrainer::MomentumSGDTrainer(const ParameterCollection& pc, real lr, real mom)
    : Trainer(pc, lr, kMomentum), momentum_(mom) {
  need_fraction("MomentumSGDTrainer", "mom", mom);
}

void MomentumSGDTrainer::begin_update(std::uint64_t, TrainerConstants& c) {
  c = {learning_rate, momentum_};
}

std::vector<Trainer::Field> MomentumSGDTrainer::fields() {
  return with(Trainer::fields(), {{"momentum", &momentum_}});
}

}  // namespace dynet
