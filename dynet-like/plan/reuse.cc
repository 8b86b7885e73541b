#include <algorithm>

#include "dynet-like/plan/batcher.h"
#include "dynet-like/plan/memory.h"
#include "dynet-like/plan/policies.h"

namespace dynet {
namespace {

using Component = PlanScratch::Component;
using Free = PlanScratch::Free;

constexpr std::uint64_t kWindow = std::uint64_t{1} << 18;  // elements: 1 MiB of floats

// Of the last nodes, so many keep their values in any case, and more while they are small.
constexpr std::uint32_t kLast = 128, kMostLast = 1024;
constexpr std::uint64_t kLastElements = std::uint64_t{1} << 16;

constexpr std::size_t kMostFree = 64;  // pieces; smaller ones are lost

// Elements of value and scratch, as far as it matters here.
std::uint64_t memory_of(const GraphStore& graph, const Node& n) {
  const std::uint64_t value = has_memory(n) ? n.dim.size() : 0;
  return std::min(value, kWindow) + std::min(aux_size(graph, n), kWindow);
}

/// Cuts a graph into windows of time. Time is the number of steps inside components that loop, on
/// the longest way to a node; what no such component comes before waits for its first user.
class TimeWindows {
 public:
  TimeWindows(const GraphStore& graph, PlanScratch& scratch, Plan& plan)
      : graph_(graph), plan_(plan), s_(scratch), n_(plan.end - plan.begin) {}

  /// Gives every node a window and returns how many there are.
  std::uint32_t find() {
    find_times();
    for (std::uint32_t i = n_; i-- > 0;) {
      if (s_.time[i] == kNone) s_.time[i] = 0;  // nobody uses it
      for_operands(i, [&](std::uint32_t a) { s_.time[a] = std::min(s_.time[a], s_.time[i]); });
    }
    return cut();
  }

 private:
  // Operands in the plan, counted from its begin.
  template <class F>
  void for_operands(std::uint32_t i, F&& f) const {
    const NodeId* args = graph_.args.data() + plan_.first_arg[i];
    const std::uint32_t arity = s_.signatures.all[s_.signatures.of[i]].arity;
    for (std::uint32_t k = 0; k < arity; ++k)
      if (args[k] >= plan_.begin) f(args[k] - plan_.begin);
  }

  // kNone for what no component that loops comes before.
  void find_times() {
    s_.time.resize_uninitialized(n_);
    for (std::uint32_t i = 0; i < n_; ++i) {
      const Component& c = s_.components[s_.members[s_.signatures.of[i]].component];
      std::uint32_t time = c.loops ? 0 : kNone;
      for_operands(i, [&](std::uint32_t a) {
        if (s_.time[a] == kNone) return;
        const std::uint32_t now = s_.time[a] + (c.loops && s_.rank[a] >= c.first_rank);
        time = time == kNone ? now : std::max(time, now);
      });
      s_.time[i] = time;
    }
  }

  std::uint32_t cut() {
    s_.amount.clear();
    for (std::uint32_t i = 0; i < n_; ++i) {
      if (s_.time[i] >= s_.amount.size()) s_.amount.resize(s_.time[i] + 1, 0);
      s_.amount[s_.time[i]] += memory_of(graph_, graph_.nodes[plan_.begin + i]);
    }
    std::uint32_t window = 0;
    std::uint64_t sum = 0;
    for (std::uint64_t& amount : s_.amount) {
      if (sum > 0 && sum + amount > kWindow) {
        ++window;
        sum = 0;
      }
      sum += amount;
      amount = window;
    }
    s_.window.resize_uninitialized(n_);
    for (std::uint32_t i = 0; i < n_; ++i)
      s_.window[i] = static_cast<std::uint32_t>(s_.amount[s_.time[i]]);
    return window + 1;
  }

  const GraphStore& graph_;
  Plan& plan_;
  PlanScratch& s_;
  const std::uint32_t n_;
};

/// Places the values of a plan whose steps are made. Memory is free again after the last use.
class MemoryLayout {
 public:
  MemoryLayout(const GraphStore& graph, PlanScratch& scratch, Plan& plan)
      : graph_(graph), plan_(plan), s_(scratch), n_(plan.end - plan.begin) {}

  void run() {
    find_roots();
    find_last_uses();
    keep_what_may_be_asked_for();
    list_by_last_use();
    s_.free.clear();
    for (std::uint32_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      if (!step.accumulates) lay_out(step);
      for (std::uint32_t i = s_.first_freed[s]; i != kNone;) {
        Free f{plan_.value[i], size_of(i)};  // with its neighbours
        while ((i = s_.next[i]) != kNone && plan_.value[i] == f.at + f.size) f.size += size_of(i);
        give_back(f);
      }
    }
  }

