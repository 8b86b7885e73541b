#include "dynet-like/exec/executor.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/exec/kernel.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/plan/windows.h"

namespace dynet {
namespace {

template <class T>
bool finite(const T* v, std::size_t n) {
  return std::all_of(v, v + n, [](T x) { return std::isfinite(x); });
}

template <class T>
std::string bad_value(const T* v, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(v[i]))
      return (std::isnan(v[i]) ? std::string("NaN") : std::string("infinity")) + " at element " +
             std::to_string(i);
  return {};
}

// What `restore` has thrown, with the operand and the line of the node that needs it.
[[noreturn, gnu::cold]] void throw_not_restored(const ArgumentError& e, const GraphStore& graph,
                                                NodeId operand, SourceLocation at) {
  throw ArgumentError(std::string(e.what()) + "\n  expression: " + describe(graph, operand) +
                          "\n  at " + to_string(at),
                      at);
}

}  // namespace

template <class T>
void Executor<T>::forward(NodeId last) {
  if (last < evaluated_) return;
  // A device has no cache that holds a window, and every batch costs it a launch.
  if (planner_ != plan_in_batches || !all_on_cpu())
    return run(plans_.plan(graph_, evaluated_, last + 1, planner_));
  for (Windows windows(graph_, evaluated_, last + 1); evaluated_ <= last;)
    if (const Plan& plan = plans_.plan(graph_, evaluated_, windows.end_of(evaluated_), planner_);
        windows.accept(plan))
      run(plan);
}

// Allocates the values of a plan: a block for each device.
template <class T>
void Executor<T>::lay_out(const Plan& plan) {
  const NodeId n = plan.end;
  value_.resize_uninitialized(n);
  aux_.resize_uninitialized(n);
  first_arg_.resize_uninitialized(n);
  if (by_device_.size() < graph_.devices.size())
    by_device_.resize(graph_.devices.size(), contexts_[0].get());
  const bool several = !plan.block_offsets.empty();
  const std::size_t devices = several ? std::min(plan.block_offsets.size(), by_device_.size()) : 1;
  for (std::uint32_t p = 0; p < devices; ++p) {
    T* const base = by_device_[p]->values.template allocate_array<T>(plan.extent_of(p));
    const auto at = [base, begin = plan.block_offset(p)](std::uint64_t where) {
      return where == Plan::kNoMemory ? nullptr : base + (where - begin);
    };
    for (NodeId id = plan.begin; id < n; ++id) {
      if (several && graph_.nodes[id].device_index() != p) continue;
      const std::size_t i = id - plan.begin;
      value_[id] = at(plan.value[i]);
      aux_[id] = at(plan.aux[i]);
      first_arg_[id] = plan.first_arg[i];
    }
  }
}

template <class T>
void Executor<T>::rewind(const Run& run) {
  for (std::size_t s = 0; s < contexts_.size(); ++s)
    contexts_[s]->values.rewind(run.marks + s < marks_.size() ? marks_[run.marks + s]
                                                              : Arena::Mark{});
  marks_.truncate(run.marks);
  steps_.truncate(run.steps);
  order_.truncate(run.order);
  regions_.truncate(run.regions);
  pointers_.rewind(run.pointers);
  batches_ = run.batches;
}

template <class T>
auto Executor<T>::parameter_state() const -> ParameterState {
  ParameterState state{graph_.banks.size(), 0};
  for (const auto& bank : graph_.banks)
    state.changes += bank->changes.load(std::memory_order_relaxed);
  return state;
}

template <class T>
bool Executor<T>::parameters_changed(const ParameterState& since) const {
  std::uint64_t changes = 0;
  for (std::size_t b = 0; b < since.banks; ++b)
    changes += graph_.banks[b]->changes.load(std::memory_order_relaxed);
  return changes != since.changes;
}

template <class T>
void Executor<T>::start_all() {
  for (DeviceContext<T>* s : by_device_) s->backend.start();
}

// After an error: what is in a queue would run with the next graph, over memory that may be gone.
template <class T>
void Executor<T>::forget_all() {
  for (const auto& s : contexts_) s->backend.forget();
}

