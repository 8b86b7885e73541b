#include "dynet-like/exec/executor.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/parameter_nodes.h"

namespace dynet {
namespace {

template <class T>
bool finite(const T* v, std::size_t n) {
  return std::all_of(v, v + n, [](T x) { return std::isfinite(x); });
}

template <class T>
auto kernel(const Forward& k) {
  if constexpr (std::is_same_v<T, float>)
    return k.f;
  else
    return k.d;
}
template <class T>
auto kernel(const Backward& k) {
  if constexpr (std::is_same_v<T, float>)
    return k.f;
  else
    return k.d;
}

template <class T>
std::string bad_value(const T* v, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(v[i]))
      return (std::isnan(v[i]) ? std::string("NaN") : std::string("infinity")) + " at element " +
             std::to_string(i);
  return {};
}

}  // namespace

template <class T>
void Executor<T>::forward(NodeId last) {
  if (last < evaluated_) return;
  planner_(graph_, evaluated_, last + 1, plan_);
  run(plan_);
}

template <class T>
void Executor<T>::run(const Plan& plan) {
  const NodeId n = plan.end;
  const Run part{plan.begin, static_cast<std::uint32_t>(steps_.size()),
                 static_cast<std::uint32_t>(order_.size()), values_.mark()};
  T* const base = values_.allocate_array<T>(plan.extent);
  value_.resize_uninitialized(n);
  aux_.resize_uninitialized(n);
  for (NodeId id = plan.begin; id < n; ++id) {
    const std::size_t i = id - plan.begin;
    value_[id] = plan.value[i] == Plan::kNoMemory ? nullptr : base + plan.value[i];
    aux_[id] = plan.aux[i] == Plan::kNoMemory ? nullptr : base + plan.aux[i];
  }
  try {
    for (const Step& s : plan.steps) run_step(s, plan.order.data() + s.first);
  } catch (...) {
    values_.rewind(part.memory);
    throw;
  }

  const auto done = static_cast<std::uint32_t>(order_.size());
  for (const Step& s : plan.steps) steps_.push_back({s.first + done, s.count, s.parts, s.goes_on});
  std::copy_n(plan.order.data(), plan.order.size(), order_.append(plan.order.size()));
  runs_.push_back(part);
  evaluated_ = n;
}

template <class T>
void Executor<T>::run_step(const Step& step, const NodeId* ids) {
  const std::size_t count = step.count;
  const Node& node = graph_.nodes[ids[0]];
  const OpForm& form = *node.form;
  switch (form.kind) {
    case Kind::parameter:
      for (std::size_t i = 0; i < count; ++i)
        value_[ids[i]] =
            parameters_.values(*graph_.attr<ParameterAttr>(graph_.nodes[ids[i]]).parameter);
      break;
    case Kind::lookup:
      for (std::size_t i = 0; i < count; ++i) run_lookup(ids[i]);
      break;
    case Kind::alias:
      for (std::size_t i = 0; i < count; ++i)
        value_[ids[i]] = value_[graph_.args[graph_.nodes[ids[i]].first_arg]];
      break;
    case Kind::compute: {
      const std::size_t arity = node.arity;
      pointers_.resize_uninitialized((arity + 2) * count);
      T** ins = pointers_.data();
      T** outs = ins + arity * count;
      T** auxs = outs + count;
      for (std::size_t i = 0; i < count; ++i) {
        const NodeId* args = graph_.args.data() + graph_.nodes[ids[i]].first_arg;
        for (std::size_t k = 0; k < arity; ++k) ins[k * count + i] = value_[args[k]];
        outs[i] = value_[ids[i]];
        auxs[i] = aux_[ids[i]];
      }
      kernel<T>(form.forward.value)(
          Batch<T>{graph_, ids, count, arity, outs, ins, auxs, epoch_, step.parts, step.goes_on});
      break;
    }
  }
  if (check_) [[unlikely]]
    for (std::size_t i = 0; i < count; ++i) check_forward(ids[i]);
}

template <class T>
void Executor<T>::run_lookup(NodeId id) {
  const Node& n = graph_.nodes[id];
  const auto& attr = graph_.attr<LookupAttr>(n);
  ParameterStorage& table = *attr.table;
  const unsigned* rows =
      read_indices(attr.indices, graph_.payload<LookupAttr, unsigned>(n), "lookup");
  auto* used = reinterpret_cast<std::uint32_t*>(aux_[id]);
  for (std::uint32_t b = 0; b < attr.indices.count; ++b) {
    if (rows[b] >= table.rows)
      throw IndexError("lookup: row " + std::to_string(rows[b]) + " is outside the " +
                           std::to_string(table.rows) + " rows of \"" + table.name + "\"\n  at " +
                           to_string(n.at()),
                       n.at());
    used[b] = rows[b];
  }
  const std::size_t size = table.row_size();
  T* const values = parameters_.values(table);
  if (attr.indices.count == 1) {
    value_[id] = values + rows[0] * size;
    return;
  }
  for (std::uint32_t b = 0; b < attr.indices.count; ++b)
    std::copy_n(values + used[b] * size, size, value_[id] + b * size);
}

