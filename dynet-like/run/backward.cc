#include "dynet-like/run/backward.h"

#include <algorithm>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/run/numeric_check.h"

namespace dynet {

template <class T>
void BackwardPass<T>::run(NodeId loss, bool full, std::uint32_t result) {
  full_ = full;
  result_ = result;
  keeps_all_ = full || repeating_ || devices_.any_on_device();
  covered_ = 0;
  lost_ = incomplete_ = false;
  replayed_ = nullptr;
  devices_.begin_pass();
  for (const auto& c : devices_.contexts())
    if (!repeating_) c->parameters.begin_backward(settings_.buffer);
  try {
    CapturedGradients<T>* const known = captured();
    if (known && addresses_match(*known, loss))
      replay(*known);
    else if (known && known->misses++ >= kMostMisses)
      capture(loss, *known);
    else
      run_steps(loss);
    devices_.start();
  } catch (...) {
    devices_.forget();
    for (const auto& c : devices_.contexts())
      if (!repeating_) c->parameters.undo_backward();
    throw;
  }
  covered_ = loss + 1;
  parameters_ = ParameterState::of(graph_);
}

template <class T>
void BackwardPass<T>::run_steps(NodeId loss) {
  prepare(loss + 1);
  if (gradient_[loss].state == Gradient::none) return;  // a constant: every gradient is zero
  PiecesFor pieces{devices_, loss};
  const Slot<T> seed = result_ ? second_slot(loss, pieces) : slot(loss, pieces);
  backend(loss).fill(seed.g, 1, T(1), seed.adds);
  if (captures_to_) captures_to_->seed = seed.g;
  for (auto s = static_cast<std::uint32_t>(r_.steps.size()); s-- > 0;) {
    const Step& step = r_.steps[s];
    const NodeId* const ids = r_.ids(s);
    const Node& node = graph_.nodes[ids[0]];
    const Kind kind = node.form->kind;
    if (kind == Kind::parameter || computed_wait_ > 0) flush_shared({ids, step.count});
    if (node.arity == 0 && kind != Kind::lookup) continue;  // a leaf: no operands
    run_step(step, r_.memory[s], ids);
    if (kind == Kind::lookup) scatter_step(step, r_.memory[s]);
    const std::uint32_t uses = node.form->batch.value.has_products() ? record_uses(s) : 0;
    if (!keeps_all_) count_readers(s, uses);
    if (uses > 0) flush_full(s);
  }
}

template <class T>
void BackwardPass<T>::prepare(NodeId size) {
  for (const auto& c : devices_.contexts()) {
    c->backend.rewind(c->gradients, {});
    c->pool.reset();
  }
  uses_.clear();
  late_steps_ = 0;
  computed_wait_ = 0;
  gradient_.resize_uninitialized(size);
  bool seconds = false;
  for (NodeId id = 0; id < size; ++id) {
    const Node& n = graph_.nodes[id];
    const bool needs = n.needs_gradient();
    seconds |= n.form->second_result != nullptr;
    gradient_[id] = {.memory = nullptr,
                     .batch = 0,
                     .state = full_ || needs ? Gradient::unwritten : Gradient::none,
                     .second_written = false,
                     .in_buffer = needs && !repeating_ && n.form->kind == Kind::parameter,
                     .readers = 1};
  }
  seconds_.clear();
  if (seconds) seconds_.resize(size, nullptr);
  pending_.clear();
  if (keeps_all_) try {
      lay_out(size);
    } catch (const OutOfMemoryError&) {
      if (full_ || repeating_) throw;
      keeps_all_ = false;  // a device only prefers them side by side
      for (NodeId id = 0; id < size; ++id) gradient_[id].memory = nullptr;
      std::fill(seconds_.begin(), seconds_.end(), nullptr);
      for (const auto& c : devices_.contexts()) c->gradients.release();
    }
  scratch_.batch = 0;
}

// Allocates the gradients that are kept, side by side. Other gradients are allocated at their first
// write; those of parameters are in a buffer.
template <class T>
void BackwardPass<T>::lay_out(NodeId size) {
  wanted_.resize_uninitialized(size);
  for (NodeId id = 0; id < size; ++id)
    wanted_[id] = gradient_[id].state != Gradient::none && !gradient_[id].in_buffer;
  lay_out_gradients(graph_, {r_.steps.data(), r_.steps.size()}, r_.order.data(),
                    {wanted_.data(), wanted_.size()}, layout_);
  if (verifier_) verifier_->verify(graph_, {wanted_.data(), wanted_.size()}, layout_);
  const auto& by_index = devices_.by_index();
  blocks_.clear();
  for (std::size_t p = 0; p < layout_.extent.size(); ++p)
    blocks_.push_back(by_index[p]->gradients.template allocate_array<T>(layout_.extent[p]));
  const bool one = blocks_.size() == 1;  // device indices need not be read
  const auto block = [&](NodeId id) { return blocks_[one ? 0 : graph_.nodes[id].device_index()]; };
  for (NodeId id = 0; id < size; ++id)
    if (layout_.offset[id] != GradientLayout::kNoMemory)
      gradient_[id].memory = block(id) + layout_.offset[id];
  for (NodeId id = 0; id < layout_.second.size(); ++id)
    if (layout_.second[id] != GradientLayout::kNoMemory)
      seconds_[id] = block(id) + layout_.second[id];
  if (!layout_.sums.empty()) sums_.resize_uninitialized(size);
  for (NodeId id = 0; id < layout_.sums.size(); ++id)
    if (layout_.sums[id] != GradientLayout::kNoMemory) sums_[id] = block(id) + layout_.sums[id];
}

// Gradient of a parameter at its first write in a pass.
template <class T>
Slot<T> BackwardPass<T>::buffer_slot(NodeId id) {
  Gradient& g = gradient_[id];
  const Slot<T> slot =
      devices_.of(id).parameters.use(*graph_.attr<ParameterAttr>(graph_.nodes[id]).parameter);
  g.memory = slot.g;
  if (captures_to_) captures_to_->slots.push_back({id, slot.g, nullptr});
  return slot;
}

// Counts one reader less of each of these nodes, which have one form and one shape unless its
// batches are ragged; after the last one the memory is freed.
template <class T>
void BackwardPass<T>::release_gradients(std::span<const NodeId> ids) {
  const Node& first = graph_.nodes[ids[0]];
  const OpForm& form = *first.form;
  const bool ragged = form.batch.value.ragged.in_value();
  PiecesFor pieces{devices_, ids[0]};
  auto sums = devices_.of(ids[0]).pool.of(form.sums ? form.sums(graph_, first) : 0);
  for (const NodeId id : ids) {
    Gradient& g = gradient_[id];
    if (!is_live(id) || --g.readers > 0 || g.in_buffer) continue;
    if (ragged) pieces.of(id);
    if (g.memory) pieces().give_back(std::exchange(g.memory, nullptr));
    if (form.second_result && seconds_[id])
      pieces().give_back(std::exchange(seconds_[id], nullptr));
    if (form.sums) sums.give_back(sums_[id]);
  }
}

// Counts the readers of a step's gradients: `uses` pending ones more, and one less that is the step
// itself. Nodes of a step that accumulates will be read by another step. A device may fuse
// consecutive steps: there the step has read them kLate steps later.
template <class T>
void BackwardPass<T>::count_readers(std::uint32_t at, std::uint32_t uses) {
  const NodeId* const ids = r_.ids(at);
  const Step& step = r_.steps[at];
  const bool late = backend(ids[0]).on_device(), has_read = !late && !step.accumulates;
  if (uses == 0 && has_read) release_gradients({ids, step.count});
  if (const std::uint32_t more = uses - std::min<std::uint32_t>(uses, has_read); more > 0)
    for (std::uint32_t i = 0; i < step.count; ++i)
      if (is_live(ids[i])) gradient_[ids[i]].readers += more;
  if (!late || step.accumulates) return;
  std::uint32_t& slot = late_[late_steps_++ % kLate];
  std::swap(at, slot);
  if (late_steps_ > kLate) release_gradients({r_.ids(at), r_.steps[at].count});
}

// The nodes of a step that the loss depends on. The caller fills in the gradients of operands.
template <class T>
GradientBatch<T> BackwardPass<T>::live_batch(const BatchPointers<T>& m, const NodeId* ids) {
  Scratch& scratch = scratch_;
  const std::size_t all = m.count, arity = m.arity;
  scratch.handed.resize_uninitialized((2 * arity + 4) * all);
  T** d_outs = scratch.handed.data();
  T** const d_seconds = d_outs + (2 * arity + 3) * all;
  std::size_t count = 0;
  if (graph_.nodes[ids[0]].form->second_result) {
    for (std::size_t i = 0; i < all; ++i) {
      if (!is_live(ids[i])) continue;
      const Gradient& g = gradient_[ids[i]];
      d_seconds[count] = g.second_written ? seconds_[ids[i]] : nullptr;
      d_outs[count++] = g.state == Gradient::written ? g.memory : nullptr;
    }
  } else {
    for (std::size_t i = 0; i < all; ++i)
      if (is_live(ids[i])) d_outs[count++] = gradient_[ids[i]].memory;
  }
  GradientBatch<T> b{{graph_, ids, count, arity, m.outs, m.ins, m.auxs, settings_.run,
                      &devices_.of(ids[0]).prepared},
                     d_outs,
                     d_outs + count,
                     nullptr};
  if (graph_.nodes[ids[0]].form->second_result) b.d_seconds = d_seconds;
  scratch.args.clear();
  if (count == 0) return b;
  scratch.writes.resize_uninitialized(arity * count);
  b.writes = scratch.writes.data();
  if (count == all) return b;
  T** outs = d_outs + (arity + 1) * count;
  T** ins = outs + count;
  T** auxs = m.auxs ? ins + arity * count : nullptr;
  scratch.live.clear();
  NodeId* args = scratch.args.append(arity * count);
  for (std::size_t i = 0, to = 0; i < all; ++i) {
    if (!is_live(ids[i])) continue;
    scratch.live.push_back(ids[i]);
    outs[to] = m.outs[i];
    if (auxs) auxs[to] = m.auxs[i];
    for (std::size_t k = 0; k < arity; ++k) {
      ins[k * count + to] = m.ins[k * all + i];
      args[k * count + to] = m.args[k * all + i];
    }
    ++to;
  }
  b.ids = scratch.live.data();
  b.outs = outs;
  b.ins = ins;
  b.auxs = auxs;
  return b;
}

// The gradient of an operand that was not written yet takes over the memory of the node's gradient
// if this step is the last to read that.
template <class T>
void BackwardPass<T>::reuse_gradients(const GradientBatch<T>& b, const NodeId* args) {
  for (std::size_t i = 0; i < b.count; ++i) {
    Gradient &from = gradient_[b.ids[i]], &to = gradient_[args[i]];
    if (to.state != Gradient::unwritten || to.memory || to.in_buffer || from.readers > 1) continue;
    to.memory = from.memory;
    from.memory = nullptr;
  }
}

// Gradients of the sums that the nodes of a step compute first. They are allocated in the step that
// completes the values, which comes first.
template <class T>
T* const* BackwardPass<T>::sums_of(const Step& step, const GradientBatch<T>& b) {
  if (sums_.size() < gradient_.size()) sums_.resize_uninitialized(gradient_.size());
  if (!keeps_all_ && step.terms.complete()) {
    auto pieces = devices_.of(b.ids[0]).pool.of(b.node(0).form->sums(graph_, b.node(0)));
    for (std::size_t i = 0; i < b.count; ++i) sums_[b.ids[i]] = pieces.take();
  }
  scratch_.sums.clear();
  for (std::size_t i = 0; i < b.count; ++i) scratch_.sums.push_back(sums_[b.ids[i]]);
  return scratch_.sums.data();
}

// Finds the addresses of the gradients of operands, in the order in which the kernel writes:
// operand by operand, node by node. Returns whether there are any.
template <class T>
bool BackwardPass<T>::find_targets(const GradientBatch<T>& b, const Step& step,
                                   const NodeId* args) {
  T** const d_ins = scratch_.handed.data() + b.count;
  const OpForm& form = *graph_.nodes[b.ids[0]].form;
  const BatchRule& rule = form.batch.value;
  const Node& first = graph_.nodes[b.ids[0]];
  if (form.reads == Reads::output_in_place && !keeps_all_ && !first.reads_seconds())
    reuse_gradients(b, args);
  const bool ragged = rule.ragged.any();
  const bool on_device = backend(b.ids[0]).on_device();  // a device finds repeated targets itself
  bool any = false;
  for (std::size_t k = 0; k < b.arity; ++k) {
    if (rule.shares(k) || !step.computes(rule, k)) {
      std::fill_n(d_ins + k * b.count, b.count, nullptr);
      continue;
    }
    PiecesFor pieces{devices_, args[k * b.count]};
    const bool second = first.reads_second(k);
    for (std::size_t to = k * b.count; to < (k + 1) * b.count; ++to) {
      if (gradient_[args[to]].state == Gradient::none) {
        d_ins[to] = nullptr;
        continue;
      }
      if (ragged) pieces.of(args[to]);
      const Slot<T> target = second ? second_slot(args[to], pieces) : slot(args[to], pieces);
      d_ins[to] = target.g;
      scratch_.writes[to] = target.adds ? Write::add : Write::store;
      any = true;
    }
    if (rule.has_products() && !on_device) number_batch(b, k, args);
  }
  return any;
}

// Marks gradients that this batch writes more than once, by a number of the batch. Several nodes
// may be of one parameter, whose gradient they share.
template <class T>
void BackwardPass<T>::number_batch(const GradientBatch<T>& b, std::size_t operand,
                                   const NodeId* args) {
  T* const* const d_ins = scratch_.handed.data() + b.count;
  const std::uint32_t batch = ++scratch_.batch;
  PodVector<T*>& buffers = scratch_.buffers;
  buffers.clear();
  for (std::size_t to = operand * b.count; to < (operand + 1) * b.count; ++to) {
    if (!d_ins[to]) continue;
    Gradient& g = gradient_[args[to]];
    const auto wrote_buffer = [&] {
      const bool found = std::find(buffers.begin(), buffers.end(), d_ins[to]) != buffers.end();
      if (!found) buffers.push_back(d_ins[to]);
      return found;
    };
    if (g.in_buffer ? wrote_buffer() : g.batch == batch) scratch_.writes[to] = Write::again;
    g.batch = batch;
  }
}

// Runs the backward kernel of a step for all operands but the shared ones, see record_uses.
template <class T>
void BackwardPass<T>::run_step(const Step& step, const BatchPointers<T>& m, const NodeId* ids) {
  settings_.check_interrupt();
  const OpForm& form = *graph_.nodes[ids[0]].form;
  const bool transfer = form.kind == Kind::transfer;
  if (form.kind == Kind::parameter || form.kind == Kind::lookup || m.arity == 0 ||
      (!transfer && !Backend<T>::has_backward(form)))
    return;
  Scratch& scratch = scratch_;
  GradientBatch<T> b = live_batch(m, ids);
  if (b.count == 0) return;
  const NodeId* const args = scratch.args.empty() ? m.args : scratch.args.data();
  b.terms = step.terms;
  if (form.sums) b.d_sums = sums_of(step, b);
  if (!find_targets(b, step, args) && !(form.sums && step.terms.complete())) return;

  T** const d_ins = scratch.handed.data() + b.count;
  Backend<T>& here = backend(b.ids[0]);
  settings_.observe(form, b);
  if (transfer)
    receive_gradients(here, b, args[0], d_ins);
  else
    here.backward(form, b);
  if (captures_to_) [[unlikely]]
    capture_call(form, b, b.outs == m.outs, args);
  if (settings_.check) [[unlikely]]
    for (std::size_t to = 0; to < b.arity * b.count; ++to)
      if (d_ins[to]) check_gradient(graph_, devices_, b.ids[to % b.count], d_ins[to], args[to]);
}

// Transfers gradients back to the device of the operand.
template <class T>
void BackwardPass<T>::receive_gradients(Backend<T>& from, const GradientBatch<T>& b, NodeId operand,
                                        T* const* d_ins) {
  copies_.clear();
  for (std::size_t i = 0; i < b.count; ++i)
    if (d_ins[i]) copies_.add(b.d_out(i), d_ins[i], b.write(0, i));
  backend(operand).receive(from, copies_.from.size(), b.dim().size(), copies_.from.data(),
                           copies_.to.data(), copies_.how.data());
}

template <class T>
void BackwardPass<T>::scatter_step(const Step& step, const BatchPointers<T>& m) {
  if (repeating_) return;
  const NodeId* const ids = r_.order.data() + step.first;
  Scratch& scratch = scratch_;
  scratch.live.clear();
  scratch.handed.resize_uninitialized(2 * step.count);
  T **const gradients = scratch.handed.data(), **const rows = gradients + step.count;
  for (std::uint32_t i = 0; i < step.count; ++i) {
    const NodeId id = ids[i];
    if (!is_live(id) || !graph_.nodes[id].needs_gradient()) continue;
    gradients[scratch.live.size()] = gradient_[id].memory;
    rows[scratch.live.size()] = m.auxs[i];
    scratch.live.push_back(id);
  }
  const std::size_t count = scratch.live.size();
  if (count == 0) return;
  scatter_rows(count, scratch.live.data(), gradients, rows);
  if (captures_to_) captures_to_->add_rows(count, scratch.live.data(), gradients, rows);
}

// Stores or adds the gradients of lookups to the rows of their table.
template <class T>
void BackwardPass<T>::scatter_rows(std::size_t count, const NodeId* ids, T* const* gradients,
                                   T* const* rows) {
  DeviceContext<T>& here = devices_.of(ids[0]);
  if (settings_.observer) [[unlikely]]
    settings_.observer->call(
        {graph_, *graph_.nodes[ids[0]].form, ids, count, KernelCall::backward});
  ParameterStorageBase& table = *graph_.attr<LookupAttr>(graph_.nodes[ids[0]]).table;
  const std::size_t size = table.row_size();
  copies_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto* used = reinterpret_cast<const std::uint32_t*>(rows[i]);
    for (unsigned b = 0; b < graph_.nodes[ids[i]].dim.bd; ++b) {
      const Slot<T> slot = here.parameters.use_row(table, used[b]);
      copies_.add(gradients[i] + b * size, slot.g, slot.adds ? Write::add : Write::store);
    }
  }
  here.backend.copy(copies_.from.size(), size, copies_.from.data(), copies_.to.data(),
                    copies_.how.data());
}

