// A custom trainer: Lion (Chen et al. 2023), which steps by the sign of its momentum.
//
//   w <- w - rate sign(beta_1 m + (1 - beta_1) g)
//   m <- beta_2 m + (1 - beta_2) g
//
// A trainer is a rule: a record with the number of state values per parameter value, and a function
// that applies one update to contiguous memory. The base class does everything else: merging
// gradients of several threads, clipping, weight decay, lookup tables with few used rows,
// schedules, moving averages, saving and resuming. The class adds its settings, once as the
// constants of an update and once as fields that are saved.
//
// The library's own trainers have the same form, see dynet-like/train/adam.cc. `device` states that
// there is no CUDA kernel for this rule, so a model on a GPU is updated on the host.
#include <iostream>

#include "dynet-like/dynet.h"
#include "dynet-like/train/update_loops.h"

using namespace dynet;

namespace {

struct LionStep {
  float rate, beta_1, beta_2;  // constants of an update, see begin_update

  // Updates one value with its gradient and state; returns the new value.
  float operator()(float w, float g, float* m) const {
    const float direction = beta_1 * m[0] + (1 - beta_1) * g;
    m[0] = beta_2 * m[0] + (1 - beta_2) * g;
    return w - rate * static_cast<float>((direction > 0) - (direction < 0));
  }
};

constexpr TrainerRule kLion{.arrays = 1,
                            .apply =
                                [](const TrainerSlice& s) {
                                  each_value<1>(s, LionStep{s.c[0], s.c[1], s.c[2]});
                                },
                            .device = DeviceRule::never("this program has no CUDA kernels")};

class LionTrainer : public Trainer {
 public:
  explicit LionTrainer(const ParameterCollection& pc, real lr = 1e-3f, real beta_1 = 0.9f,
                       real beta_2 = 0.99f)
      : Trainer(pc, lr, kLion), beta_1_(beta_1), beta_2_(beta_2) {
    need_fraction("LionTrainer", "beta_1", beta_1);
    need_fraction("LionTrainer", "beta_2", beta_2);
  }
  const char* kind() const override { return "LionTrainer"; }

 protected:
  void begin_update(std::uint64_t, TrainerConstants& c) override {
    c = {learning_rate, beta_1_, beta_2_};
  }
  std::vector<Field> fields() override {
    return with(Trainer::fields(), {{"beta_1", &beta_1_}, {"beta_2", &beta_2_}});
  }

 private:
  real beta_1_, beta_2_;
};

}  // namespace

int main() {
  constexpr float kBound = 0.01f;  // bound of the loss of the last update

  ParameterCollection model;
  Parameter W = model.add_parameters({8, 2}), b = model.add_parameters({8});
  Parameter V = model.add_parameters({1, 8}), a = model.add_parameters({1});
  LionTrainer trainer(model, 0.01f);
  trainer.set_schedule(LearningRateSchedule::cosine(0.01f, 1000));

  float loss = 0;
  for (int step = 0; step < 1000; ++step) {
    ComputationGraph cg;
    Expression x = input(cg, Dim({2}, 4), {-1, -1, -1, 1, 1, -1, 1, 1});
    Expression y = input(cg, Dim({1}, 4), {-1, 1, 1, -1});
    Expression hidden = tanh(affine_transform({parameter(cg, b), parameter(cg, W), x}));
    Expression output = affine_transform({parameter(cg, a), parameter(cg, V), hidden});
    Expression error = mean_batches(squared_distance(output, y));
    loss = as_scalar(cg.forward(error));
    cg.backward(error);
    trainer.update();
  }

  std::cout << trainer.kind() << ' ' << trainer.status() << " loss " << loss << '\n';
  if (loss < kBound) return 0;
  std::cerr << "The loss is " << loss << ", which should be below " << kBound << ".\n";
  return 1;
}