template <class T>
void Executor<T>::invalidate() {
  rewind();
  ++epoch_;
}

template <class T>
void Executor<T>::rewind() {
  evaluated_ = 0;
  differentiated_ = 0;
  steps_.clear();
  order_.clear();
  runs_.clear();
  values_.reset();
}

template <class T>
void Executor<T>::truncate(NodeId size) {
  if (size >= evaluated_) return;
  // Plans that lie behind `size` go with their memory; of one that reaches over it, the steps of
  // the nodes that stay are kept.
  while (!runs_.empty() && runs_.back().begin >= size) {
    const Run& r = runs_.back();
    steps_.truncate(r.steps);
    order_.truncate(r.order);
    values_.rewind(r.memory);
    runs_.truncate(runs_.size() - 1);
  }
  if (!runs_.empty()) {
    std::size_t kept_steps = runs_.back().steps;
    std::uint32_t kept = runs_.back().order;
    for (std::size_t k = kept_steps; k < steps_.size(); ++k) {
      const Step s = steps_[k];
      const std::uint32_t first = kept;
      for (std::uint32_t i = s.first; i < s.first + s.count; ++i)
        if (order_[i] < size) order_[kept++] = order_[i];
      if (kept > first) steps_[kept_steps++] = {first, kept - first, s.parts, s.goes_on};
    }
    steps_.truncate(kept_steps);
    order_.truncate(kept);
  }
  evaluated_ = size;
  differentiated_ = std::min(differentiated_, size);
}

template <class T>
void Executor<T>::clear() {
  rewind();
  epoch_ = 0;  // what a seeded graph draws depends on nothing that was in it before
  gradients_.reset();
}

template <class T>
void Executor<T>::release() {
  clear();
  values_.release();
  gradients_.release();
  value_ = {};
  aux_ = {};
  gradient_ = {};
  written_ = {};
  steps_ = {};
  order_ = {};
  plan_ = {};
}

template <class T>
void Executor<T>::backward(NodeId loss, bool full) {
  forward(loss);
  full_ = full;
  differentiated_ = 0;
  gradients_.reset();
  parameters_.begin_backward();
  const NodeId n = loss + 1;
  gradient_.resize_uninitialized(n);
  written_.resize_uninitialized(n);
  last_use_.resize_uninitialized(n);

  // Memory in the order of the steps, so that the gradients of a batch lie side by side too.
  // Parameters and single rows have theirs in a lane.
  constexpr std::size_t kBorder = 16, kNone = ~std::size_t{0};
  std::size_t extent = 0;
  offset_.resize_uninitialized(n);
  for (const Step& s : steps_) {
    if (s.goes_on) continue;
    for (std::uint32_t i = s.first; i < s.first + s.count; ++i) {
      const NodeId id = order_[i];
      if (id >= n) continue;
      const Node& node = graph_.nodes[id];
      const bool parameter = node.form->kind == Kind::parameter ||
                             (node.form->kind == Kind::lookup && node.dim.bd == 1);
      if (node.needs_gradient() ? parameter : !full) {
        offset_[id] = kNone;
        continue;
      }
      const std::size_t size = node.dim.size();
      if (size >= kBorder) extent = (extent + kBorder - 1) / kBorder * kBorder;
      offset_[id] = extent;
      extent += (size + 3) / 4 * 4;
    }
  }
  T* const base = gradients_.allocate_array<T>(extent);
  for (NodeId id = 0; id < n; ++id) {
    gradient_[id] = offset_[id] == kNone ? nullptr : base + offset_[id];
    written_[id] = false;
    last_use_[id] = kNoUse;
  }
  uses_.clear();

  if (!wants_gradient(loss)) {  // a constant loss: nothing to do, every gradient is zero
    differentiated_ = n;
    return;
  }
  const Slot<T> seed = gradient_slot(loss);
  *seed.g = seed.adds ? *seed.g + T(1) : T(1);
  for (std::size_t s = steps_.size(); s-- > 0;) backward_step(static_cast<std::uint32_t>(s));
  differentiated_ = n;
}

