#include "dynet-like/plan/batcher.h"

#include <algorithm>
#include <utility>

#include "dynet-like/plan/plan_maker.h"

namespace dynet {
namespace {

constexpr std::uint32_t kSeveral = kNoIndex - 1;  // users of a batch key

// All terms from the first of `terms` on.
Terms and_all_behind(Terms terms) { return {terms.bits | (~terms.bits + 1)}; }

// Whether some pairs of a sum of products do not depend on its component.
bool splits(const BatchKey& s, Terms later) {
  if (!s.has_products()) return false;
  const BatchRule& rule = s.form->batch.value;
  std::uint32_t pairs = 0;
  for (std::size_t k = rule.first_pair; k < s.arity; k += 2) pairs |= Terms::bit(rule.term_of(k));
  return (pairs & ~later.bits) != 0;
}

}  // namespace

// rank = max(rank of operands) + 1, at least the first rank of the component. Operands in other
// components have lower ranks.
void Batcher::find_ranks() {
  s_.keys.assign(graph_, plan_.begin, plan_.end, plan_.first_arg.data());
  find_components();
  s_.ranking.clear();
  for (std::uint32_t key = 0; key < s_.members.size(); ++key) {
    const Component& component = s_.components[s_.members[key].component];
    const BatchKey& s = batch_key(key);
    s_.ranking.push_back({component.first_rank, component.loops ? s.arity : 0,
                          s.has_products() ? &s.form->batch.value : nullptr, 0});
  }
  s_.rank.resize_uninitialized(n_);
  std::uint32_t* const ranks = s_.rank.data();
  PlanScratch::Ranking* const rankings = s_.ranking.data();
  const NodeId* const operands = graph_.args.data();
  const std::uint32_t *const of = s_.keys.of.data(), *const lists = plan_.first_arg.data();
  for (std::uint32_t i = 0; i < n_; ++i) {
    PlanScratch::Ranking& ranking = rankings[of[i]];
    const std::uint32_t first = ranking.first_rank;
    std::uint32_t rank = first;
    const NodeId* const args = operands + lists[i];
    for (std::uint32_t k = 0; k < ranking.operands; ++k) {
      if (args[k] < begin_) continue;
      const std::uint32_t operand = ranks[args[k] - begin_];
      rank = std::max(rank, operand + 1);
      if (ranking.products && operand >= first)
        ranking.later |= Terms::bit(ranking.products->term_of(k));
    }
    ranks[i] = rank;
  }
  for (std::uint32_t key = 0; key < s_.members.size(); ++key)
    s_.members[key].later.bits = s_.ranking[key].later;
  find_splits();
}

// Tarjan's strongly connected components (SIAM J. Comput. 1, 1972), without recursion, over the
// edges from a key to the keys of its operands. A component is complete after all components that
// it depends on, so components are in topological order.
void Batcher::find_components() {
  const auto count = static_cast<std::uint32_t>(s_.keys.all.size());
  s_.members.clear();
  s_.members.resize(count, {kNoIndex, 0, 0, 0, Terms{0}, false, false});
  s_.components.clear();
  s_.by_component.clear();
  s_.stack.clear();
  std::uint32_t marks = 0;
  const auto enter = [&](std::uint32_t key) {
    s_.members[key].mark = s_.members[key].low = ++marks;
    s_.stack.push_back(key);
    s_.path.push_back({key, batch_key(key).edge});
  };
  for (std::uint32_t root = 0; root < count; ++root) {
    if (s_.members[root].mark) continue;
    s_.path.clear();
    enter(root);
    while (!s_.path.empty()) {
      BatchKeys::Edge& at = s_.path.back();  // a key and its next edge
      Member& member = s_.members[at.from];
      if (at.next != kNoIndex) {
        const BatchKeys::Edge e = s_.keys.edges[at.next];
        at.next = e.next;
        const Member& operand = s_.members[e.from];
        if (operand.mark == 0)
          enter(e.from);
        else if (operand.component == kNoIndex)
          member.low = std::min(member.low, operand.mark);
        continue;
      }
      if (member.low == member.mark) close(at.from);
      const std::uint32_t low = member.low;
      s_.path.truncate(s_.path.size() - 1);
      if (!s_.path.empty()) {
        Member& user = s_.members[s_.path.back().from];
        user.low = std::min(user.low, low);
      }
    }
  }
}

// Completes the component of `key`. Ranks count through all components; a component has at most as
// many ranks as nodes.
void Batcher::close(std::uint32_t key) {
  bool loops = s_.stack.back() != key;
  for (std::uint32_t e = batch_key(key).edge; e != kNoIndex; e = s_.keys.edges[e].next)
    loops |= s_.keys.edges[e].from == key;
  const auto component = static_cast<std::uint32_t>(s_.components.size());
  Component c{static_cast<std::uint32_t>(s_.by_component.size()), 0, 0, 0, 0, loops, false};
  if (component > 0) c.first_rank = s_.components.back().first_rank + s_.components.back().ranks;
  for (std::uint32_t member = kNoIndex; member != key;) {
    member = s_.stack.back();
    s_.stack.truncate(s_.stack.size() - 1);
    s_.members[member].component = component;
    s_.by_component.push_back(member);
    c.nodes += batch_key(member).count;
  }
  c.end = static_cast<std::uint32_t>(s_.by_component.size());
  c.ranks = loops ? c.nodes : 1;
  s_.components.push_back(c);
}

void Batcher::find_splits() {
  for (std::uint32_t key = 0; key < s_.members.size(); ++key) {
    Member& member = s_.members[key];
    Component& component = s_.components[member.component];
    // Terms are added from left to right in every window, so all terms after a later term are later
    // terms.
    member.later = and_all_behind(member.later);
    member.split = component.loops && splits(batch_key(key), member.later);
    component.splits |= member.split;
    const BatchKey& s = batch_key(key);
    member.special = member.split || !s.form->batch.value.batches || s.has_own_matrices();
  }
}

void Batcher::sort() {
  s_.cursor.clear();
  s_.cursor.resize(s_.components.back().first_rank + s_.components.back().ranks, 0);
  for (const std::uint32_t rank : s_.rank) ++s_.cursor[rank];
  std::uint32_t at = 0;
  for (const Component& component : s_.components) {  // the last ranks of a component may be empty
    const std::uint32_t end = at + component.nodes;
    for (std::uint32_t* c = s_.cursor.data() + component.first_rank; at < end; ++c) {
      const std::uint32_t count = *c;
      *c = at;
      at += count;
    }
  }
  plan_.order.resize_uninitialized(n_);
  NodeId* const order = plan_.order.data();
  std::uint32_t* const cursor = s_.cursor.data();
  const std::uint32_t* const ranks = s_.rank.data();
  for (std::uint32_t i = 0; i < n_; ++i) order[cursor[ranks[i]]++] = begin_ + i;
}

// Groups each rank of the sorted order by key. Nodes of split sums are appended to the order again
// for the step of their earlier terms.
void Batcher::emit() {
  for (std::uint32_t first = 0; first < n_;) {
    const std::uint32_t key = key_at(first);
    const Component& component = s_.components[s_.members[key].component];
    const std::uint32_t end = first + component.nodes;
    if (component.loops) {
      if (component.splits) emit_earlier_parts(component, first, end);
      emit_ranks(first, end);
    } else {
      emit(key, first, end - first);
    }
    first = end;
  }
}

// s_.cursor[rank] is the end of a rank, so the loop does not wait for the ranks of nodes.
void Batcher::emit_ranks(std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t rank = rank_at(first); first < end; ++rank) {
    const std::uint32_t start = first;
    first = s_.cursor[rank];
    if (first == start + 1)
      emit(key_at(start), start, 1);
    else if (first > start)
      emit_rank(start, first);
  }
}

