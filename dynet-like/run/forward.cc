#include "dynet-like/run/forward.h"

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/plan/memory.h"
#include "dynet-like/run/numeric_check.h"

namespace dynet {
namespace {

constexpr NodeId kForever = ~NodeId{0};

// Error of `rematerialize`, with the operand and the line of the node that reads it.
[[noreturn, gnu::cold]] void throw_not_restored(const ArgumentError& e, const GraphStore& graph,
                                                NodeId operand, SourceLocation at) {
  throw ArgumentError(std::string(e.what()) + "\n  expression: " + describe(graph, operand) +
                          "\n  at " + to_string(at),
                      at);
}

}  // namespace

template <class T>
void ForwardPass<T>::run(const Plan& plan) {
  const RecordedRun run = r_.next_run(graph_, plan.begin);
  for (const auto& c : devices_.contexts()) {
    r_.value_marks.push_back(c->values.mark());
    c->parameters.begin_forward();
  }
  if (!r_.runs.empty() && r_.runs.back().parameters.changed(graph_)) refresh_parameters(plan.begin);
  try {
    freed_.truncate(std::min<std::size_t>(freed_.size(), plan.begin));
    const bool replays = can_replay();
    Capture<T>* capture = replays ? captures_.find(plan) : nullptr;
    if (capture && addresses_match(plan, *capture)) {
      replay(plan, run, *capture);
    } else {
      const bool wanted = replays && (!capture || capture->misses >= kMostMisses);
      const bool captures = wanted && captures_.is_worth_it(plan);
      capture = nullptr;
      lay_out(plan);
      rematerialize_operands(plan);
      if (captures || !settings_.inference)
        record_and_run(plan, run);
      else
        run_and_free(plan);
      if (captures) capture = this->capture(plan, run);
      if (captures && settings_.inference) r_.forget_steps(run);
    }
    devices_.start();
    note_freed(plan);
    r_.runs.push_back(run);
    captures_.push(capture);
  } catch (...) {
    devices_.forget();
    undo(run);
    throw;
  }
  r_.evaluated = plan.end;
}

// Nodes of parameters that changed since an earlier plan may be operands again: an update on a
// device leaves all other copies old.
template <class T>
void ForwardPass<T>::refresh_parameters(NodeId end) {
  for (NodeId id = 0; id < end; ++id)
    if (const Node& n = graph_.nodes[id]; n.form->kind == Kind::parameter)
      r_.value[id] = devices_.of(id).parameters.values(*graph_.attr<ParameterAttr>(n).parameter);
}

template <class T>
void ForwardPass<T>::undo(const RecordedRun& run) {
  const auto& contexts = devices_.contexts();
  for (std::size_t c = 0; c < contexts.size(); ++c) {
    const std::size_t mark = run.value_marks + c;
    contexts[c]->backend.rewind(
        contexts[c]->values, mark < r_.value_marks.size() ? r_.value_marks[mark] : Arena::Mark{});
  }
  r_.rewind(run);
}

// Allocates the values of a plan: a block for each device.
template <class T>
void ForwardPass<T>::lay_out(const Plan& plan) {
  const NodeId n = plan.end;
  r_.value.resize_uninitialized(n);
  r_.aux.resize_uninitialized(n);
  const auto& by_index = devices_.by_index();
  const bool several = !plan.block_offsets.empty();
  const std::size_t devices = several ? std::min(plan.block_offsets.size(), by_index.size()) : 1;
  for (std::uint32_t p = 0; p < devices; ++p) {
    T* const base = by_index[p]->values.template allocate_array<T>(plan.extent_of(p));
    if (p == 0) values_ = base;
    const auto at = [base, begin = plan.block_offset(p)](std::uint64_t where) {
      return where == Plan::kNoMemory ? nullptr : base + (where - begin);
    };
    for (NodeId id = plan.begin; id < n; ++id) {
      if (several && graph_.nodes[id].device_index() != p) continue;
      const std::size_t i = id - plan.begin;
      r_.value[id] = at(plan.value[i]);
      r_.aux[id] = at(plan.aux[i]);
    }
  }
}

template <class T>
void ForwardPass<T>::record_and_run(const Plan& plan, const RecordedRun& run) {
  std::copy_n(plan.order.data(), plan.order.size(), r_.order.append(plan.order.size()));
  const std::size_t steps = plan.steps.size();
  Step* const recorded = r_.steps.append(steps);
  BatchPointers<T>* const memory = r_.memory.append(steps);
  const PlanArrays arrays = arrays_of(plan);
  for (std::size_t s = 0; s < steps; ++s) {
    const Step& step = plan.steps[s];
    const NodeId* ids = plan.order.data() + step.first;
    recorded[s] = step;
    recorded[s].first += run.order;  // reading it back at once would stall: `step` is used below
    memory[s] = prepare(step, ids, arrays);
    count_batch(step, ids);
    run_step(step, memory[s], ids);
  }
}

// Keeps no record: inference.
template <class T>
void ForwardPass<T>::run_and_free(const Plan& plan) {
  for (const Step& step : plan.steps) {
    const Arena::Mark mark = r_.pointers.mark();
    const NodeId* ids = plan.order.data() + step.first;
    const BatchPointers<T> memory = prepare(step, ids, arrays_of(plan));
    count_batch(step, ids);
    run_step(step, memory, ids);
    r_.pointers.rewind(mark);
  }
}

// Lists the pointers of a step, and sets the values that are parameters, table rows or aliases.
template <class T>
BatchPointers<T> ForwardPass<T>::prepare(const Step& step, const NodeId* ids,
                                         const PlanArrays& arrays) {
  const BatchPointers<T> m = r_.list_operands(graph_, step, ids, arrays.begin, arrays.first_arg);
  const std::size_t count = step.count;
  T** const value = r_.value.data();
  T** const auxs = m.auxs;
  for (std::size_t i = 0; auxs && i < count; ++i) auxs[i] = r_.aux[ids[i]];
  switch (graph_.nodes[ids[0]].form->kind) {
    case Kind::compute:
    case Kind::transfer:
      break;
    case Kind::parameter:
      for (std::size_t i = 0; i < count; ++i)
        value[ids[i]] = devices_.of(ids[i]).parameters.values(
            *graph_.attr<ParameterAttr>(graph_.nodes[ids[i]]).parameter);
      break;
    case Kind::lookup:
      for (std::size_t i = 0; i < count; ++i) run_lookup(ids[i], auxs[i]);
      break;
    case Kind::alias:
      for (std::size_t i = 0; i < count; ++i) value[ids[i]] = m.ins[i];
  }
  for (std::size_t i = 0; i < count; ++i) m.outs[i] = value[ids[i]];
  return m;
}

template <class T>
void ForwardPass<T>::count_batch(const Step& step, const NodeId* ids) {
  r_.batches += step.terms.complete() && graph_.nodes[ids[0]].form->kind == Kind::compute;
}

template <class T>
void ForwardPass<T>::run_step(const Step& step, const BatchPointers<T>& m, const NodeId* ids) {
  settings_.check_interrupt();
  const std::size_t count = step.count;
  const OpForm& form = *graph_.nodes[ids[0]].form;
  if (form.kind == Kind::compute || form.kind == Kind::transfer) {
    DeviceContext<T>& here = devices_.of(ids[0]);
    const Batch<T> b{graph_, ids,           count,          m.arity,    m.outs,          m.ins,
                     m.auxs, settings_.run, &here.prepared, step.terms, step.accumulates};
    settings_.observe(form, b);
    form.kind == Kind::compute ? here.backend.forward(form, b) : run_transfer(step, m, ids);
  }
  if (settings_.check && (step.terms.complete() || !form.sums)) [[unlikely]]
    for (std::size_t i = 0; i < count; ++i) check_value(graph_, devices_, r_, ids[i]);
}

template <class T>
void ForwardPass<T>::run_transfer(const Step& step, const BatchPointers<T>& m, const NodeId* ids) {
  copies_.how.clear();
  copies_.how.resize(step.count, Write::store);
  devices_.of(ids[0]).backend.receive(devices_.of(m.args[0]).backend, step.count,
                                      graph_.nodes[ids[0]].dim.size(), m.ins, m.outs,
                                      copies_.how.data());
}

template <class T>
void ForwardPass<T>::run_lookup(NodeId id, T*& aux) {
  const Node& n = graph_.nodes[id];
  const auto& attr = graph_.attr<LookupAttr>(n);
  ParameterStorageBase& table = *attr.table;
  const unsigned* rows =
      read_indices(attr.indices, graph_.payload<LookupAttr, unsigned>(n), "lookup");
  DeviceContext<T>& here = devices_.of(id);
  if (here.backend.on_device()) aux = r_.pointers.template allocate_array<T>(attr.indices.count);
  auto* used = reinterpret_cast<std::uint32_t*>(aux);
  for (std::uint32_t b = 0; b < attr.indices.count; ++b) {
    if (rows[b] >= table.rows)
      throw IndexError("lookup: row " + std::to_string(rows[b]) + " is outside the " +
                           std::to_string(table.rows) + " rows of \"" + table.name + "\"\n  at " +
                           to_string(graph_.at(n)),
                       graph_.at(n));
    used[b] = rows[b];
  }
  const std::size_t size = table.row_size();
  if (attr.indices.count == 1) {
    r_.value[id] = here.parameters.row(table, rows[0]);
    return;
  }
  copies_.clear();
  for (std::uint32_t b = 0; b < attr.indices.count; ++b)
    copies_.add(here.parameters.row(table, used[b]), r_.value[id] + b * size, Write::store);
  here.backend.copy(copies_.from.size(), size, copies_.from.data(), copies_.to.data(),
                    copies_.how.data());
}

// Recomputes freed values of earlier nodes that the plan reads.
template <class T>
void ForwardPass<T>::rematerialize_operands(const Plan& plan) {
  if (freed_.empty()) return;
  for (NodeId id = plan.begin; id < plan.end; ++id)
    for (const NodeId a : graph_.args_of(graph_.nodes[id])) {
      if (!is_freed(a)) continue;
      try {
        rematerialize(a);
      } catch (const ArgumentError& e) {
        throw_not_restored(e, graph_, a, graph_.at(graph_.nodes[id]));
      }
    }
}

template <class T>
void ForwardPass<T>::note_freed(const Plan& plan) {
  if (plan.freed.empty()) return;
  freed_.resize(plan.begin, false);
  std::copy_n(plan.freed.data(), plan.freed.size(), freed_.append(plan.freed.size()));
}

// A value that no node reads is kept because the user may request it. A value that was read through
// a pointer to the user's memory is kept because that memory may have changed. Of the nodes after
// `last`, at most four times as many as the pass has are scanned for readers: many passes over one
// graph take linear time.
template <class T>
void ForwardPass<T>::find_last_reads(NodeId begin, NodeId last) {
  const std::size_t pass = last - begin;
  const auto end = static_cast<NodeId>(std::min(graph_.nodes.size(), last + 4 * pass));
  first_read_ = begin;
  last_read_.clear();
  last_read_.resize(end - begin, 0);
  kept_.clear();
  for (NodeId id = end; id-- > begin;) {
    const Node& n = graph_.nodes[id];
    NodeId& own = last_read_[id - begin];
    if (own == 0 || n.reads_pointer()) own = kForever;
    const NodeId reads_until = n.form->kind == Kind::alias ? own : id;
    for (const NodeId a : graph_.args_of(n))
      if (a >= begin) last_read_[a - begin] = std::max(last_read_[a - begin], reads_until);
  }
}

// Frees the copies that no node from `end` on reads.
template <class T>
void ForwardPass<T>::free_kept(NodeId end) {
  std::size_t left = 0;
  for (const NodeId id : kept_) {
    if (last_read_[id - first_read_] >= end) {
      kept_[left++] = id;
      continue;
    }
    freed_[id] = true;
    const Node& n = graph_.nodes[id];
    if (n.form->kind == Kind::alias) continue;
    auto pieces = devices_.of(id).kept.of(n.dim.size());
    pieces.give_back(r_.value[id]);
    if (n.form->second_result) pieces.give_back(r_.aux[id]);
  }
  kept_.truncate(left);
}

template <class T>
void ForwardPass<T>::free_window(NodeId begin, NodeId last) {
  const RecordedRun& run = r_.runs.back();
  const NodeId end = r_.evaluated;
  if (run.begin == begin) find_last_reads(begin, last);
  if (freed_.size() < end) freed_.resize(end, false);
  free_kept(end);
  std::size_t size = 0;  // of the values that are copied in one call
  copies_.clear();
  DeviceContext<T>& here = devices_.of(run.begin);
  const auto copy = [&] {
    if (copies_.from.empty()) return;
    here.backend.copy(copies_.from.size(), size, copies_.from.data(), copies_.to.data(),
                      copies_.how.data());
    copies_.clear();
  };
  for (NodeId id = run.begin; id < end; ++id) {
    NodeId root = id;
    bool second = false;  // an alias of the second result of the root
    while (graph_.nodes[root].form->kind == Kind::alias) {
      second = graph_.nodes[root].reads_second(0);
      root = graph_.args_of(graph_.nodes[root])[0];
    }
    const Node& n = graph_.nodes[root];
    if (freed_[id] || !has_memory(n)) continue;
    if (last_read_[id - begin] < end) {
      freed_[id] = true;
      continue;
    }
    kept_.push_back(id);
    if (root != id) {
      r_.value[id] = second ? r_.aux[root] : r_.value[root];
      continue;
    }
    if (n.dim.size() != size) copy();
    size = n.dim.size();
    auto pieces = here.kept.of(size);
    const auto keep = [&](T*& value) {
      T* const to = pieces.take();
      copies_.add(value, to, Write::store);
      value = to;
    };
    keep(r_.value[id]);
    if (n.form->second_result) keep(r_.aux[id]);
  }
  copy();
  here.backend.start();  // before the arena frees the sources of the copies
  for (std::size_t c = 0; c < devices_.contexts().size(); ++c)
    if (devices_.contexts()[c].get() == &here)
      here.backend.rewind(here.values, r_.value_marks[run.value_marks + c]);
}

template <class T>
void ForwardPass<T>::rematerialize(NodeId id) {
  PodVector<NodeId> all;
  const Arena::Mark pointers = r_.pointers.mark();
  std::vector<Arena::Mark> rematerialized;
  for (const auto& c : devices_.contexts()) {
    rematerialized.push_back(c->rematerialized.mark());
    c->parameters.begin_forward();
  }
  try {
    find_freed(id, all);
    const auto run =
        std::upper_bound(r_.runs.begin(), r_.runs.end(), all[0],
                         [](NodeId node, const RecordedRun& r) { return node < r.begin; });
    if (run[-1].parameters.changed(graph_) &&
        std::any_of(all.begin(), all.end(), [&](NodeId node) { return reads_parameter(node); }))
      throw ArgumentError(
          "value: the parameters have changed since the forward pass, which has used the memory of "
          "this value again; ask before the update, or call forward, which computes all values");
    for (const NodeId node : all) recompute(node);
    devices_.start();  // a later error must not drop this work
  } catch (...) {
    devices_.forget();
    for (const NodeId node : all) freed_[node] = true;
    for (std::size_t c = 0; c < rematerialized.size(); ++c)
      devices_.contexts()[c]->backend.rewind(devices_.contexts()[c]->rematerialized,
                                             rematerialized[c]);
    r_.pointers.rewind(pointers);
    throw;
  }
}

// Collects the nodes to recompute, in order, and clears their marks.
template <class T>
void ForwardPass<T>::find_freed(NodeId id, PodVector<NodeId>& all) {
  const auto add = [&](NodeId node) {
    all.push_back(node);
    freed_[node] = false;
  };
  add(id);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const NodeId a : graph_.args_of(graph_.nodes[all[i]]))
      if (is_freed(a)) add(a);
  std::sort(all.begin(), all.end());
}