template <class T>
void Executor<T>::run(const Plan& plan) {
  const NodeId n = plan.end;
  const Run part{plan.begin,
                 static_cast<std::uint32_t>(steps_.size()),
                 static_cast<std::uint32_t>(order_.size()),
                 static_cast<std::uint32_t>(regions_.size()),
                 static_cast<std::uint32_t>(marks_.size()),
                 batches_,
                 pointers_.mark(),
                 parameter_state()};
  for (const auto& s : contexts_) {
    marks_.push_back(s->values.mark());
    s->parameters.begin_forward();
  }
  try {
    lay_out(plan);
    rematerialize_operands(plan);
    if (inference_) {
      run_and_free(plan);
      runs_.push_back(part);
      unrecorded_ = true;
      evaluated_ = n;
      return;
    }
    std::copy_n(plan.order.data(), plan.order.size(), order_.append(plan.order.size()));
    const bool alone = !helpers();
    for (const Step& s : plan.steps) {
      steps_.push_back(record(s, plan.order.data() + s.first));
      count_batch(steps_.back(), plan.order.data() + s.first);
      steps_.back().step.first += part.order;
      if (alone) run_step(steps_.back(), plan.order.data() + s.first);
    }
    if (alone) {
      regions_.push_back({part.steps, static_cast<std::uint32_t>(steps_.size()), false, false, 1});
    } else {
      find_regions(part.steps);
      run_regions(part.regions);
    }
    start_all();
    note_freed(plan);
    runs_.push_back(part);
  } catch (...) {
    forget_all();
    rewind(part);
    throw;
  }
  evaluated_ = n;
}

template <class T>
typename Executor<T>::Ran Executor<T>::record(const Step& step, const NodeId* ids) {
  const Node& node = graph_.nodes[ids[0]];
  const std::size_t count = step.count, arity = node.arity;
  Ran ran{step,    node.arity, pointers_.allocate_array<T*>((arity + 2) * count),
          nullptr, nullptr,    pointers_.allocate_array<NodeId>(arity * count)};
  ran.auxs = ran.outs + count;
  ran.ins = ran.auxs + count;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId* args = graph_.args.data() + first_arg_[ids[i]];
    for (std::size_t k = 0; k < arity; ++k) {
      ran.args[k * count + i] = args[k];
      ran.ins[k * count + i] = value_[args[k]];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId id = ids[i];
    if (node.form->kind == Kind::parameter)
      value_[id] =
          context(id).parameters.values(*graph_.attr<ParameterAttr>(graph_.nodes[id]).parameter);
    else if (node.form->kind == Kind::lookup)
      run_lookup(id);
    else if (node.form->kind == Kind::alias)
      value_[id] = ran.ins[i];
    ran.outs[i] = value_[id];
    ran.auxs[i] = aux_[id];
  }
  return ran;
}

template <class T>
void Executor<T>::count_batch(const Ran& ran, const NodeId* ids) {
  const bool completes = ran.step.accumulates || ran.step.terms.all();
  batches_ += completes && graph_.nodes[ids[0]].form->kind == Kind::compute;
}

// Nothing is kept but the values that the plan keeps.
template <class T>
void Executor<T>::run_and_free(const Plan& plan) {
  for (const Step& s : plan.steps) {
    const Arena::Mark mark = pointers_.mark();
    const NodeId* ids = plan.order.data() + s.first;
    const Ran ran = record(s, ids);
    count_batch(ran, ids);
    run_step(ran, ids);
    pointers_.rewind(mark);
  }
  start_all();
  note_freed(plan);
}

// Before a plan runs: what its nodes need of earlier ones.
template <class T>
void Executor<T>::rematerialize_operands(const Plan& plan) {
  freed_.truncate(std::min<std::size_t>(freed_.size(), plan.begin));
  if (freed_.empty()) return;
  for (NodeId id = plan.begin; id < plan.end; ++id)
    for (const NodeId a : graph_.args_of(graph_.nodes[id])) {
      if (a >= freed_.size() || !freed_[a]) continue;
      try {
        rematerialize(a);
      } catch (const ArgumentError& e) {
        throw_not_restored(e, graph_, a, graph_.nodes[id].at());
      }
    }
}

