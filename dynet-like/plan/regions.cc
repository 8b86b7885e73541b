#include "dynet-like/plan/regions.h"

#include <algorithm>
#include <numeric>

namespace dynet {
namespace {

// Nanoseconds, about.
constexpr double kWorthSharing = 4000, kWorthCutting = 4000;
// The share of one thread from which on the others are not worth waking.
constexpr double kUneven = 0.8;

}  // namespace

void RegionFinder::find(const GraphStore& graph, const Plan& plan, unsigned threads,
                        Regions& found) {
  graph_ = &graph;
  plan_ = &plan;
  found_ = &found;
  threads_ = std::min(threads, kMostThreads);
  found.all.clear();
  found.owner.clear();
  found.owner.resize(plan.order.size(), 0);
  node_owner_.resize_uninitialized(plan.end);
  mark_.resize(plan.end, 0);

  open(0);
  const auto steps = static_cast<std::uint32_t>(plan.steps.size());
  for (std::uint32_t s = 0; s < steps; ++s) {
    const Step& step = plan.steps[s];
    const bool wide = cost_of(step) * step.count > kWorthCutting;
    if ((wide && s > region_.first && uneven()) || !bind(step)) {
      close(s);
      open(s);
      if (!bind(step)) {
        region_.backward = false;
        bind(step);
      }
    }
    add(step);
  }
  close(steps);
}

NodeId RegionFinder::operand(NodeId id, std::uint32_t k) const {
  return graph_->args[plan_->first_arg[id - plan_->begin] + k];
}

// About how many nanoseconds a node of a step takes: to tell what is worth sharing out, nothing
// more.
double RegionFinder::cost_of(const Step& step) const {
  constexpr double kCall = 10, kElement = 0.3, kFlop = 1 / 150.0;
  const NodeId first = ids_of(step)[0];
  const Node& node = graph_->nodes[first];
  if (node.form->kind != Kind::compute) return 0;
  const BatchRule& rule = node.form->batch.value;
  double cost = kCall + kElement * static_cast<double>(node.dim.size());
  if (rule.has_products())
    for (auto k = static_cast<std::uint32_t>(rule.first_pair); k + 1 < node.arity; k += 2)
      if (step.terms.has(rule.term_of(k)))
        cost += 2 * kFlop * static_cast<double>(graph_->nodes[operand(first, k)].dim.cols()) *
                static_cast<double>(node.dim.size());
  return cost;
}

bool RegionFinder::uneven() const {
  const double sum = std::accumulate(load_.begin(), load_.end(), 0.0);
  return *std::max_element(load_.begin(), load_.end()) > kUneven * sum;
}

void RegionFinder::open(std::uint32_t step) {
  region_ = {step, step, false, true, threads_};
  load_.assign(threads_, 0.0);
  touched_ = ++last_mark_;
  inside_ = ++last_mark_;
}

void RegionFinder::close(std::uint32_t step) {
  if (step == region_.first) return;
  region_.end = step;
  region_.shared_out =
      std::accumulate(load_.begin(), load_.end(), 0.0) > kWorthSharing && !uneven();
  found_->all.push_back(region_);
}

// Whose the nodes of a step must be; false if one would be of two.
bool RegionFinder::bind(const Step& step) {
  owners_.clear();
  for (std::uint32_t i = 0; i < step.count; ++i) {
    const unsigned owner = owner_of_operands(step, ids_of(step)[i]);
    if (owner == kConflict) return false;
    owners_.push_back(owner);
  }
  return true;
}

unsigned RegionFinder::owner_of_operands(const Step& step, NodeId id) const {
  const Node& node = graph_->nodes[id];
  const BatchRule& rule = node.form->batch.value;
  unsigned owner = kFree;
  const auto meet = [&](NodeId a) {
    if (mark_[a] != inside_ && (mark_[a] != touched_ || !region_.backward)) return;
    if (node_owner_[a] == kProducts) return;  // add_operands sees it
    owner = owner == kFree || owner == node_owner_[a] ? node_owner_[a] : kConflict;
  };
  if (step.accumulates) meet(id);
  for (std::uint32_t k = 0; k < node.arity && owner != kConflict; ++k) {
    if (!step.computes(rule, k)) continue;
    const NodeId a = operand(id, k);
    if (!rule.shares(k))
      meet(a);
    else if (mark_[a] == inside_)
      owner = kConflict;
  }
  return owner;
}

void RegionFinder::add(const Step& step) {
  const NodeId* ids = ids_of(step);
  const Node& node = graph_->nodes[ids[0]];
  if (node.form->kind == Kind::parameter || node.form->kind == Kind::lookup) return;
  const double cost = cost_of(step);
  std::uint32_t left = 0;
  for (const unsigned owner : owners_) {
    if (owner == kFree)
      ++left;
    else
      load_[owner] += cost;
  }
  const double all = std::accumulate(load_.begin(), load_.end(), 0.0);
  const double even = (all + cost * left) / threads_;
  add_shared_operands(step, node);
  unsigned t = 0;
  for (std::uint32_t i = 0; i < step.count; ++i) {
    unsigned owner = owners_[i];
    if (owner == kFree) {
      while (t + 1 < threads_ && load_[t] + cost / 2 > even) ++t;
      owner = t;
      load_[t] += cost;
    }
    const auto number = static_cast<std::uint8_t>(owner);
    found_->owner[step.first + i] = node_owner_[ids[i]] = number;
    mark_[ids[i]] = inside_;
    add_operands(step, ids[i], number);
  }
}

// What products share gets its gradient after all others of the region, if not in turn.
void RegionFinder::add_shared_operands(const Step& step, const Node& node) {
  const BatchRule& rule = node.form->batch.value;
  for (std::uint32_t k = 0; k < node.arity; ++k) {
    const NodeId a = operand(ids_of(step)[0], k);
    if (!rule.shares(k) || !graph_->nodes[a].needs_gradient() ||
        graph_->nodes[a].form->kind == Kind::parameter || !step.computes(rule, k))
      continue;
    if (mark_[a] == touched_ && node_owner_[a] != kProducts) region_.backward = false;
    node_owner_[a] = kProducts;
    mark_[a] = touched_;
  }
}

void RegionFinder::add_operands(const Step& step, NodeId id, std::uint8_t owner) {
  const Node& node = graph_->nodes[id];
  const BatchRule& rule = node.form->batch.value;
  for (std::uint32_t k = 0; k < node.arity; ++k) {
    const NodeId a = operand(id, k);
    if (rule.shares(k) || mark_[a] == inside_ || !graph_->nodes[a].needs_gradient() ||
        !step.computes(rule, k))
      continue;
    // Gradients of parameters are the business of the thread that runs the graph.
    if ((mark_[a] == touched_ && node_owner_[a] != owner) ||
        graph_->nodes[a].form->kind == Kind::parameter)
      region_.backward = false;
    node_owner_[a] = owner;
    mark_[a] = touched_;
  }
}

}  // namespace dynet