// Whether the node's kernel reads the memory of a parameter or of a table.
template <class T>
bool ForwardPass<T>::reads_parameter(NodeId id) const {
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
void ForwardPass<T>::recompute(NodeId id) {
  const Node& n = graph_.nodes[id];
  const std::size_t size = n.form->aux.value(graph_, n);
  DeviceContext<T>& here = devices_.of(id);
  r_.value[id] = here.rematerialized.template allocate_array<T>(n.dim.size());
  r_.aux[id] = size ? here.rematerialized.template allocate_array<T>(size) : nullptr;
  const Arena::Mark mark = r_.pointers.mark();
  const Step one{0, 1};
  run_step(one, prepare(one, &id, {id, &n.first_arg}), &id);
  if (!here.backend.on_device())  // a device keeps the rows of lookups in these lists
    r_.pointers.rewind(mark);
  if (settings_.frees && n.form->kind == Kind::alias && id >= first_read_)
    kept_.push_back(id);  // alias of a copy that may be freed
}

template <class T>
void ForwardPass<T>::truncate(NodeId size) {
  NodeId end = r_.evaluated;
  while (!r_.runs.empty() && r_.runs.back().begin >= size) {
    end = r_.runs.back().begin;
    undo(r_.runs.back());
    r_.runs.truncate(r_.runs.size() - 1);
    captures_.pop();
  }
  if (size < end) captures_.forget_last();  // its lists are truncated
  r_.truncate(size);
  if (freed_.size() > size) freed_.truncate(size);
}

template <class T>
void ForwardPass<T>::clear() {
  r_.clear();
  captures_.clear();
  freed_.clear();
  for (const auto& c : devices_.contexts()) {
    c->backend.rewind(c->values, {});
    c->backend.rewind(c->rematerialized, {});
    c->kept.reset();
  }
}

template <class T>
void ForwardPass<T>::release() {
  r_.release();
  captures_.release();
  freed_ = {};
  last_read_ = {};
  kept_ = {};
}

// The rest replays a plan over memory at the addresses of an earlier run, see Capture.

template <class T>
bool ForwardPass<T>::can_replay() const {
  return std::is_same_v<T, float> && !settings_.check && !settings_.frees &&
         devices_.all_on_cpu() && devices_.contexts().size() == 1;
}

// Whether all pointers of a capture are valid for this run; if so, the plan's memory is allocated.
template <class T>
bool ForwardPass<T>::addresses_match(const Plan& plan, Capture<T>& c) {
  if (!std::equal(plan.outside.begin(), plan.outside.end(), c.outside.begin(), c.outside.end()))
    return false;
  DeviceContext<T>& here = *devices_.contexts()[0];
  ++c.misses;
  for (const typename Capture<T>::Given& g : c.given) {
    const Node& n = graph_.nodes[g.node];
    if (n.needs_gradient() != g.needs_gradient) return false;
    if (!g.value) continue;
    const T* const now = g.node < plan.begin
                             ? r_.value[g.node]
                             : here.parameters.values(*graph_.attr<ParameterAttr>(n).parameter);
    if (now != g.value) return false;
  }
  const Arena::Mark before = here.values.mark();
  if (here.values.template allocate_array<T>(plan.extent) != c.values) {
    here.values.rewind(before);
    c.misses = kMostMisses;  // the address cannot match again: capture the next run
    return false;
  }
  c.misses = 0;
  return true;
}

template <class T>
void ForwardPass<T>::record(const Plan& plan, const RecordedRun& run, const Capture<T>& c) {
  std::copy_n(plan.order.data(), plan.order.size(), r_.order.append(plan.order.size()));
  std::copy_n(c.memory.data(), c.memory.size(), r_.memory.append(c.memory.size()));
  Step* const steps = r_.steps.append(plan.steps.size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    steps[s] = plan.steps[s];
    steps[s].first += run.order;
  }
}

template <class T>
void ForwardPass<T>::replay(const Plan& plan, const RecordedRun& run, const Capture<T>& c) {
  r_.value.resize_uninitialized(plan.end);
  std::copy_n(c.value.data(), c.value.size(), r_.value.data() + plan.begin);
  r_.aux.resize_uninitialized(plan.end);
  std::copy_n(c.aux.data(), c.aux.size(), r_.aux.data() + plan.begin);
  if (!settings_.inference) record(plan, run, c);
  for (const typename Capture<T>::Redone& redone : c.redone) {
    const Node& n = graph_.nodes[redone.node];
    T* aux = redone.aux;
    if (n.form->kind == Kind::lookup)
      run_lookup(redone.node, aux);
    else
      r_.value[redone.node] = r_.value[graph_.args_of(n)[0]];
  }
  for (const MovingPointer<T>& m : c.moving) *m.where = r_.value[m.node];
  r_.batches += c.batches;
  DeviceContext<T>& here = *devices_.contexts()[0];
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    const NodeId* const ids = plan.order.data() + step.first;
    const OpForm& form = *graph_.nodes[ids[0]].form;
    if (form.kind != Kind::compute) continue;
    settings_.check_interrupt();
    const BatchPointers<T>& m = c.memory[s];
    const Batch<T> b{graph_, ids,           step.count,     m.arity,    m.outs,          m.ins,
                     m.auxs, settings_.run, &here.prepared, step.terms, step.accumulates};
    settings_.observe(form, b);
    here.backend.forward(form, b);
  }
  ++captures_.forward_replays;
}

