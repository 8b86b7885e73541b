// Operands that the products of a batch share: their gradients are summed once, over all uses.
#include <algorithm>

#include "dynet-like/run/backward.h"
#include "dynet-like/run/numeric_check.h"

namespace dynet {
namespace {

// Columns of pending uses that are summed at once on the CPU: more would be no faster, and their
// operands would leave the caches.
constexpr std::size_t kEnoughColumns = 256;

}  // namespace

// Returns the number of uses that will read the gradients of all live nodes of the step.
template <class T>
std::uint32_t BackwardPass<T>::record_uses(std::uint32_t at) {
  const Step& step = r_.steps[at];
  const BatchPointers<T>& m = r_.memory[at];
  const NodeId* const ids = r_.ids(at);
  const Node& node = graph_.nodes[ids[0]];
  const BatchRule& rule = node.form->batch.value;
  const auto live = std::count_if(ids, ids + step.count, [&](NodeId id) { return is_live(id); });
  if (live == 0) return 0;
  const bool all_live = static_cast<std::uint32_t>(live) == step.count;
  const bool ragged = rule.ragged.in_value();
  const auto columns_of = [&](const Node& n) { return std::size_t{n.dim.cols()} * n.dim.bd; };
  const NodeId* const matrices = m.args;
  const bool own = node.has_own_matrix() && std::any_of(matrices, matrices + step.count,
                                                        [&](NodeId w) { return w != matrices[0]; });
  if (own) {
    for (std::uint32_t i = 0; i < step.count; ++i) {
      if (!is_live(ids[i]) || gradient_[matrices[i]].state == Gradient::none) continue;
      record_use(matrices[i], {at, 0, kNoUse, i, true}, columns_of(node));
      ++gradient_[ids[i]].readers;
    }
    return 0;
  }
  std::size_t columns = static_cast<std::size_t>(live) * columns_of(node);
  if (ragged) {
    columns = 0;
    for (std::uint32_t i = 0; i < step.count; ++i)
      if (is_live(ids[i])) columns += columns_of(graph_.nodes[ids[i]]);
  }
  std::uint32_t uses = 0;
  for (std::uint32_t k = 0; k < m.arity; ++k) {
    const NodeId shared = m.args[k * step.count];
    if (!rule.shares(k) || !step.computes(rule, k) || gradient_[shared].state == Gradient::none)
      continue;
    record_use(shared, {at, k, kNoUse, kAllNodes, all_live}, columns);
    ++uses;
  }
  return uses;
}

template <class T>
void BackwardPass<T>::record_use(NodeId shared, const Use& use, std::size_t columns) {
  if (shared >= pending_.size()) pending_.resize(shared + 1, {kNoUse, 0});
  Pending& p = pending_[shared];
  computed_wait_ += p.last == kNoUse && !gradient_[shared].in_buffer;
  uses_.push_back(use);
  uses_.back().next = p.last;
  p.last = static_cast<std::uint32_t>(uses_.size() - 1);
  p.columns = static_cast<std::uint32_t>(
      std::min(p.columns + std::min(columns, kEnoughColumns), kEnoughColumns));
}

// Sums the pending uses of the operands that a step's products share if there are enough.
template <class T>
void BackwardPass<T>::flush_full(std::uint32_t at) {
  const BatchPointers<T>& m = r_.memory[at];
  const Node& node = graph_.nodes[r_.ids(at)[0]];
  if (backend(r_.ids(at)[0]).on_device()) return;
  for (std::uint32_t k = 0; k < m.arity; ++k)
    if (const NodeId shared = m.args[k * m.count]; node.form->batch.value.shares(k) &&
                                                   shared < pending_.size() &&
                                                   pending_[shared].columns >= kEnoughColumns)
      flush_shared({&shared, 1});
}

// Computes the gradients of shared operands. One kernel call sums all uses with equal form and
// shapes, in the order in which the users ran; on a device it covers several operands.
template <class T>
void BackwardPass<T>::flush_shared(std::span<const NodeId> shared) {
  ranges_.clear();
  for (const NodeId id : shared) {
    if (id >= pending_.size() || pending_[id].last == kNoUse) continue;
    ranges_.push_back(range_of(id, pending_[id].last));
    computed_wait_ -= !gradient_[id].in_buffer;
    pending_[id] = {kNoUse, 0};
  }
  for (std::size_t at = 0; at < ranges_.size();) {
    const UseRange& first = ranges_[at];
    std::size_t end = at + 1;
    while (end < ranges_.size() && backend(first.shared).on_device() &&
           same_shape_use(uses_[first.first], uses_[ranges_[end].first]))
      ++end;
    sum_range({ranges_.data() + at, end - at});
    // The remaining uses of these nodes come next.
    const std::size_t begin = at;
    at = end;
    for (std::size_t k = end; k-- > begin;)
      if (const UseRange range = ranges_[k]; range.end != kNoUse)
        ranges_[--at] = range_of(range.shared, range.end);
  }
}

template <class T>
typename BackwardPass<T>::UseRange BackwardPass<T>::range_of(NodeId shared,
                                                             std::uint32_t first) const {
  UseRange range{shared, first, first, uses_[first].operand, 0};
  std::uint32_t& use = range.end;
  for (; use != kNoUse && (use == first || same_shape_use(uses_[first], uses_[use]));
       use = uses_[use].next)
    range.count += uses_[use].node == kAllNodes ? r_.steps[uses_[use].step].count : 1;
  return range;
}

// Compares only the two operands that the kernel reads: comparing all would be quadratic.
template <class T>
bool BackwardPass<T>::same_shape_use(const Use& x, const Use& y) const {
  const NodeId first = r_.ids(x.step)[0], second = r_.ids(y.step)[0];
  const Node &a = graph_.nodes[first], &b = graph_.nodes[second];
  if (x.operand != y.operand || a.form != b.form || a.arity != b.arity) return false;
  const Ragged& ragged = a.form->batch.value.ragged;
  if (!ragged.agree(Ragged::kValue, a.dim, b.dim)) return false;
  const NodeId* const p = graph_.args_of(a).data();
  const NodeId* const q = graph_.args_of(b).data();
  for (std::size_t k = x.operand; k < std::min<std::size_t>(x.operand + 2, a.arity); ++k)
    if (!ragged.agree(Ragged::operand(k), graph_.nodes[p[k]].dim, graph_.nodes[q[k]].dim))
      return false;
  return true;
}

// Calls f(step, index in the step, count) for runs of live nodes of uses.
template <class T>
template <class F>
void BackwardPass<T>::for_each_live(const UseRange& uses, F f) const {
  for (std::uint32_t use = uses.first; use != uses.end; use = uses_[use].next) {
    const Use& u = uses_[use];
    const NodeId* const ids = r_.ids(u.step);
    const std::uint32_t count = r_.steps[u.step].count;
    if (u.node != kAllNodes)
      f(u.step, u.node, 1u);
    else if (u.all_live)
      f(u.step, 0u, count);
    else
      for (std::uint32_t i = 0; i < count; ++i)
        if (is_live(ids[i])) f(u.step, i, 1u);
  }
}

// Lists the live nodes of uses: their gradients, values, scratch and the operands that the kernel
// reads. Sets the count of each range; returns the sum of the counts.
template <class T>
std::size_t BackwardPass<T>::gather_live(std::span<UseRange> uses) {
  Scratch& scratch = scratch_;
  PodVector<NodeId>& live = scratch.live;
  live.clear();
  for (UseRange& range : uses) {
    const std::size_t before = live.size();
    for_each_live(range, [&](std::uint32_t at, std::uint32_t i, std::uint32_t n) {
      std::copy_n(r_.ids(at) + i, n, live.append(n));
    });
    range.count = live.size() - before;
  }
  const BatchPointers<T>& first = r_.memory[uses_[uses[0].first].step];
  const std::size_t count = live.size(), arity = first.arity;
  scratch.handed.resize_uninitialized((arity + 3) * count);
  T** const d_outs = scratch.handed.data();
  T** const outs = d_outs + count;
  T** const ins = outs + count;
  T** const auxs = first.auxs ? ins + arity * count : nullptr;
  if (captures_to_) [[unlikely]]
    scratch.args.resize_uninitialized(arity * count);
  const bool sums = graph_.nodes[live[0]].form->sums;
  for (std::size_t j = 0; j < count; ++j)
    d_outs[j] = sums ? sums_[live[j]] : gradient_[live[j]].memory;
  std::size_t to = 0;
  for (const UseRange& range : uses)
    for_each_live(range, [&](std::uint32_t at, std::uint32_t i, std::uint32_t n) {
      const BatchPointers<T>& m = r_.memory[at];
      const std::size_t all = r_.steps[at].count;
      std::copy_n(m.outs + i, n, outs + to);
      if (auxs) std::copy_n(m.auxs + i, n, auxs + to);
      for (std::size_t k = range.operand; k < std::min(range.operand + 2, arity); ++k) {
        std::copy_n(m.ins + k * all + i, n, ins + k * count + to);
        if (captures_to_) [[unlikely]]
          std::copy_n(m.args + k * all + i, n, scratch.args.data() + k * count + to);
      }
      to += n;
    });
  return count;
}

// The kernel reads the shared operand and the operand after it, and writes one gradient.
template <class T>
void BackwardPass<T>::sum_range(std::span<UseRange> uses) {
  Scratch& scratch = scratch_;
  const std::size_t count = gather_live(uses), operand = uses[0].operand;
  const BatchPointers<T>& m = r_.memory[uses_[uses[0].first].step];
  const std::size_t arity = m.arity;
  const PodVector<NodeId>& live = scratch.live;
  scratch.writes.resize_uninitialized(arity * count);
  if (nothing_.size() < arity * count) nothing_.resize(arity * count, nullptr);
  T** const d_outs = scratch.handed.data();
  T** const d_ins = nothing_.data();
  struct Handed {  // reset after the kernel call
    T** d_ins;
    std::size_t count;
    ~Handed() { std::fill_n(d_ins, count, nullptr); }
  } const handed{d_ins + operand * count, count};
  Write* const writes = scratch.writes.data() + operand * count;
  std::size_t at = 0;
  for (const UseRange& range : uses) {
    PiecesFor pieces{devices_, range.shared};
    const Slot<T> target = slot(range.shared, pieces);
    std::fill_n(handed.d_ins + at, range.count, target.g);
    std::fill_n(writes + at, range.count, Write::again);
    writes[at] = target.adds ? Write::add : Write::store;
    at += range.count;
  }
  T** const outs = d_outs + count;
  T** const ins = outs + count;
  GradientBatch<T> b{{graph_, live.data(), count, arity, outs, ins,
                      m.auxs ? ins + arity * count : nullptr, settings_.run},
                     d_outs,
                     d_ins,
                     scratch.writes.data()};
  b.first = operand;
  b.end = operand + 1;
  b.terms = Terms{0};
  if (graph_.nodes[live[0]].form->sums) b.d_sums = d_outs;
  settings_.observe(*graph_.nodes[live[0]].form, b);
  backend(uses[0].shared).backward(*graph_.nodes[live[0]].form, b);
  if (captures_to_) [[unlikely]]
    capture_call(*graph_.nodes[live[0]].form, b, false, scratch.args.data());
  if (settings_.check) [[unlikely]]
    for (std::size_t k = 0, first = 0; k < uses.size(); first += uses[k++].count)
      check_gradient(graph_, devices_, live[first], handed.d_ins[first], uses[k].shared);
  if (keeps_all_) return;
  release_gradients({live.data(), live.size()});
}

template std::uint32_t BackwardPass<float>::record_uses(std::uint32_t);
template std::uint32_t BackwardPass<double>::record_uses(std::uint32_t);
template void BackwardPass<float>::flush_full(std::uint32_t);
template void BackwardPass<double>::flush_full(std::uint32_t);
template void BackwardPass<float>::flush_shared(std::span<const NodeId>);
template void BackwardPass<double>::flush_shared(std::span<const NodeId>);

}  // namespace dynet