template <class T>
void Executor<T>::note_freed(const Plan& plan) {
  if (plan.freed.empty()) return;
  freed_.resize(plan.begin, false);
  std::copy_n(plan.freed.data(), plan.freed.size(), freed_.append(plan.freed.size()));
}

// Computes the value of a node again, and before it what it needs and is gone too. Afterwards, or
// after an error, what is not gone has the value of the forward pass.
template <class T>
void Executor<T>::rematerialize(NodeId id) {
  PodVector<NodeId> all;
  const Arena::Mark pointers = pointers_.mark();
  std::vector<Arena::Mark> rematerialized;
  for (const auto& s : contexts_) {
    rematerialized.push_back(s->rematerialized.mark());
    s->parameters.begin_forward();
  }
  try {
    find_freed(id, all);
    const auto run = std::upper_bound(runs_.begin(), runs_.end(), all[0],
                                      [](NodeId node, const Run& r) { return node < r.begin; });
    if (parameters_changed(run[-1].parameters) &&
        std::any_of(all.begin(), all.end(), [&](NodeId node) { return reads_parameter(node); }))
      throw ArgumentError(
          "value: the parameters have changed since the forward pass, which has used the memory of "
          "this value again; ask before the update, or call forward, which computes all values");
    for (const NodeId node : all) recompute(node);
    start_all();  // so that a later error does not take it along
  } catch (...) {
    forget_all();
    for (const NodeId node : all) freed_[node] = true;
    for (std::size_t s = 0; s < contexts_.size(); ++s)
      contexts_[s]->rematerialized.rewind(rematerialized[s]);
    pointers_.rewind(pointers);
    throw;
  }
}

// The nodes to compute, in order. They are no longer marked as gone.
template <class T>
void Executor<T>::find_freed(NodeId id, PodVector<NodeId>& all) {
  const auto add = [&](NodeId node) {
    all.push_back(node);
    freed_[node] = false;
  };
  add(id);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const NodeId a : graph_.args_of(graph_.nodes[all[i]]))
      if (a < freed_.size() && freed_[a]) add(a);
  std::sort(all.begin(), all.end());
}

// Whether its kernel reads the memory of a parameter, in place or row by row.
template <class T>
bool Executor<T>::reads_parameter(NodeId id) const {
  const auto in_parameter = [&](NodeId a) {
    while (graph_.nodes[a].form->kind == Kind::alias) a = graph_.args_of(graph_.nodes[a])[0];
    const Node& n = graph_.nodes[a];
    return n.form->kind == Kind::parameter || (n.form->kind == Kind::lookup && n.dim.bd == 1);
  };
  const auto args = graph_.args_of(graph_.nodes[id]);
  return graph_.nodes[id].form->kind == Kind::lookup ||
         std::any_of(args.begin(), args.end(), in_parameter);
}

template <class T>
void Executor<T>::recompute(NodeId id) {
  const Node& n = graph_.nodes[id];
  const std::size_t aux = n.form->aux.value(graph_, n);
  DeviceContext<T>& here = context(id);
  value_[id] = here.rematerialized.template allocate_array<T>(n.dim.size());
  aux_[id] = aux ? here.rematerialized.template allocate_array<T>(aux) : nullptr;
  const Arena::Mark mark = pointers_.mark();
  run_step(record({0, 1}, &id), &id);
  if (!here.backend.on_device()) pointers_.rewind(mark);  // which keeps the rows of lookups there
}

template <class T>
void Executor<T>::run_step(const Ran& ran, const NodeId* ids) {
  const std::size_t count = ran.step.count;
  const OpForm& form = *graph_.nodes[ids[0]].form;
  if (form.kind == Kind::compute)
    context(ids[0]).backend.forward(
        form, Batch<T>{graph_, ids, count, ran.arity, ran.outs, ran.ins, ran.auxs, run_number_,
                       ran.step.terms, ran.step.accumulates});
  else if (form.kind == Kind::transfer)
    run_transfer(ran, ids);
  if (check_) [[unlikely]]
    for (std::size_t i = 0; i < count; ++i) check_forward(ids[i]);
}