// Captures the plan that has just run.
template <class T>
Capture<T>* ForwardPass<T>::capture(const Plan& plan, const RecordedRun& run) {
  auto made = std::make_unique<Capture<T>>();
  Capture<T>& c = *made;
  const auto copy = [](const auto& from, std::size_t n, auto& to) {
    std::copy_n(from, n, to.append(n));
  };
  c.begin = plan.begin;
  c.values = values_;
  c.batches = r_.batches - run.batches;
  copy(r_.value.data() + plan.begin, plan.end - plan.begin, c.value);
  copy(r_.aux.data() + plan.begin, plan.end - plan.begin, c.aux);
  copy(plan.outside.data(), plan.outside.size(), c.outside);
  copy(r_.memory.data() + run.steps, plan.steps.size(), c.memory);
  for (BatchPointers<T>& m : c.memory)
    m = m.moved_to(c.copy(reinterpret_cast<const std::byte*>(m.outs), m.bytes()));
  find_moving(plan, c);
  for (const NodeId a : plan.outside)
    c.given.push_back(
        {a, graph_.nodes[a].needs_gradient(), captures_.moves(a) ? nullptr : r_.value[a]});
  for (NodeId id = plan.begin; id < plan.end; ++id) {
    const Node& n = graph_.nodes[id];
    if (n.arity == 0)
      c.given.push_back(
          {id, n.needs_gradient(), n.form->kind == Kind::parameter ? r_.value[id] : nullptr});
  }
  std::copy_n(c.memory.data(), c.memory.size(), r_.memory.data() + run.steps);
  return captures_.add(plan, std::move(made));
}