 private:
  const Node& node(std::uint32_t i) const { return graph_.nodes[plan_.begin + i]; }
  std::uint64_t size_of(std::uint32_t i) const { return node(i).dim.size(); }

  // The node of the plan in whose memory a value lies, or kNone.
  void find_roots() {
    s_.root.resize_uninitialized(n_);
    for (std::uint32_t i = 0; i < n_; ++i) {
      s_.root[i] = has_memory(node(i)) ? i : kNone;
      if (node(i).form->kind != Kind::alias) continue;
      const NodeId operand = graph_.args[plan_.first_arg[i]];
      if (operand >= plan_.begin) s_.root[i] = s_.root[operand - plan_.begin];
    }
  }

  // By root: the last step that needs its memory, or kNone if that is to be kept.
  void find_last_uses() {
    s_.last.clear();
    s_.last.resize(n_, kNone);
    plan_.freed.clear();
    plan_.freed.resize(n_, false);  // for the time being: whether somebody uses it
    for (std::uint32_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      const NodeId* ids = plan_.order.data() + step.first;
      const BatchRule& rule = graph_.nodes[ids[0]].form->batch.value;
      for (std::uint32_t i = 0; i < step.count; ++i) {
        const Node& n = graph_.nodes[ids[i]];
        for (std::uint32_t k = 0; k < n.arity; ++k) {
          const NodeId a = graph_.args[n.first_arg + k];
          if (a < plan_.begin || !(step.terms.all() || step.terms.has(rule.term_of(k)))) continue;
          plan_.freed[a - plan_.begin] = true;
          needs(a - plan_.begin, s);
        }
      }
    }
    for (std::uint32_t i = 0; i < n_; ++i)
      if (!plan_.freed[i] || node(i).reads_pointer()) needs(i, kNone);
  }

  void needs(std::uint32_t i, std::uint32_t step) {
    if (s_.root[i] != kNone) s_.last[s_.root[i]] = step;
  }

  // By nodes that are there and by nodes to come. Of the former only so many are looked at that
  // planning a graph piece by piece does not take the square of its size.
  void keep_what_may_be_asked_for() {
    const auto size = static_cast<NodeId>(graph_.nodes.size());
    for (NodeId id = plan_.end; id < size && id - plan_.end < kMostLast + 4 * n_; ++id)
      for (const NodeId a : graph_.args_of(graph_.nodes[id]))
        if (a >= plan_.begin && a < plan_.end) needs(a - plan_.begin, kNone);
    std::uint64_t elements = 0;
    for (std::uint32_t k = 0; k < std::min(n_, kMostLast); ++k) {
      const std::uint32_t i = n_ - 1 - k;
      elements += has_memory(node(i)) ? std::min(size_of(i), kLastElements) : 0;
      if (k >= kLast && elements > kLastElements) break;
      needs(i, kNone);
    }
  }

  void list_by_last_use() {
    s_.next.resize_uninitialized(n_);
    s_.first_freed.clear();
    s_.first_freed.resize(plan_.steps.size(), kNone);
    for (std::uint32_t i = n_; i-- > 0;) {
      const std::uint32_t root = s_.root[i];
      plan_.freed[i] = root != kNone && s_.last[root] != kNone;
      if (root != i || !plan_.freed[i]) continue;
      s_.next[i] = s_.first_freed[s_.last[i]];
      s_.first_freed[s_.last[i]] = i;
    }
  }

  void lay_out(const Step& step) {
    const NodeId* ids = plan_.order.data() + step.first;
    const Node& first = graph_.nodes[ids[0]];
    lay_out_values(first, ids, step.count);
    std::uint64_t scratch = 0;
    for (std::uint32_t k = 0; k < step.count; ++k) {
      const std::uint32_t i = ids[k] - plan_.begin;
      const std::uint64_t need = aux_size(graph_, graph_.nodes[ids[k]]);
      if (need > kMostElements) throw_too_large();
      plan_.aux[i] = need ? scratch : Plan::kNoMemory;
      scratch += aligned(need, alignment(need));
      if (scratch > kMostElements) throw_too_large();
    }
    if (scratch == 0) return;
    const std::uint64_t begin = allocate(scratch, 16);
    for (std::uint32_t k = 0; k < step.count; ++k)
      if (std::uint64_t& aux = plan_.aux[ids[k] - plan_.begin]; aux != Plan::kNoMemory)
        aux += begin;
    if (step.terms.all()) give_back({begin, scratch});  // nothing runs backward
  }