template <class T>
void Executor<T>::run_transfer(const Ran& ran, const NodeId* ids) {
  how_.clear();
  how_.resize(ran.step.count, Write::store);
  context(ids[0]).backend.receive(context(ran.args[0]).backend, ran.step.count,
                                  graph_.nodes[ids[0]].dim.size(), ran.ins, ran.outs, how_.data());
}

template <class T>
void Executor<T>::run_lookup(NodeId id) {
  const Node& n = graph_.nodes[id];
  const auto& attr = graph_.attr<LookupAttr>(n);
  ParameterStorageBase& table = *attr.table;
  const unsigned* rows =
      read_indices(attr.indices, graph_.payload<LookupAttr, unsigned>(n), "lookup");
  DeviceContext<T>& here = context(id);
  if (here.backend.on_device()) aux_[id] = pointers_.allocate_array<T>(attr.indices.count);
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
  if (attr.indices.count == 1) {
    value_[id] = here.parameters.row(table, rows[0]);
    return;
  }
  forget_noted();
  for (std::uint32_t b = 0; b < attr.indices.count; ++b)
    note_copy(here.parameters.row(table, used[b]), value_[id] + b * size, Write::store);
  copy_noted(here, size);
}

template <class T>
void Executor<T>::copy_noted(DeviceContext<T>& at, std::size_t size) {
  at.backend.copy(from_.size(), size, from_.data(), to_.data(), how_.data());
}

template <class T>
void Executor<T>::invalidate() {
  rewind();
  ++run_number_;
}

template <class T>
void Executor<T>::rewind() {
  evaluated_ = 0;
  differentiated_ = 0;
  lost_ = false;
  unrecorded_ = false;
  steps_.clear();
  order_.clear();
  runs_.clear();
  regions_.clear();
  freed_.clear();
  batches_ = 0;
  marks_.clear();
  for (const auto& s : contexts_) {
    s->values.reset();
    s->rematerialized.reset();
  }
  pointers_.reset();
}

template <class T>
void Executor<T>::truncate(NodeId size) {
  if (size >= evaluated_) return;
  // Plans that lie behind `size` go with their memory; of one that reaches over it, the steps of
  // the nodes that stay are kept.
  while (!runs_.empty() && runs_.back().begin >= size) {
    rewind(runs_.back());
    runs_.truncate(runs_.size() - 1);
  }
  if (!runs_.empty()) {
    std::size_t kept_steps = runs_.back().steps;
    std::uint32_t kept = runs_.back().order;
    for (std::size_t k = kept_steps; k < steps_.size(); ++k) {
      Ran ran = steps_[k];
      truncate_step(ran, size, kept);
      kept += ran.step.count;
      if (ran.step.count > 0) steps_[kept_steps++] = ran;
    }
    steps_.truncate(kept_steps);
    order_.truncate(kept);
    if (regions_.size() > runs_.back().regions) {  // what is left of the run goes to one thread
      regions_.truncate(runs_.back().regions);
      regions_.push_back(
          {runs_.back().steps, static_cast<std::uint32_t>(kept_steps), false, false, 1});
    }
  }
  if (freed_.size() > size) freed_.truncate(size);
  evaluated_ = size;
  if (size < differentiated_) {  // what was not kept cannot be computed again without the loss
    lost_ = !retains_gradients_;
    differentiated_ = retains_gradients_ ? size : 0;
  }
}

