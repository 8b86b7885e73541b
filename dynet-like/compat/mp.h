#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <sstream>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/compat/initialize.h"
#include "dynet-like/compat/print.h"
#include "dynet-like/train/trainer.h"

// Training over a list of samples. DyNet forks processes that share the parameters; here the loop
// runs in this process, for any number of children, so that every update counts and results are
// reproducible. Workers runs the samples of an update on several threads, DistributedTrainer on
// several processes.

namespace dynet::mp {

/// Interface of the user's learner. S is a loss: default-constructible, with +=, < and << to a
/// stream, which may take non-constant operands.
template <class D, class S>
class ILearner {
 public:
  virtual ~ILearner() = default;
  /// The loss of a sample; with `learn` also adds its gradients, by backward.
  virtual S LearnFromDatum(const D& datum, bool learn) = 0;
  /// Called after each evaluation with the lowest loss of the development set so far.
  virtual void SaveModel() = 0;
};

namespace detail {

inline void need_positive(const char* who, unsigned n) {
  if (n == 0) throw ArgumentError(std::string(who) + ": batches and frequencies must not be 0");
}

inline std::vector<std::size_t> shuffled(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), *rndeng);
  return order;
}

template <class S>
void report(const char* what, S& loss, std::size_t samples) {
  std::ostringstream text;
  text << what << ": " << loss << " (" << samples << " samples)\n";
  print_to_standard_error(text.str());
}

}  // namespace detail

/// The total loss over `data`; updates once at the end if there is a trainer.
template <class D, class S>
S run_sp_minibatch_trainer(ILearner<D, S>* learner, Trainer* trainer, const std::vector<D>& data) {
  S total{};
  for (const D& datum : data) {
    S loss = learner->LearnFromDatum(datum, trainer != nullptr);
    total += loss;
  }
  if (trainer) trainer->update();
  return total;
}
template <class D, class S>
S run_mp_minibatch(unsigned, ILearner<D, S>* learner, const std::vector<D>& data) {
  return run_sp_minibatch_trainer<D, S>(learner, nullptr, data);
}
template <class D, class S>
S run_mp_minibatch_trainer(unsigned, ILearner<D, S>* learner, Trainer* trainer,
                           const std::vector<D>& data) {
  return run_sp_minibatch_trainer<D, S>(learner, trainer, data);
}

/// Trains for `num_iterations` epochs over the samples in random order, with an update for each
/// `batch_size` samples. Reports the training loss every `report_frequency` samples, and the loss
/// of the development set every `dev_frequency` samples and at the end of each epoch. Throws
/// ArgumentError if a frequency or the batch size is zero.
template <class D, class S>
void run_single_process(ILearner<D, S>* learner, Trainer* trainer, const std::vector<D>& train_data,
                        const std::vector<D>& dev_data, unsigned num_iterations,
                        unsigned dev_frequency, unsigned report_frequency, unsigned batch_size) {
  for (const unsigned n : {dev_frequency, report_frequency, batch_size})
    detail::need_positive("run_single_process", n);
  bool first = true;
  S best{};
  const auto evaluate = [&] {
    S loss{};
    for (const D& datum : dev_data) {
      S one = learner->LearnFromDatum(datum, false);
      loss += one;
    }
    detail::report("dev", loss, dev_data.size());
    if (first || loss < best) {
      best = loss;
      learner->SaveModel();
    }
    first = false;
  };
  for (unsigned iteration = 0; iteration < num_iterations; ++iteration) {
    S loss{};
    std::size_t reported = 0, seen = 0, waiting = 0;
    for (const std::size_t i : detail::shuffled(train_data.size())) {
      S one = learner->LearnFromDatum(train_data[i], true);
      loss += one;
      ++seen;
      if (++waiting == batch_size || seen == train_data.size()) {
        trainer->update();
        waiting = 0;
      }
      if (seen - reported == report_frequency || seen == train_data.size()) {
        detail::report("train", loss, seen - reported);
        loss = S{};
        reported = seen;
      }
      if (seen % dev_frequency == 0 && seen != train_data.size()) evaluate();
    }
    evaluate();
  }
}
/// run_single_process with an update for each sample.
template <class D, class S>
void run_multi_process(unsigned, ILearner<D, S>* learner, Trainer* trainer,
                       const std::vector<D>& train_data, const std::vector<D>& dev_data,
                       unsigned num_iterations, unsigned dev_frequency, unsigned report_frequency) {
  run_single_process(learner, trainer, train_data, dev_data, num_iterations, dev_frequency,
                     report_frequency, 1);
}

}  // namespace dynet::mp