  void lay_out_values(const Node& first, const NodeId* ids, std::uint32_t count) {
    const std::uint64_t size = first.dim.size();
    if (!has_memory(first)) {
      for (std::uint32_t k = 0; k < count; ++k) plan_.value[ids[k] - plan_.begin] = Plan::kNoMemory;
    } else if (first.form->batch.value.ragged.in_value()) {
      for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint64_t own = graph_.nodes[ids[k]].dim.size();
        if (own > kMostElements) throw_too_large();
        plan_.value[ids[k] - plan_.begin] = allocate(own, alignment(own));
      }
    } else {
      if (size > kMostElements >> 32 && size > kMostElements / count) throw_too_large();
      const std::uint64_t at = allocate(size * count, alignment(size));
      for (std::uint32_t k = 0; k < count; ++k) plan_.value[ids[k] - plan_.begin] = at + k * size;
    }
  }

  // In the smallest free piece that is large enough, or at the end.
  std::uint64_t allocate(std::uint64_t size, std::uint64_t alignment) {
    const Free* best = nullptr;
    std::uint64_t smallest = ~std::uint64_t{0};
    for (const Free& f : s_.free) {
      if (f.size < size || f.size >= smallest) continue;
      if (aligned(f.at, alignment) + size > f.at + f.size) continue;
      best = &f;
      smallest = f.size;
    }
    Free from{plan_.extent, 0};
    if (best)
      from = *best;
    else if (!s_.free.empty() && s_.free.back().at + s_.free.back().size == plan_.extent)
      from = s_.free.back();
    if (from.size > 0) erase(from.at);
    const std::uint64_t at = aligned(from.at, alignment), end = from.at + from.size;
    give_back({from.at, at - from.at});
    if (best) give_back({at + size, end - at - size});
    plan_.extent = std::max(plan_.extent, at + size);
    if (plan_.extent > kMostElements) throw_too_large();
    return at;
  }

  Free* find(std::uint64_t at) {
    return std::lower_bound(s_.free.begin(), s_.free.end(), at,
                            [](const Free& f, std::uint64_t x) { return f.at < x; });
  }

  void erase(std::uint64_t at) {
    Free* f = find(at);
    std::copy(f + 1, s_.free.end(), f);
    s_.free.truncate(s_.free.size() - 1);
  }

  void give_back(Free piece) {
    if (piece.size == 0) return;
    Free* next = find(piece.at);
    if (next != s_.free.end() && piece.at + piece.size == next->at) {
      piece.size += next->size;
      erase(next->at);
      next = find(piece.at);
    }
    if (next != s_.free.begin() && next[-1].at + next[-1].size == piece.at) {
      next[-1].size += piece.size;
      return;
    }
    const auto hole = next - s_.free.begin();
    s_.free.append(1);
    next = s_.free.begin() + hole;
    std::copy_backward(next, s_.free.end() - 1, s_.free.end());
    *next = piece;
    if (s_.free.size() > kMostFree) erase(smallest().at);
  }

  const Free& smallest() const {
    return *std::min_element(s_.free.begin(), s_.free.end(),
                             [](const Free& a, const Free& b) { return a.size < b.size; });
  }

  const GraphStore& graph_;
  Plan& plan_;
  PlanScratch& s_;
  const std::uint32_t n_;
};

// The rest of a plan that forgets, once ranks are known.
void finish_with_reuse(const GraphStore& graph, Batcher& batcher, PlanScratch& scratch,
                       Plan& plan) {
  batcher.sort();
  if (const std::uint32_t windows = TimeWindows(graph, scratch, plan).find(); windows > 1)
    batcher.sort_by_window(windows);
  else
    scratch.window.clear();
  batcher.emit();
  MemoryLayout(graph, scratch, plan).run();
}

}  // namespace

void plan_with_reuse(const GraphStore& graph, NodeId begin, NodeId end, PlanScratch& scratch,
                     Plan& plan) {
  if (graph.devices.size() > 1) return plan_in_batches(graph, begin, end, scratch, plan);
  if (end - begin < 3) return plan_in_order(graph, begin, end, scratch, plan);
  plan.reset(begin, end);
  Batcher batcher(graph, scratch, plan);
  batcher.find_ranks();
  finish_with_reuse(graph, batcher, scratch, plan);
}

void plan_for_inference(const GraphStore& graph, NodeId begin, NodeId end, PlanScratch& scratch,
                        Plan& plan) {
  constexpr std::size_t kWorthIt = std::size_t{1} << 21;  // elements
  if (graph.devices.size() > 1) return plan_in_batches(graph, begin, end, scratch, plan);
  if (end - begin < 3) return plan_in_order(graph, begin, end, scratch, plan);
  plan.reset(begin, end);
  Batcher batcher(graph, scratch, plan);
  batcher.find_ranks();
  std::size_t elements = 0;
  for (const Signature& s : scratch.signatures.all)
    elements += s.count * std::min(graph.nodes[s.first].dim.size(), kWorthIt);
  if (elements > kWorthIt) return finish_with_reuse(graph, batcher, scratch, plan);
  batcher.finish();
}

}  // namespace dynet