template <class T>
Slot<T> Executor<T>::gradient_slot(NodeId id) {
  if (written_[id]) return {gradient_[id], true};
  written_[id] = true;
  if (gradient_[id]) return {gradient_[id], false};
  const Node& n = graph_.nodes[id];
  const Slot<T> slot = n.form->kind == Kind::parameter
                           ? parameters_.use(*graph_.attr<ParameterAttr>(n).parameter)
                           : parameters_.use_row(*graph_.attr<LookupAttr>(n).table,
                                                 *reinterpret_cast<const std::uint32_t*>(aux_[id]));
  gradient_[id] = slot.g;
  return slot;
}

// Those that the loss depends on.
template <class T>
const NodeId* Executor<T>::live_nodes(const Step& step, std::size_t& count) {
  const NodeId* ids = order_.data() + step.first;
  const auto live = [&](NodeId id) { return id < gradient_.size() && written_[id]; };
  count = 0;
  while (count < step.count && live(ids[count])) ++count;
  if (count == step.count) return ids;
  live_.clear();
  for (std::size_t i = 0; i < step.count; ++i)
    if (i < count || live(ids[i])) live_.push_back(ids[i]);
  count = live_.size();
  return live_.data();
}

template <class T>
void Executor<T>::backward_step(std::uint32_t at) {
  const Step step = steps_[at];
  for (std::uint32_t i = step.first; i < step.first + step.count; ++i)
    if (order_[i] < gradient_.size() && last_use_[order_[i]] != kNoUse) backward_later(order_[i]);
  const OpForm& form = *graph_.nodes[order_[step.first]].form;
  if (form.kind == Kind::parameter) return;
  std::size_t count = 0;
  const NodeId* ids = live_nodes(step, count);
  if (count == 0) return;
  const Node& node = graph_.nodes[ids[0]];
  if (form.kind == Kind::lookup) {
    for (std::size_t i = 0; i < count; ++i) scatter_rows(ids[i]);
    return;
  }
  const auto run = kernel<T>(form.backward.value);
  const std::size_t arity = node.arity;
  if (!run || arity == 0) return;

  pointers_.resize_uninitialized((2 * arity + 3) * count);
  adds_.resize_uninitialized(arity * count);
  T** ins = pointers_.data();
  T** d_ins = ins + arity * count;
  T** outs = d_ins + arity * count;
  T** d_outs = outs + count;
  T** auxs = d_outs + count;
  for (std::size_t i = 0; i < count; ++i) {
    outs[i] = value_[ids[i]];
    d_outs[i] = gradient_[ids[i]];
    auxs[i] = aux_[ids[i]];
  }
  // In the order in which the kernel writes: operand by operand, node by node.
  const BatchRule& rule = form.batch.value;
  bool any = false;
  for (std::size_t k = 0; k < arity; ++k) {
    const bool now = step.parts.all() || step.parts.has(rule.part_of(k));
    if (rule.shares(k) || !now) {
      std::fill_n(d_ins + k * count, count, nullptr);
      for (std::size_t i = 0; i < count; ++i)
        ins[k * count + i] = value_[graph_.args[graph_.nodes[ids[i]].first_arg + k]];
      const NodeId shared = graph_.args[node.first_arg + k];
      if (!now || !wants_gradient(shared)) continue;
      uses_.push_back({at, static_cast<std::uint32_t>(k), last_use_[shared]});
      last_use_[shared] = static_cast<std::uint32_t>(uses_.size() - 1);
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const NodeId a = graph_.args[graph_.nodes[ids[i]].first_arg + k];
      const std::size_t to = k * count + i;
      ins[to] = value_[a];
      if (!wants_gradient(a)) {
        d_ins[to] = nullptr;
        continue;
      }
      const Slot<T> slot = gradient_slot(a);
      d_ins[to] = slot.g;
      adds_[to] = slot.adds;
      any = true;
    }
  }
  if (!any) return;
  run(GradientBatch<T>{
      {graph_, ids, count, arity, outs, ins, auxs, epoch_}, d_outs, d_ins, adds_.data()});
  if (check_) [[unlikely]]
    for (std::size_t k = 0; k < arity; ++k)
      for (std::size_t i = 0; i < count; ++i)
        if (d_ins[k * count + i])
          check_backward(ids[i], d_ins[k * count + i],
                         graph_.args[graph_.nodes[ids[i]].first_arg + k]);
}

