#include "examples/nlp/common/sample_training.h"

#include <algorithm>
#include <numeric>

namespace nlp {

std::vector<std::size_t> SampleTraining::begin_epoch(unsigned epoch) {
  order_.resize(sizes_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  Random(derived_seed(settings_.seed, kOrder, epoch)).shuffle(order_);
  std::vector<std::size_t> sizes((order_.size() + settings_.batch - 1) / settings_.batch, 0);
  for (std::size_t i = 0; i < order_.size(); ++i) sizes[i / settings_.batch] += sizes_[order_[i]];
  return sizes;
}

double SampleTraining::update(unsigned epoch, std::size_t number, double epochs_done) {
  const std::size_t begin = number * settings_.batch;
  const std::size_t end = std::min(order_.size(), begin + settings_.batch);
  graph_.clear();
  graph_.set_seed(derived_seed(derived_seed(settings_.seed, kDropout), epoch, begin));
  begin_graph(graph_);
  losses_.clear();
  for (std::size_t i = begin; i < end; ++i) {
    Random random(derived_seed(derived_seed(settings_.seed, kDraws), epoch, i));
    losses_.push_back(loss(graph_, order_[i], random));
  }
  const dynet::Expression total = settings_.average ? average(losses_) : sum(losses_);
  const double value = static_cast<double>(as_scalar(graph_.forward(total)));
  require_finite(value);
  graph_.backward(total);
  trainer_.learning_rate = decayed_rate(settings_.learning_rate, settings_.decay, epochs_done);
  trainer_.update();
  return settings_.average ? value * static_cast<double>(end - begin) : value;
}

}  // namespace nlp