template <class T>
void ForwardPass<T>::find_moving(const Plan& plan, Capture<T>& c) {
  c.moves.resize(plan.end - plan.begin, false);
  const auto moves = [&](NodeId id) {
    return id < plan.begin ? captures_.moves(id) : c.moves[id - plan.begin];
  };
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const NodeId* const ids = plan.order.data() + plan.steps[s].first;
    const BatchPointers<T>& m = c.memory[s];
    const Kind kind = graph_.nodes[ids[0]].form->kind;
    for (std::uint32_t i = 0; i < m.count; ++i) {
      if (kind == Kind::lookup) {
        c.redone.push_back({ids[i], m.auxs[i]});
        c.moves[ids[i] - plan.begin] = graph_.nodes[ids[i]].dim.bd == 1;
      } else if (kind == Kind::alias && moves(m.args[i])) {
        c.redone.push_back({ids[i], nullptr});
        c.moves[ids[i] - plan.begin] = true;
      }
    }
    // Only operand pointers need patching: no kernel takes an alias or a table row as its output.
    const std::size_t operands = std::size_t{m.arity} * m.count;
    for (std::size_t i = 0; i < operands; ++i)
      if (moves(m.args[i])) c.moving.push_back({m.ins + i, m.args[i]});
  }
  if (c.redone.empty() && c.moving.empty()) c.moves.clear();
}

template class ForwardPass<float>;
template class ForwardPass<double>;

}  // namespace dynet