// The gradient of a node that the products of its users have in common: all uses that are alike at
// once, in the order in which the users ran.
template <class T>
void Executor<T>::backward_later(NodeId shared) {
  const auto alike = [&](NodeId x, NodeId y) {
    const Node &a = graph_.nodes[x], &b = graph_.nodes[y];
    if (a.form != b.form || a.arity != b.arity || a.dim != b.dim) return false;
    for (std::size_t k = 0; k < a.arity; ++k)
      if (graph_.nodes[graph_.args[a.first_arg + k]].dim !=
          graph_.nodes[graph_.args[b.first_arg + k]].dim)
        return false;
    return true;
  };
  together_.clear();
  std::uint32_t operand = 0;
  for (std::uint32_t use = last_use_[shared]; use != kNoUse; use = uses_[use].next) {
    std::size_t count = 0;
    const NodeId* ids = live_nodes(steps_[uses_[use].step], count);
    if (!together_.empty() && (operand != uses_[use].operand || !alike(together_[0], ids[0]))) {
      backward_later(shared, operand, together_.data(), together_.size());
      together_.clear();
    }
    operand = uses_[use].operand;
    std::copy_n(ids, count, together_.append(count));
  }
  backward_later(shared, operand, together_.data(), together_.size());
}

template <class T>
void Executor<T>::backward_later(NodeId shared, std::size_t operand, const NodeId* ids,
                                 std::size_t count) {
  const Node& node = graph_.nodes[ids[0]];
  const std::size_t arity = node.arity;
  pointers_.resize_uninitialized((2 * arity + 3) * count);
  adds_.resize_uninitialized(arity * count);
  T** ins = pointers_.data();
  T** d_ins = ins + arity * count;
  T** outs = d_ins + arity * count;
  T** d_outs = outs + count;
  T** auxs = d_outs + count;
  std::fill_n(d_ins, arity * count, nullptr);
  const Slot<T> slot = gradient_slot(shared);
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId id = ids[i];
    const NodeId* args = graph_.args.data() + graph_.nodes[id].first_arg;
    for (std::size_t k = 0; k < arity; ++k) ins[k * count + i] = value_[args[k]];
    d_ins[operand * count + i] = slot.g;
    adds_[operand * count + i] = slot.adds || i > 0;
    outs[i] = value_[id];
    d_outs[i] = gradient_[id];
    auxs[i] = aux_[id];
  }
  kernel<T>(node.form->backward.value)(GradientBatch<T>{
      {graph_, ids, count, arity, outs, ins, auxs, epoch_}, d_outs, d_ins, adds_.data()});
  if (check_) [[unlikely]]
    check_backward(ids[0], slot.g, shared);
}

template <class T>
void Executor<T>::scatter_rows(NodeId id) {
  const Node& n = graph_.nodes[id];
  if (n.dim.bd == 1 || !n.needs_gradient()) return;  // written in place
  ParameterStorage& table = *graph_.attr<LookupAttr>(n).table;
  const auto* rows = reinterpret_cast<const std::uint32_t*>(aux_[id]);
  const std::size_t size = table.row_size();
  for (unsigned b = 0; b < n.dim.bd; ++b) {
    const Slot<T> slot = parameters_.use_row(table, rows[b]);
    const T* g = gradient_[id] + b * size;
    for (std::size_t i = 0; i < size; ++i) slot.g[i] = slot.adds ? slot.g[i] + g[i] : g[i];
  }
}

template <class T>
T* Executor<T>::gradient(NodeId id) {
  if (id >= differentiated_)
    throw ArgumentError("gradient: no backward pass has covered this expression");
  if (!written_[id]) {
    const std::size_t n = graph_.nodes[id].dim.size();
    gradient_[id] = gradients_.allocate_array<T>(n);
    std::fill_n(gradient_[id], n, T(0));
    written_[id] = true;
  }
  return gradient_[id];
}

template <class T>
void Executor<T>::check_forward(NodeId id) const {
  const Node& n = graph_.nodes[id];
  if (finite(value_[id], n.dim.size())) return;
  throw NumericError(
      std::string(n.form->name) + ": the value has a " + bad_value(value_[id], n.dim.size()) +
          "\n  value: " + describe(graph_, id) + describe_operands(graph_, graph_.args_of(n)) +
          "\n  at " + to_string(n.at()),
      n.at());
}

template <class T>
void Executor<T>::check_backward(NodeId id, const T* gradient, NodeId operand) const {
  const Node& n = graph_.nodes[id];
  const std::size_t size = graph_.nodes[operand].dim.size();
  if (finite(gradient, size)) return;
  throw NumericError(std::string(n.form->name) + ": backward gave the gradient of an operand a " +
                         bad_value(gradient, size) + "\n  operand: " + describe(graph_, operand) +
                         "\n  value: " + describe(graph_, id) + "\n  at " + to_string(n.at()),
                     n.at());
}

template class Executor<float>;
template class Executor<double>;

}  // namespace dynet