// Emits a step for the terms of each split sum of products that do not depend on the component.
void Batcher::emit_earlier_parts(const Component& component, std::uint32_t first,
                                 std::uint32_t end) {
  s_.count.resize(s_.keys.all.size(), 0);
  for (std::uint32_t k = first; k < end; ++k) ++s_.count[key_at(k)];
  for (std::uint32_t m = component.first; m < component.end; ++m) {
    const std::uint32_t key = s_.by_component[m];
    Member& member = s_.members[key];
    const std::uint32_t count = s_.count[key];
    s_.count[key] = 0;
    if (!member.split || count == 0) continue;
    member.cursor = static_cast<std::uint32_t>(plan_.order.size());
    plan_.order.append(count);
    plan_.steps.push_back({member.cursor, count, Terms{~member.later.bits}, false});
  }
}

void Batcher::emit_rank(std::uint32_t first, std::uint32_t end) {
  const std::uint32_t key = key_at(first);
  std::uint32_t k = first;
  while (++k < end && key_at(k) == key) continue;
  if (k == end) return emit(key, first, end - first);
  // Group by key, in the order of the first node of each key in this rank.
  s_.stack.clear();
  s_.count.resize(s_.keys.all.size(), 0);
  for (k = first; k < end; ++k)
    if (s_.count[key_at(k)]++ == 0) s_.stack.push_back(key_at(k));
  std::uint32_t start = first;
  for (const std::uint32_t s : s_.stack) {
    const std::uint32_t count = s_.count[s];
    s_.count[s] = start;
    start += count;
  }
  s_.next.resize_uninitialized(end - first);
  std::copy_n(plan_.order.data() + first, end - first, s_.next.data());
  for (const NodeId id : s_.next) plan_.order[s_.count[s_.keys.of[id - begin_]]++] = id;
  start = first;
  for (const std::uint32_t s : s_.stack) {
    emit(s, start, s_.count[s] - start);
    start = s_.count[s];
    s_.count[s] = 0;
  }
}

