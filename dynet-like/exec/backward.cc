// The backward half of the executor.
#include <algorithm>

#include "dynet-like/base/errors.h"
#include "dynet-like/exec/executor.h"
#include "dynet-like/exec/kernel.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "kernels/cpu/product.h"

namespace dynet {
namespace {

// A sum of so many products is worth sharing out to several threads.
constexpr std::size_t kElementsWorthSharing = 200'000;

// Columns that a product over all uses of a matrix does not wait beyond on the CPU: it would
// be no faster, and what it reads leaves the caches.
constexpr std::size_t kEnoughColumns = 256;

}  // namespace

// The first time in a pass.
template <class T>
Slot<T> Executor<T>::buffer_slot(NodeId id) {
  Gradient& g = gradient_[id];
  const Slot<T> slot =
      context(id).parameters.use(*graph_.attr<ParameterAttr>(graph_.nodes[id]).parameter);
  g.memory = slot.g;
  return slot;
}

template <class T>
void Executor<T>::backward(NodeId loss, bool full) {
  forward(loss);
  full_ = full;
  retains_gradients_ = full || again_ || helpers() || any_on_device();
  differentiated_ = 0;
  lost_ = false;
  for (const auto& s : contexts_)
    if (!again_) s->parameters.begin_backward(buffer_);
  try {
    prepare_gradients(loss + 1);
    if (gradient_[loss].state != Gradient::none) {  // else a constant: every gradient is zero
      const Slot<T> seed = gradient_slot(loss, pieces_for(loss));
      backend(loss).fill(seed.g, 1, T(1), seed.adds);
      for (std::size_t r = regions_.size(); r-- > 0;) backward_region(regions_[r]);
    }
    start_all();
  } catch (...) {
    forget_all();
    for (const auto& s : contexts_)
      if (!again_) s->parameters.undo_backward();
    throw;
  }
  differentiated_ = loss + 1;
  differentiated_at_ = parameter_state();
}

template <class T>
void Executor<T>::prepare_gradients(NodeId size) {
  for (const auto& s : contexts_) {
    s->gradients.reset();
    s->pool.reset();
  }
  uses_.clear();
  late_steps_ = 0;
  computed_wait_ = 0;
  gradient_.resize_uninitialized(size);
  for (NodeId id = 0; id < size; ++id) {
    const Node& n = graph_.nodes[id];
    const bool needs = n.needs_gradient();
    gradient_[id] = {.memory = nullptr,
                     .state = full_ || needs ? Gradient::unwritten : Gradient::none,
                     .in_buffer = needs && !again_ && n.form->kind == Kind::parameter,
                     .last_use = kNoUse,
                     .batch = 0,
                     .transposed = 0,
                     .readers = 1,
                     .columns = 0};
  }
  if (retains_gradients_) try {
      lay_out_gradients(size);
    } catch (const OutOfMemoryError&) {
      if (full_ || again_ || helpers()) throw;
      retains_gradients_ = false;  // on a device they were to lie side by side only
      for (NodeId id = 0; id < size; ++id) gradient_[id].memory = nullptr;
      for (const auto& s : contexts_) s->gradients.release();
    }
  count_columns();
}

// For gradients that are kept, memory in the order of the steps, so that those of a batch lie side
// by side too; others get it when they are first written. Parameters have theirs in a buffer.
template <class T>
void Executor<T>::lay_out_gradients(NodeId size) {
  constexpr std::size_t kAlignment = 16;
  const auto lay_out_device = [&](std::uint32_t device, T* base) {
    std::size_t extent = 0;
    for (const Ran& ran : steps_) {
      const NodeId* ids = order_.data() + ran.step.first;
      const Node& node = graph_.nodes[ids[0]];
      if (ran.step.accumulates || node.device_index() != device) continue;
      const std::size_t stride = node.dim.size(), alignment = stride >= kAlignment ? kAlignment : 4;
      extent = (extent + alignment - 1) / alignment * alignment;
      for (std::uint32_t i = 0; i < ran.step.count; ++i) {
        if (ids[i] >= size || gradient_[ids[i]].state == Gradient::none ||
            gradient_[ids[i]].in_buffer)
          continue;
        if (base) gradient_[ids[i]].memory = base + extent;
        extent += stride;
      }
    }
    return extent;
  };
  for (std::uint32_t p = 0; p < by_device_.size(); ++p)
    lay_out_device(p,
                   by_device_[p]->gradients.template allocate_array<T>(lay_out_device(p, nullptr)));
}

template <class T>
void Executor<T>::count_columns() {
  transposed_.clear();
  for (Scratch& s : scratch_) s.batch = 0;
  for (const Ran& ran : steps_) {
    const NodeId id = order_[ran.step.first];
    const Node& node = graph_.nodes[id];
    const BatchRule& rule = node.form->batch.value;
    if (!rule.has_products() || id >= gradient_.size()) continue;
    for (std::size_t k = rule.first_pair; k + 1 < ran.arity; k += 2) {
      const NodeId matrix = ran.args[k * ran.step.count];
      const Dim& w = graph_.nodes[matrix].dim;
      if (w.bd != 1 || w.rows() < 2 || w.cols() < 2 ||
          (!ran.step.terms.all() && !ran.step.terms.has(rule.term_of(k))))
        continue;
      Gradient& g = gradient_[matrix];
      if (g.transposed == 0) {
        transposed_.push_back({matrix, 0, nullptr});
        g.transposed = static_cast<std::uint32_t>(transposed_.size());
      }
      transposed_[g.transposed - 1].columns +=
          std::size_t{ran.step.count} * node.dim.cols() * node.dim.bd;
    }
  }
  if (helpers())  // threads find them ready
    for (const TransposedMatrix& t : transposed_) transposed(t.matrix);
}

// The transpose of a matrix, if it is multiplied with enough columns to be worth it.
template <class T>
const T* Executor<T>::transposed(NodeId matrix) {
  constexpr std::size_t kEnough = 32;
  if (gradient_[matrix].transposed == 0 || backend(matrix).on_device()) return nullptr;
  TransposedMatrix& t = transposed_[gradient_[matrix].transposed - 1];
  if (t.columns < kEnough) return nullptr;
  if (!t.memory) {
    const Dim& dim = graph_.nodes[matrix].dim;
    t.memory = context(matrix).gradients.template allocate_array<T>(dim.size());
    cpu::transpose(dim.rows(), dim.cols(), value_[matrix], t.memory);
  }
  return t.memory;
}

// One reader less: after the last one the memory goes to the next gradient.
template <class T>
void Executor<T>::done_with(NodeId id, typename Pool<T>::Pieces pieces) {
  Gradient& g = gradient_[id];
  if (--g.readers > 0 || g.in_buffer) return;
  pieces.give_back(g.memory);
  g.memory = nullptr;
}

// All nodes of a step; on a device, where a few steps may run as one kernel that reads and writes
// in any order, of one that lies so far back.
template <class T>
void Executor<T>::done_with(std::uint32_t at) {
  if (backend(order_[steps_[at].step.first]).on_device()) {
    std::uint32_t& slot = late_[late_steps_++ % kLate];
    std::swap(at, slot);
    if (late_steps_ <= kLate) return;
  }
  const Step& step = steps_[at].step;
  const auto pieces = pieces_for(order_[step.first]);
  for (std::uint32_t i = step.first; i < step.first + step.count; ++i)
    if (order_[i] < gradient_.size() && gradient_[order_[i]].state == Gradient::written)
      done_with(order_[i], pieces);
}

template <class T>
void Executor<T>::backward_region(const Region& region) {
  bool shared_out = region.shared_out && region.backward && !full_ && helpers();
  // A matrix that is computed gets its gradient from uses that wait, in its turn.
  for (std::uint32_t s = region.first; shared_out && s < region.end; ++s) {
    const Step& step = steps_[s].step;
    for (std::uint32_t i = step.first; i < step.first + step.count; ++i)
      if (order_[i] < gradient_.size() && gradient_[order_[i]].last_use != kNoUse &&
          graph_.nodes[order_[i]].form->kind != Kind::parameter)
        shared_out = false;
  }
  if (shared_out)
    workers_->run(region.owners, [&](unsigned owner) {
      for (std::uint32_t s = region.end; s-- > region.first;) backward_step(s, owner);
    });
  for (std::uint32_t s = region.end; s-- > region.first;) {
    const Step step = steps_[s].step;
    const Kind kind = graph_.nodes[order_[step.first]].form->kind;
    if (kind == Kind::parameter || computed_wait_ > 0)
      for (std::uint32_t i = step.first; i < step.first + step.count; ++i)
        if (order_[i] < gradient_.size() && gradient_[order_[i]].last_use != kNoUse)
          backward_shared(order_[i]);
    if (!shared_out) backward_step(s, kEverybody);
    if (kind == Kind::lookup) scatter_rows(step);
    note_uses(s);
    if (!retains_gradients_ && !step.accumulates) done_with(s);
  }
}

// The nodes of one owner, without those that the loss does not depend on; gradients of operands are
// left to the caller.
template <class T>
GradientBatch<T> Executor<T>::live_batch(const Ran& ran, unsigned owner, Scratch& scratch) {
  const NodeId* ids = order_.data() + ran.step.first;
  const std::size_t all = ran.step.count, arity = ran.arity;
  const auto live = [&](std::size_t i) {  // another owner's gradients are not even looked at
    return (owner == kEverybody || owner_[ran.step.first + i] == owner) &&
           ids[i] < gradient_.size() && gradient_[ids[i]].state == Gradient::written;
  };
  scratch.handed.resize_uninitialized((2 * arity + 3) * all);
  T** d_outs = scratch.handed.data();
  std::size_t count = 0;
  for (std::size_t i = 0; i < all; ++i)
    if (live(i)) d_outs[count++] = gradient_[ids[i]].memory;
  GradientBatch<T> b{{graph_, ids, count, arity, ran.outs, ran.ins, ran.auxs, run_number_},
                     d_outs,
                     d_outs + count,
                     nullptr,
                     nullptr};
  scratch.args.clear();
  if (count == 0) return b;
  scratch.writes.resize_uninitialized(arity * count);
  b.writes = scratch.writes.data();
  if (count == all) return b;
  T** outs = d_outs + (arity + 1) * count;
  T** auxs = outs + count;
  T** ins = auxs + count;
  scratch.live.clear();
  NodeId* args = scratch.args.append(arity * count);
  for (std::size_t i = 0, to = 0; i < all; ++i) {
    if (!live(i)) continue;
    scratch.live.push_back(ids[i]);
    outs[to] = ran.outs[i];
    auxs[to] = ran.auxs[i];
    for (std::size_t k = 0; k < arity; ++k) {
      ins[k * count + to] = ran.ins[k * all + i];
      args[k * count + to] = ran.args[k * all + i];
    }
    ++to;
  }
  b.ids = scratch.live.data();
  b.outs = outs;
  b.ins = ins;
  b.auxs = auxs;
  return b;
}

// The gradients of operands, but for what products share: see note_uses.
template <class T>
void Executor<T>::backward_step(std::uint32_t at, unsigned owner) {
  const Ran ran = steps_[at];
  const OpForm& form = *graph_.nodes[order_[ran.step.first]].form;
  const bool transfer = form.kind == Kind::transfer;
  if (form.kind == Kind::parameter || form.kind == Kind::lookup || ran.arity == 0 ||
      (!transfer && !Backend<T>::has_backward(form)))
    return;
  Scratch& scratch = scratch_[owner == kEverybody ? 0 : owner];
  GradientBatch<T> b = live_batch(ran, owner, scratch);
  if (b.count == 0) return;

  // In the order in which the kernel writes: operand by operand, node by node.
  T** d_ins = scratch.handed.data() + b.count;
  const NodeId* args = scratch.args.empty() ? ran.args : scratch.args.data();
  const BatchRule& rule = form.batch.value;
  bool any = false;
  for (std::size_t k = 0; k < b.arity; ++k) {
    if (rule.shares(k) || !(ran.step.terms.all() || ran.step.terms.has(rule.term_of(k)))) {
      std::fill_n(d_ins + k * b.count, b.count, nullptr);
      continue;
    }
    const auto pieces = pieces_for(args[k * b.count]);
    for (std::size_t to = k * b.count; to < (k + 1) * b.count; ++to) {
      if (gradient_[args[to]].state == Gradient::none) {
        d_ins[to] = nullptr;
        continue;
      }
      const Slot<T> slot = gradient_slot(args[to], pieces);
      d_ins[to] = slot.g;
      scratch.writes[to] = slot.adds ? Write::add : Write::store;
      any = true;
    }
    if (rule.has_products()) {
      // A number that no other batch of any thread has.
      scratch.batch += static_cast<std::uint32_t>(scratch_.size());
      const std::uint32_t batch = scratch.batch + (owner == kEverybody ? 0 : owner);
      for (std::size_t to = k * b.count; to < (k + 1) * b.count; ++to) {
        if (!d_ins[to]) continue;
        Gradient& g = gradient_[args[to]];
        if (g.batch == batch) scratch.writes[to] = Write::again;
        g.batch = batch;
      }
    }
  }
  if (!any) return;
  if (rule.has_products()) {
    scratch.transposed.clear();
    scratch.transposed.resize(b.arity, nullptr);
    for (std::size_t k = rule.first_pair; k + 1 < b.arity; k += 2)
      scratch.transposed[k] = d_ins[(k + 1) * b.count] ? transposed(args[k * b.count]) : nullptr;
    b.transposed = scratch.transposed.data();
  }
  Backend<T>& here = backend(b.ids[0]);
  if (transfer)
    receive_gradients(here, b, args[0], d_ins);
  else
    here.backward(form, b);
  if (check_) [[unlikely]]
    for (std::size_t to = 0; to < b.arity * b.count; ++to)
      if (d_ins[to]) check_backward(b.ids[to % b.count], d_ins[to], args[to]);
}

// The gradients of what was transferred go back.
template <class T>
void Executor<T>::receive_gradients(Backend<T>& from, const GradientBatch<T>& b, NodeId operand,
                                    T* const* d_ins) {
  forget_noted();
  for (std::size_t i = 0; i < b.count; ++i)
    if (d_ins[i]) note_copy(b.d_out(i), d_ins[i], b.write(0, i));
  backend(operand).receive(from, from_.size(), b.dim().size(), from_.data(), to_.data(),
                           how_.data());
}

template <class T>
void Executor<T>::note_uses(std::uint32_t at) {
  const Ran& ran = steps_[at];
  const NodeId first = order_[ran.step.first];
  const BatchRule& rule = graph_.nodes[first].form->batch.value;
  if (!rule.has_products()) return;
  const auto each_live = [&](auto action) {
    for (std::uint32_t i = ran.step.first; i < ran.step.first + ran.step.count; ++i)
      if (const NodeId id = order_[i];
          id < gradient_.size() && gradient_[id].state == Gradient::written)
        action(gradient_[id]);
  };
  const Dim& dim = graph_.nodes[first].dim;
  std::uint32_t live = 0, uses = 0;
  each_live([&](Gradient&) { ++live; });
  if (live == 0) return;
  const std::size_t columns = std::min(std::size_t{live} * dim.cols() * dim.bd, kEnoughColumns);
  for (std::uint32_t k = 0; k < ran.arity; ++k) {
    if (!rule.shares(k) || !(ran.step.terms.all() || ran.step.terms.has(rule.term_of(k)))) continue;
    Gradient& shared = gradient_[ran.args[k * ran.step.count]];
    if (shared.state == Gradient::none) continue;
    computed_wait_ += shared.last_use == kNoUse && !shared.in_buffer;
    uses_.push_back({at, k, shared.last_use});
    shared.last_use = static_cast<std::uint32_t>(uses_.size() - 1);
    shared.columns += static_cast<std::uint32_t>(columns);
    ++uses;
  }
  each_live([&](Gradient& g) { g.readers += uses; });
  for (std::uint32_t k = 0; uses > 0 && k < ran.arity; ++k)
    if (const NodeId shared = ran.args[k * ran.step.count];
        rule.shares(k) && gradient_[shared].columns >= kEnoughColumns &&
        !backend(first).on_device())
      backward_shared(shared);
}

// The gradient of a node that the products of its users have in common: all uses that are alike at
// once, in the order in which the users ran. What else a user has is not looked at: there may be as
// many uses as operands.
template <class T>
void Executor<T>::backward_shared(NodeId shared) {
  const auto alike = [&](const Use& x, const Use& y) {
    const Ran &p = steps_[x.step], &q = steps_[y.step];
    const Node &a = graph_.nodes[order_[p.step.first]], &b = graph_.nodes[order_[q.step.first]];
    if (x.operand != y.operand || a.form != b.form || a.arity != b.arity || a.dim != b.dim)
      return false;
    for (std::size_t k = x.operand; k < std::min<std::size_t>(x.operand + 2, p.arity); ++k)
      if (graph_.nodes[p.args[k * p.step.count]].dim != graph_.nodes[q.args[k * q.step.count]].dim)
        return false;
    return true;
  };
  for (std::uint32_t use = gradient_[shared].last_use; use != kNoUse;) {
    const std::uint32_t first = use;
    std::size_t count = 0;
    for (; use != kNoUse && (use == first || alike(uses_[first], uses_[use]));
         use = uses_[use].next)
      count += steps_[uses_[use].step].step.count;
    backward_shared(shared, uses_[first].operand, first, use, count);
  }
  Gradient& g = gradient_[shared];
  computed_wait_ -= g.last_use != kNoUse && !g.in_buffer;
  g.last_use = kNoUse;
  g.columns = 0;
}

// Of `count` nodes, among them some that the loss may not depend on. Only the shared operand, the
// one behind it, and gradients are handed to the kernel.
template <class T>
void Executor<T>::backward_shared(NodeId shared, std::size_t operand, std::uint32_t first_use,
                                  std::uint32_t end_use, std::size_t count) {
  const Ran& first = steps_[uses_[first_use].step];
  const std::size_t arity = first.arity;
  Scratch& scratch = scratch_[0];
  PodVector<NodeId>& live = scratch.live;
  live.clear();
  for (std::uint32_t use = first_use; use != end_use; use = uses_[use].next) {
    const Step& s = steps_[uses_[use].step].step;
    for (std::uint32_t i = s.first; i < s.first + s.count; ++i)
      if (const NodeId id = order_[i];
          id < gradient_.size() && gradient_[id].state == Gradient::written)
        live.push_back(id);
  }
  const bool all = live.size() == count;
  count = live.size();
  scratch.handed.resize_uninitialized((arity + 3) * count);
  scratch.writes.resize_uninitialized(arity * count);
  if (nothing_.size() < arity * count) nothing_.resize(arity * count, nullptr);
  T** d_outs = scratch.handed.data();
  T** outs = d_outs + count;
  T** auxs = outs + count;
  T** ins = auxs + count;
  T** d_ins = nothing_.data();
  std::size_t to = 0;
  for (std::uint32_t use = first_use; use != end_use; use = uses_[use].next) {
    const Ran& ran = steps_[uses_[use].step];
    const std::size_t n = ran.step.count;
    for (std::size_t i = 0; i < n; ++i) {
      const NodeId id = order_[ran.step.first + i];
      if (!all && (to == count || live[to] != id)) continue;
      d_outs[to] = gradient_[id].memory;
      outs[to] = ran.outs[i];
      auxs[to] = ran.auxs[i];
      for (std::size_t k = operand; k < std::min(operand + 2, arity); ++k)
        ins[k * count + to] = ran.ins[k * n + i];
      ++to;
    }
  }
  const std::size_t elements = graph_.nodes[shared].dim.size();
  const Slot<T> slot = gradient_slot(shared, pieces_for(shared));
  struct Handed {  // only while the kernel runs
    T** d_ins;
    std::size_t count;
    ~Handed() { std::fill_n(d_ins, count, nullptr); }
  } const handed{d_ins + operand * count, count};
  std::fill_n(handed.d_ins, count, slot.g);
  std::fill_n(scratch.writes.data() + operand * count, count, Write::again);
  scratch.writes[operand * count] = slot.adds ? Write::add : Write::store;
  GradientBatch<T> b{{graph_, live.data(), count, arity, outs, ins, auxs, run_number_},
                     d_outs,
                     d_ins,
                     scratch.writes.data(),
                     nullptr};
  b.first = operand;
  b.end = operand + 1;
  const OpForm& form = *graph_.nodes[live[0]].form;
  Backend<T>& here = backend(shared);
  if (Workers* const workers = elements * count > kElementsWorthSharing ? helpers() : nullptr) {
    b.shares = workers->threads() * 2;
    workers->run(b.shares, [&](unsigned share) {
      GradientBatch<T> mine = b;
      mine.share = share;
      here.backward(form, mine);
    });
  } else {
    here.backward(form, b);
  }
  if (check_) [[unlikely]]
    check_backward(live[0], slot.g, shared);
  if (retains_gradients_) return;
  const auto pieces = pieces_for(live[0]);
  for (const NodeId id : live) done_with(id, pieces);
}

template <class T>
void Executor<T>::scatter_rows(const Step& step) {
  if (again_) return;
  DeviceContext<T>& here = context(order_[step.first]);
  ParameterStorageBase& table = *graph_.attr<LookupAttr>(graph_.nodes[order_[step.first]]).table;
  const std::size_t size = table.row_size();
  forget_noted();
  for (std::uint32_t i = step.first; i < step.first + step.count; ++i) {
    const NodeId id = order_[i];
    const Node& n = graph_.nodes[id];
    if (id >= gradient_.size() || gradient_[id].state != Gradient::written || !n.needs_gradient())
      continue;
    const auto* rows = reinterpret_cast<const std::uint32_t*>(aux_[id]);
    for (unsigned b = 0; b < n.dim.bd; ++b) {
      const Slot<T> slot = here.parameters.use_row(table, rows[b]);
      note_copy(gradient_[id].memory + b * size, slot.g, slot.adds ? Write::add : Write::store);
    }
  }
  copy_noted(here, size);
}

template <class T>
T* Executor<T>::gradient(NodeId id) {
  if (id >= differentiated_)
    throw ArgumentError(lost_ ? "gradient: the loss was reverted, and backward keeps the gradients "
                                "of other expressions only as backward(loss, true)"
                              : "gradient: no backward pass has covered this expression");
  if (gradient_[id].state == Gradient::written && !gradient_[id].memory) backward_again();
  Gradient& g = gradient_[id];
  if (g.state != Gradient::written) {
    const std::size_t n = graph_.nodes[id].dim.size();
    g.memory = context(id).gradients.template allocate_array<T>(n);
    const bool constant_loss = id + 1 == differentiated_ && !lost_;  // any other was written
    backend(id).fill(g.memory, n, T(constant_loss ? 1 : 0), false);
    backend(id).start();
    g.state = Gradient::written;
  }
  return g.memory;
}

// The same pass once more, for what the first one has not kept.
template <class T>
void Executor<T>::backward_again() {
  if (parameters_changed(differentiated_at_))
    throw ArgumentError(
        "gradient: the parameters have changed since the backward pass, which kept only their own "
        "gradients; ask before the update, or call backward(loss, true), which keeps all");
  in_buffers_.clear();
  for (NodeId id = 0; id < gradient_.size(); ++id)
    if (gradient_[id].memory && graph_.nodes[id].form->kind == Kind::parameter)
      in_buffers_.push_back({id, gradient_[id].memory});
  again_ = true;
  try {
    backward(differentiated_ - 1);
  } catch (...) {
    again_ = false;
    throw;
  }
  again_ = false;
  for (const InBuffer& p : in_buffers_) gradient_[p.id].memory = p.memory;
}

#define DYNET_INSTANTIATE(T)                                                                    \
  template void Executor<T>::backward(NodeId, bool);                                            \
  template void Executor<T>::prepare_gradients(NodeId);                                         \
  template void Executor<T>::lay_out_gradients(NodeId);                                         \
  template void Executor<T>::count_columns();                                                   \
  template const T* Executor<T>::transposed(NodeId);                                            \
  template Slot<T> Executor<T>::buffer_slot(NodeId);                                            \
  template void Executor<T>::backward_region(const Region&);                                    \
  template GradientBatch<T> Executor<T>::live_batch(const Ran&, unsigned, Scratch&);            \
  template void Executor<T>::backward_step(std::uint32_t, unsigned);                            \
  template void Executor<T>::receive_gradients(Backend<T>&, const GradientBatch<T>&, NodeId,    \
                                               T* const*);                                      \
  template void Executor<T>::note_uses(std::uint32_t);                                          \
  template void Executor<T>::done_with(NodeId, Pool<T>::Pieces);                                \
  template void Executor<T>::done_with(std::uint32_t);                                          \
  template void Executor<T>::backward_again();                                                  \
  template void Executor<T>::backward_shared(NodeId);                                           \
  template void Executor<T>::backward_shared(NodeId, std::size_t, std::uint32_t, std::uint32_t, \
                                             std::size_t);                                      \
  template void Executor<T>::scatter_rows(const Step&);                                         \
  template T* Executor<T>::gradient(NodeId);
DYNET_INSTANTIATE(float)
DYNET_INSTANTIATE(double)
#undef DYNET_INSTANTIATE

}  // namespace dynet