template <class T>
T* BackwardPass<T>::gradient(NodeId id, std::uint32_t result) {
  if (id >= covered_)
    throw GradientError(lost_ ? "gradient: the loss was reverted, and backward keeps the gradients "
                                "of other expressions only as backward(loss, true)"
                              : "gradient: no backward pass has covered this expression");
  if (replayed_) restore_states();
  const auto is_written = [&] {
    return result ? bool{gradient_[id].second_written} : gradient_[id].state == Gradient::written;
  };
  const auto memory = [&]() -> T*& { return result ? seconds_[id] : gradient_[id].memory; };
  if (incomplete_ || (is_written() && !memory())) repeat();
  if (!is_written()) {
    const std::size_t n = graph_.nodes[id].dim.size();
    memory() = devices_.of(id).gradients.template allocate_array<T>(n);
    const bool constant_loss = id + 1 == covered_ && !lost_ && result == result_;
    backend(id).fill(memory(), n, T(constant_loss ? 1 : 0), false);
    backend(id).start();
    if (result)
      gradient_[id].second_written = true;
    else
      gradient_[id].state = Gradient::written;
  }
  return memory();
}

// Repeats the pass and keeps all gradients.
template <class T>
void BackwardPass<T>::repeat() {
  if (parameters_.changed(graph_))
    throw GradientError(
        "gradient: the parameters have changed since the backward pass, which kept only their own "
        "gradients; ask before the update, or call backward(loss, true), which keeps all");
  if (!incomplete_) {
    in_buffers_.clear();
    for (NodeId id = 0; id < gradient_.size(); ++id)
      if (gradient_[id].memory && graph_.nodes[id].form->kind == Kind::parameter)
        in_buffers_.push_back({id, gradient_[id].memory});
  }
  const NodeId loss = covered_ - 1;
  repeating_ = true;
  try {
    run(loss, false, result_);
  } catch (...) {
    repeating_ = keeps_all_ = false;
    incomplete_ = true;
    covered_ = loss + 1;
    throw;
  }
  repeating_ = false;

  for (const InBuffer& p : in_buffers_) gradient_[p.id].memory = p.memory;
}

template <class T>
void BackwardPass<T>::truncate(NodeId size) {
  if (size >= covered_) return;
  lost_ = !keeps_all_;  // without the loss the pass cannot be repeated
  covered_ = keeps_all_ ? size : 0;
}

template <class T>
void BackwardPass<T>::clear() {
  covered_ = 0;
  lost_ = incomplete_ = false;
  replayed_ = nullptr;
}

template <class T>
void BackwardPass<T>::release() {
  clear();
  gradient_ = {};
  seconds_ = {};
  pending_ = {};
  layout_ = {};
  wanted_ = {};
  blocks_ = {};
  uses_ = {};
  sums_ = {};
}

template class BackwardPass<float>;
template class BackwardPass<double>;

}  // namespace dynet