// Keeps the nodes below `size`, from `first` on in order_.
template <class T>
void Executor<T>::truncate_step(Ran& ran, NodeId size, std::uint32_t first) {
  const std::uint32_t count = ran.step.count;
  const NodeId* ids = order_.data() + ran.step.first;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i) kept += ids[i] < size;
  const auto keep = [&](auto* all) {  // rows of `count` become rows of `kept`
    for (std::size_t row = 0, to = 0; row <= ran.arity + 1; ++row)
      for (std::uint32_t i = 0; i < count; ++i)
        if (ids[i] < size) all[to++] = all[row * count + i];
  };
  const auto keep_args = [&] {
    for (std::size_t row = 0, to = 0; row < ran.arity; ++row)
      for (std::uint32_t i = 0; i < count; ++i)
        if (ids[i] < size) ran.args[to++] = ran.args[row * count + i];
  };
  if (kept < count) {
    keep(ran.outs);
    keep_args();
    ran.auxs = ran.outs + kept;
    ran.ins = ran.auxs + kept;
  }
  std::uint32_t to = first;
  for (std::uint32_t i = 0; i < count; ++i)
    if (const NodeId id = ids[i]; id < size) order_[to++] = id;
  ran.step.first = first;
  ran.step.count = kept;
}

template <class T>
std::size_t Executor<T>::value_bytes() const {
  std::size_t sum = 0;
  for (const auto& s : contexts_) sum += s->values.used() + s->rematerialized.used();
  return sum;
}

template <class T>
std::size_t Executor<T>::gradient_bytes() const {
  std::size_t sum = 0;
  for (const auto& s : contexts_) sum += s->gradients.used();
  return sum;
}

template <class T>
void Executor<T>::clear() {
  rewind();
  forget_all();
  run_number_ = 0;  // what a seeded graph draws depends on nothing that was in it before
  for (const auto& s : contexts_) s->gradients.reset();
  by_device_.truncate(1);
}

template <class T>
void Executor<T>::release() {
  clear();
  contexts_.resize(1);
  by_device_[0] = contexts_[0].get();
  for (Arena* a : {&contexts_[0]->values, &contexts_[0]->gradients, &contexts_[0]->rematerialized})
    a->release();
  pointers_.release();
  value_ = {};
  aux_ = {};
  gradient_ = {};
  uses_ = {};
  steps_ = {};
  order_ = {};
  plans_.release();
  first_arg_ = {};
  freed_ = {};
}

template <class T>
void Executor<T>::check_forward(NodeId id) {
  const Node& n = graph_.nodes[id];
  const T* const value = backend(id).read(value_[id], n.dim.size());
  if (finite(value, n.dim.size()) || masked(id, value)) return;
  throw NumericError(std::string(n.form->name) + ": the value has a " +
                         bad_value(value, n.dim.size()) + "\n  value: " + describe(graph_, id) +
                         describe_operands(graph_, graph_.args_of(n)) + "\n  at " +
                         to_string(n.at()),
                     n.at());
}

// Minus infinity is the score of what is masked, see ops/softmax.h, and the logarithm of a sum of
// nothing: no fault where the user has put it in, or where an operand has it or is empty.
template <class T>
bool Executor<T>::masked(NodeId id, const T* value) {
  const Node& n = graph_.nodes[id];
  constexpr T kMasked = -std::numeric_limits<T>::infinity();
  const auto is_masked = [=](T x) { return x == kMasked; };
  if (!std::all_of(value, value + n.dim.size(),
                   [=](T x) { return std::isfinite(x) || is_masked(x); }))
    return false;
  const auto args = graph_.args_of(n);
  if (args.empty()) return n.form->kind == Kind::compute;
  return std::any_of(args.begin(), args.end(), [&](NodeId a) {
    const std::size_t size = graph_.nodes[a].dim.size();
    const T* const x = backend(a).read(value_[a], size);
    return size == 0 || std::any_of(x, x + size, is_masked);
  });
}

template <class T>
void Executor<T>::check_backward(NodeId id, const T* gradient, NodeId operand) {
  const Node& n = graph_.nodes[id];
  const std::size_t size = graph_.nodes[operand].dim.size();
  gradient = backend(operand).read(gradient, size);
  if (finite(gradient, size)) return;
  throw NumericError(std::string(n.form->name) + ": backward gave the gradient of an operand a " +
                         bad_value(gradient, size) + "\n  operand: " + describe(graph_, operand) +
                         "\n  value: " + describe(graph_, id) + "\n  at " + to_string(n.at()),
                     n.at());
}

template class Executor<float>;
template class Executor<double>;

}  // namespace dynet
