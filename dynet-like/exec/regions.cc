// How several threads share out one graph.
#include <algorithm>

#include "dynet-like/exec/executor.h"
#include "dynet-like/exec/kernel.h"

namespace dynet {
namespace {

// About how many nanoseconds a node takes: to tell what is worth sharing out, nothing more.
double cost_of(const GraphStore& graph, const Node& node, const NodeId* args, std::size_t count,
               const Step& step) {
  constexpr double kCall = 10, kElement = 0.3, kFlop = 1 / 150.0;
  if (node.form->kind != Kind::compute) return 0;
  const BatchRule& rule = node.form->batch.value;
  double cost = kCall + kElement * static_cast<double>(node.dim.size());
  if (rule.has_products())
    for (std::size_t k = rule.first_pair; k + 1 < node.arity; k += 2)
      if (step.terms.has(rule.term_of(k)))
        cost += 2 * kFlop * static_cast<double>(graph.nodes[args[k * count]].dim.cols()) *
                static_cast<double>(node.dim.size());
  return cost;
}

constexpr double kWorthSharing = 4000, kWorthCutting = 4000, kUneven = 0.8;

}  // namespace

// Steps are added to a region as long as no node has operands of two owners. Nodes that depend on
// nothing in the region are given to the least-loaded thread. Operands from before the region
// are bound to the first thread that would write their gradient.
template <class T>
void Executor<T>::find_regions(std::uint32_t first_step) {
  const unsigned threads = std::min(workers_->threads(), 255u);
  if (scratch_.size() < threads) scratch_.resize(threads);
  const std::size_t nodes = value_.size(), known = mark_.size();
  owner_.resize_uninitialized(order_.size());
  node_owner_.resize_uninitialized(nodes);
  mark_.resize_uninitialized(nodes);
  for (std::size_t i = known; i < nodes; ++i) mark_[i] = 0;

  std::vector<double> load(threads);
  Region region{first_step, first_step, false, true, threads};
  std::uint32_t inside = 0, touched = 0;
  const auto open = [&](std::uint32_t step) {
    region = {step, step, false, true, threads};
    std::fill(load.begin(), load.end(), 0.0);
    touched = ++region_;
    inside = ++region_;
  };
  const auto uneven = [&] {
    double sum = 0;
    for (const double l : load) sum += l;
    return *std::max_element(load.begin(), load.end()) > kUneven * sum;
  };
  const auto close = [&](std::uint32_t step) {
    if (step == region.first) return;
    region.end = step;
    double sum = 0;
    for (const double l : load) sum += l;
    region.shared_out = sum > kWorthSharing && !uneven();
    regions_.push_back(region);
  };

  constexpr unsigned kFree = kEverybody, kConflict = kEverybody - 1;
  constexpr std::uint8_t kProducts = 255;  // no thread's number
  PodVector<unsigned> owners;
  // Whose the nodes of a step must be; false if one would be of two.
  const auto bind = [&](const Ran& ran) {
    const Step& step = ran.step;
    const NodeId* ids = order_.data() + step.first;
    const BatchRule& rule = graph_.nodes[ids[0]].form->batch.value;
    owners.clear();
    for (std::uint32_t i = 0; i < step.count; ++i) {
      unsigned owner = kFree;
      const auto meet = [&](NodeId a) {
        if (mark_[a] != inside && (mark_[a] != touched || !region.backward)) return;
        if (node_owner_[a] == kProducts) return;  // add() sees it
        owner = owner == kFree || owner == node_owner_[a] ? node_owner_[a] : kConflict;
      };
      if (step.accumulates) meet(ids[i]);
      for (std::uint32_t k = 0; k < ran.arity && owner != kConflict; ++k) {
        if (!step.terms.all() && !step.terms.has(rule.term_of(k))) continue;
        const NodeId a = ran.args[k * step.count + i];
        if (!rule.shares(k))
          meet(a);
        else if (mark_[a] == inside)
          owner = kConflict;
      }
      if (owner == kConflict) return false;
      owners.push_back(owner);
    }
    return true;
  };
  const auto add = [&](const Ran& ran) {
    const Step& step = ran.step;
    const NodeId* ids = order_.data() + step.first;
    const Node& node = graph_.nodes[ids[0]];
    const BatchRule& rule = node.form->batch.value;
    if (node.form->kind == Kind::parameter || node.form->kind == Kind::lookup) return;
    const double cost = cost_of(graph_, node, ran.args, step.count, step);
    double all = 0;
    std::uint32_t left = 0;
    for (const unsigned o : owners)
      o == kFree ? static_cast<void>(++left) : static_cast<void>(load[o] += cost);
    for (const double l : load) all += l;
    const double even = (all + cost * left) / threads;
    // What products share gets their gradient behind all others of the region, if not in turn.
    for (std::uint32_t k = 0; k < ran.arity; ++k) {
      const NodeId a = ran.args[k * step.count];
      if (!rule.shares(k) || !graph_.nodes[a].needs_gradient() ||
          graph_.nodes[a].form->kind == Kind::parameter ||
          (!step.terms.all() && !step.terms.has(rule.term_of(k))))
        continue;
      if (mark_[a] == touched && node_owner_[a] != kProducts) region.backward = false;
      node_owner_[a] = kProducts;
      mark_[a] = touched;
    }
    unsigned t = 0;
    for (std::uint32_t i = 0; i < step.count; ++i) {
      unsigned owner = owners[i];
      if (owner == kFree) {
        while (t + 1 < threads && load[t] + cost / 2 > even) ++t;
        owner = t;
        load[t] += cost;
      }
      owner_[step.first + i] = node_owner_[ids[i]] = static_cast<std::uint8_t>(owner);
      mark_[ids[i]] = inside;
      for (std::uint32_t k = 0; k < ran.arity; ++k) {
        const NodeId a = ran.args[k * step.count + i];
        if (rule.shares(k) || mark_[a] == inside || !graph_.nodes[a].needs_gradient() ||
            (!step.terms.all() && !step.terms.has(rule.term_of(k))))
          continue;
        // Gradients of parameters are the business of the thread that runs the graph.
        if ((mark_[a] == touched && node_owner_[a] != owner) ||
            graph_.nodes[a].form->kind == Kind::parameter)
          region.backward = false;
        node_owner_[a] = static_cast<std::uint8_t>(owner);
        mark_[a] = touched;
      }
    }
  };

  open(first_step);
  const auto end = static_cast<std::uint32_t>(steps_.size());
  for (std::uint32_t s = first_step; s < end; ++s) {
    const Ran& ran = steps_[s];
    const Node& node = graph_.nodes[order_[ran.step.first]];
    const bool wide =
        cost_of(graph_, node, ran.args, ran.step.count, ran.step) * ran.step.count > kWorthCutting;
    if ((wide && s > region.first && uneven()) || !bind(ran)) {
      close(s);
      open(s);
      if (!bind(ran)) {
        region.backward = false;
        bind(ran);
      }
    }
    add(ran);
  }
  close(end);
}

template <class T>
void Executor<T>::run_regions(std::size_t first_region) {
  for (std::size_t r = first_region; r < regions_.size(); ++r) {
    const Region region = regions_[r];
    if (!region.shared_out) {
      for (std::uint32_t s = region.first; s < region.end; ++s)
        run_step(steps_[s], order_.data() + steps_[s].step.first);
      continue;
    }
    workers_->run(region.owners, [&](unsigned owner) {
      for (std::uint32_t s = region.first; s < region.end; ++s) run_share(steps_[s], owner);
    });
  }
}

// The nodes of one owner.
template <class T>
void Executor<T>::run_share(const Ran& ran, unsigned owner) {
  const NodeId* ids = order_.data() + ran.step.first;
  const std::size_t all = ran.step.count;
  const OpForm& form = *graph_.nodes[ids[0]].form;
  if (form.kind != Kind::compute) return;
  std::size_t count = 0;
  for (std::size_t i = 0; i < all; ++i) count += owner_[ran.step.first + i] == owner;
  if (count == 0) return;
  if (count == all) return run_step(ran, ids);
  Scratch& scratch = scratch_[owner];
  const std::size_t rows = ran.arity + std::size_t{2};  // of ran.outs, and what follows it
  scratch.handed.resize_uninitialized(rows * count);
  scratch.live.clear();
  for (std::size_t i = 0, to = 0; i < all; ++i) {
    if (owner_[ran.step.first + i] != owner) continue;
    scratch.live.push_back(ids[i]);
    for (std::size_t row = 0; row < rows; ++row)
      scratch.handed[row * count + to] = ran.outs[row * all + i];
    ++to;
  }
  T** outs = scratch.handed.data();
  kernel<T>(form.forward.value)(Batch<T>{graph_, scratch.live.data(), count, ran.arity, outs,
                                         outs + 2 * count, outs + count, run_number_,
                                         ran.step.terms, ran.step.accumulates});
  if (check_) [[unlikely]]
    for (const NodeId id : scratch.live) check_forward(id);
}

#define DYNET_INSTANTIATE(T)                              \
  template void Executor<T>::find_regions(std::uint32_t); \
  template void Executor<T>::run_regions(std::size_t);    \
  template void Executor<T>::run_share(const Ran&, unsigned);
DYNET_INSTANTIATE(float)
DYNET_INSTANTIATE(double)
#undef DYNET_INSTANTIATE

}  // namespace dynet