void Batcher::emit_special(std::uint32_t key, std::uint32_t first, std::uint32_t count) {
  const Member& member = s_.members[key];
  if (!batch_key(key).form->batch.value.batches) {
    Step* steps = plan_.steps.append(count);
    for (std::uint32_t k = 0; k < count; ++k) steps[k] = {first + k, 1};
    return;
  }
  if (batch_key(key).has_own_matrices()) return emit_by_matrix(first, count);
  plan_.steps.push_back({first, count, member.later, true});
  std::copy_n(plan_.order.data() + first, count, plan_.order.data() + member.cursor);
  s_.members[key].cursor += count;
}

// Emits one product for each matrix if many nodes share a matrix, such as a masked parameter;
// otherwise one step with a product for each node.
void Batcher::emit_by_matrix(std::uint32_t first, std::uint32_t count) {
  constexpr std::size_t kFew = 4;  // nodes per matrix, up to which one batched step is faster
  NodeId* const order = plan_.order.data() + first;
  const auto matrix = [&](NodeId id) { return graph_.args[plan_.first_arg[id - begin_]]; };
  const auto by_matrix = [&](NodeId a, NodeId b) {
    return std::pair(matrix(a), a) < std::pair(matrix(b), b);
  };
  s_.next.resize_uninitialized(count);
  std::copy_n(order, count, s_.next.data());
  std::sort(s_.next.begin(), s_.next.end(), by_matrix);
  std::size_t matrices = 1;
  for (std::uint32_t k = 1; k < count; ++k)
    matrices += matrix(s_.next[k]) != matrix(s_.next[k - 1]);
  if (count <= kFew * matrices && matrices > 1) {
    plan_.steps.push_back({first, count});
    return;
  }
  std::copy_n(s_.next.data(), count, order);
  for (std::uint32_t k = 0, end = 0; k < count; k = end) {
    while (end < count && matrix(order[end]) == matrix(order[k])) ++end;
    plan_.steps.push_back({first + k, end - k});
  }
}

// Operands behind the first one do not donate their memory.
void Batcher::keep_other_operands(std::uint32_t key) {
  for (std::uint32_t i = 0; i < n_; ++i)
    if (s_.keys.of[i] == key)
      for (const NodeId a : graph_.args_of(graph_.nodes[begin_ + i]).subspan(1))
        if (a >= begin_) s_.user[s_.keys.of[a - begin_]] = kSeveral;
}

std::span<const Layout> Batcher::find_layouts() {
  const auto count = static_cast<std::uint32_t>(s_.keys.all.size());
  s_.user.clear();
  s_.user.resize(count, kNoIndex);
  for (std::uint32_t key = 0; key < count; ++key)
    for (std::uint32_t e = batch_key(key).edge; e != kNoIndex; e = s_.keys.edges[e].next) {
      std::uint32_t& user = s_.user[s_.keys.edges[e].from];
      user = user == kNoIndex || user == key ? key : kSeveral;
    }
  for (std::uint32_t key = 0; key < count; ++key)
    if (batch_key(key).form->scratch_before_operand) keep_other_operands(key);
  s_.layouts.clear();
  for (std::uint32_t key = 0; key < count; ++key) {
    const OpForm& form = *batch_key(key).form;
    const Node& first = graph_.nodes[batch_key(key).first];
    Layout layout(first);
    layout.in_place = form.reads == Reads::output_in_place;
    layout.donates = form.kind == Kind::compute && !form.second_result &&
                     !reads_output(form.reads) && s_.user[key] < kSeveral &&
                     !(batch_key(key).flags & Node::kReadsPointer);
    if (layout.donates && layout.ragged && !(first.flags & Node::kOnDevice))
      layout.room = batch_key(s_.user[key]).form->scratch_before_operand;
    s_.layouts.push_back(layout);
  }
  return {s_.layouts.data(), count};
}

void Batcher::finish() {
  sort();
  emit();
  plan_.lay_out(graph_, find_layouts(), s_.keys.of.data());
}

void plan_in_batches(const GraphStore& graph, NodeId begin, NodeId end, PlanScratch& scratch,
                     Plan& plan) {
  if (end - begin < 3) return plan_in_order(graph, begin, end, plan);
  plan.reset(begin, end);
  Batcher batcher(graph, scratch, plan);
  batcher.find_ranks();
  batcher.finish();
}

}  // namespace dynet
