#include <algorithm>

#include "dynet-like/plan/plan.h"

namespace dynet {
namespace {

using Signature = PlanScratch::Signature;

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Whether two nodes have one signature, whether or not their form batches.
bool alike(const GraphStore& graph, const Node& a, const Node& b) {
  if (a.form != b.form || a.arity != b.arity || a.dim != b.dim) return false;
  const BatchRule& rule = a.form->batch.value;
  const NodeId *x = graph.args.data() + a.first_arg, *y = graph.args.data() + b.first_arg;
  for (std::size_t k = 0; k < a.arity; ++k)
    if (x[k] != y[k] && (rule.shares(k) || graph.nodes[x[k]].dim != graph.nodes[y[k]].dim))
      return false;
  return std::equal(graph.attrs.data() + a.attr,
                    graph.attrs.data() + a.attr + rule.signature_bytes / 8,
                    graph.attrs.data() + b.attr);
}

std::uint64_t hash(const GraphStore& graph, const Node& n) {
  std::uint64_t h = reinterpret_cast<std::uintptr_t>(n.form);
  const auto add = [&](std::uint64_t x) { h = (h ^ x) * 0x9e3779b97f4a7c15u; };
  const BatchRule& rule = n.form->batch.value;
  add(n.arity + (std::uint64_t{n.dim.bd} << 32));
  add(n.dim.batch_size() + (std::uint64_t{n.dim[0]} << 32));
  if (rule.has_products())
    for (std::size_t k = 0; k < n.arity; ++k)
      if (rule.shares(k)) add(graph.args[n.first_arg + k]);
  for (std::size_t w = 0; w < rule.signature_bytes / 8; ++w) add(graph.attrs[n.attr + w]);
  return h ^ h >> 29;
}

class Batcher {
 public:
  Batcher(const GraphStore& graph, Plan& plan)
      : graph_(graph), plan_(plan), s_(plan.scratch), begin_(plan.begin), n_(plan.end - begin_) {}

  void run() {
    number_signatures();
    find_components();
    find_levels();
    sort();
    emit();
    plan_.place(graph_);
  }

 private:
  const Node& node(std::uint32_t i) const { return graph_.nodes[begin_ + i]; }

  void number_signatures() {
    for (const Signature& sig : s_.signatures)  // of the last plan
      if (!s_.table.empty()) s_.table[sig.slot] = kNone;
    s_.signatures.clear();
    s_.edges.clear();
    s_.signature.resize_uninitialized(n_);
    if (s_.table.empty()) s_.table.resize(64, kNone);
    for (std::uint32_t i = 0; i < n_; ++i) {
      const std::uint32_t sig = number(i);
      s_.signature[i] = sig;
      plan_.first_arg[i] = node(i).first_arg;
      ++s_.signatures[sig].count;
      std::uint32_t last = kNone;  // operands of one kind follow each other
      for (const NodeId a : graph_.args_of(node(i))) {
        if (a < begin_) continue;
        const std::uint32_t from = s_.signature[a - begin_];
        if (from != last) add_edge(from, sig);
        last = from;
      }
    }
  }

  std::uint32_t number(std::uint32_t i) {
    const Node& n = node(i);
    const std::size_t mask = s_.table.size() - 1;
    std::size_t slot = hash(graph_, n) & mask;
    for (; s_.table[slot] != kNone; slot = (slot + 1) & mask)
      if (alike(graph_, graph_.nodes[s_.signatures[s_.table[slot]].first], n))
        return s_.table[slot];
    const auto sig = static_cast<std::uint32_t>(s_.signatures.size());
    s_.signatures.push_back(
        {begin_ + i, static_cast<std::uint32_t>(slot), 0, kNone, kNone, 0, 0, 0, Parts{0}});
    s_.table[slot] = sig;
    if (s_.signatures.size() * 2 > s_.table.size()) grow_table();
    return sig;
  }

  void grow_table() {
    const std::size_t size = s_.table.size() * 4;
    s_.table.clear();
    s_.table.resize(size, kNone);
    for (std::uint32_t sig = 0; sig < s_.signatures.size(); ++sig) {
      std::size_t slot = hash(graph_, graph_.nodes[s_.signatures[sig].first]) & (size - 1);
      while (s_.table[slot] != kNone) slot = (slot + 1) & (size - 1);
      s_.table[slot] = sig;
      s_.signatures[sig].slot = static_cast<std::uint32_t>(slot);
    }
  }

  void add_edge(std::uint32_t from, std::uint32_t to) {
    Signature& sig = s_.signatures[to];
    for (std::uint32_t e = sig.edge; e != kNone; e = s_.edges[e].next)
      if (s_.edges[e].from == from) return;
    s_.edges.push_back({from, sig.edge});
    sig.edge = static_cast<std::uint32_t>(s_.edges.size() - 1);
  }

  // Tarjan's strongly connected components (SIAM J. Comput. 1, 1972), without recursion, over the
  // edges from a signature to those of its operands: a component is complete after all that it
  // needs, so they come in an order in which they can run.
  void find_components() {
    s_.components.clear();
    s_.stack.clear();
    std::uint32_t marks = 0;
    const auto enter = [&](std::uint32_t sig) {
      s_.signatures[sig].mark = s_.signatures[sig].low = ++marks;
      s_.stack.push_back(sig);
      s_.path.push_back({sig, s_.signatures[sig].edge});
    };
    for (std::uint32_t root = 0; root < s_.signatures.size(); ++root) {
      if (s_.signatures[root].mark) continue;
      s_.path.clear();
      enter(root);
      while (!s_.path.empty()) {
        PlanScratch::Edge& at = s_.path.back();  // the signature, and its next edge
        Signature& sig = s_.signatures[at.from];
        if (at.next != kNone) {
          const PlanScratch::Edge e = s_.edges[at.next];
          at.next = e.next;
          const Signature& operand = s_.signatures[e.from];
          if (operand.mark == 0)
            enter(e.from);
          else if (operand.component == kNone)
            sig.low = std::min(sig.low, operand.mark);
          continue;
        }
        if (sig.low == sig.mark) close(at.from);
        const std::uint32_t low = sig.low;
        s_.path.truncate(s_.path.size() - 1);
        if (!s_.path.empty()) {
          Signature& user = s_.signatures[s_.path.back().from];
          user.low = std::min(user.low, low);
        }
      }
    }
  }

  void close(std::uint32_t sig) {
    const auto component = static_cast<std::uint32_t>(s_.components.size());
    bool waits = s_.stack.back() != sig;
    for (std::uint32_t e = s_.signatures[sig].edge; e != kNone; e = s_.edges[e].next)
      waits |= s_.edges[e].from == sig;
    s_.components.push_back({waits ? 1u : 0u, 0});
    for (std::uint32_t member = kNone; member != sig;) {
      member = s_.stack.back();
      s_.stack.truncate(s_.stack.size() - 1);
      s_.signatures[member].component = component;
    }
  }

  void find_levels() {
    s_.level.resize_uninitialized(n_);
    for (std::uint32_t i = 0; i < n_; ++i) {
      Signature& sig = s_.signatures[s_.signature[i]];
      PlanScratch::Component& component = s_.components[sig.component];
      s_.level[i] = 0;
      if (component.levels == 0) continue;
      const Node& n = node(i);
      const BatchRule& rule = n.form->batch.value;
      std::uint32_t level = 0;
      for (std::uint32_t k = 0; k < n.arity; ++k) {
        const NodeId a = graph_.args[n.first_arg + k];
        if (a < begin_ || s_.signatures[s_.signature[a - begin_]].component != sig.component)
          continue;
        level = std::max(level, s_.level[a - begin_] + 1);
        if (rule.has_products()) sig.later.bits |= Parts::bit(rule.part_of(k));
      }
      s_.level[i] = level;
      component.levels = std::max(component.levels, level + 1);
    }
  }

  // By component, level, signature, and creation: two stable counting sorts.
  void sort() {
    std::uint32_t at = 0;
    for (Signature& sig : s_.signatures) {
      sig.cursor = at;
      at += sig.count;
    }
    s_.by_signature.resize_uninitialized(n_);
    for (std::uint32_t i = 0; i < n_; ++i)
      s_.by_signature[s_.signatures[s_.signature[i]].cursor++] = i;

    std::uint32_t ranks = 0;
    for (PlanScratch::Component& c : s_.components) {
      c.first_rank = ranks;
      ranks += std::max(c.levels, 1u);
    }
    s_.rank_count.clear();
    s_.rank_count.resize(ranks + 1, 0);
    for (std::uint32_t i = 0; i < n_; ++i) ++s_.rank_count[rank(i) + 1];
    for (std::uint32_t r = 0; r < ranks; ++r) s_.rank_count[r + 1] += s_.rank_count[r];
    s_.by_rank.resize_uninitialized(n_);
    for (const std::uint32_t i : s_.by_signature) s_.by_rank[s_.rank_count[rank(i)]++] = i;
  }

  std::uint32_t rank(std::uint32_t i) const {
    return s_.components[s_.signatures[s_.signature[i]].component].first_rank + s_.level[i];
  }

  void emit() {
    std::uint32_t component = kNone;
    for (std::uint32_t i = 0; i < n_;) {
      const std::uint32_t sig = s_.signature[s_.by_rank[i]];
      Signature& of = s_.signatures[sig];
      if (of.component != component) {
        component = of.component;
        if (s_.components[component].levels > 0) emit_earlier_parts(i);
      }
      const std::uint32_t level = s_.level[s_.by_rank[i]];
      const bool batches = graph_.nodes[of.first].form->batch.value.batches;
      const auto first = static_cast<std::uint32_t>(plan_.order.size());
      std::uint32_t count = 0;
      do {
        plan_.order.push_back(begin_ + s_.by_rank[i]);
        ++count;
        ++i;
      } while (batches && i < n_ && s_.signature[s_.by_rank[i]] == sig &&
               s_.level[s_.by_rank[i]] == level);
      plan_.steps.push_back({first, count});
      if (of.mark == kSplit) {
        Step& step = plan_.steps.back();
        step.parts = of.later;
        step.goes_on = true;
        std::copy_n(plan_.order.data() + first, count, plan_.order.data() + of.cursor);
        of.cursor += count;
      }
    }
  }

  static constexpr std::uint32_t kSplit = kNone;

  // For every sum of products in the component whose first node is by_rank[i]: a step for those
  // parts that do not wait for the component.
  void emit_earlier_parts(std::uint32_t i) {
    const std::uint32_t component = s_.signatures[s_.signature[s_.by_rank[i]]].component;
    for (; i < n_; ++i) {
      Signature& sig = s_.signatures[s_.signature[s_.by_rank[i]]];
      if (sig.component != component) break;
      if (sig.mark == kSplit || sig.mark == 0) continue;
      sig.mark = 0;  // looked at
      const Node& n = graph_.nodes[sig.first];
      const BatchRule& rule = n.form->batch.value;
      if (!rule.has_products() || n.arity == 0) continue;
      std::uint32_t pairs = 0;
      for (std::size_t k = rule.first_pair; k < n.arity; k += 2)
        pairs |= Parts::bit(rule.part_of(k));
      if ((pairs & ~sig.later.bits) == 0) continue;
      sig.mark = kSplit;
      sig.cursor = static_cast<std::uint32_t>(plan_.order.size());
      plan_.order.append(sig.count);
      plan_.steps.push_back({sig.cursor, sig.count, Parts{~sig.later.bits}, false});
    }
  }

  const GraphStore& graph_;
  Plan& plan_;
  PlanScratch& s_;
  const NodeId begin_;
  const std::uint32_t n_;
};

}  // namespace

bool same_signature(const GraphStore& graph, const Node& a, const Node& b) {
  return a.form->batch.value.batches && alike(graph, a, b);
}

void plan_in_batches(const GraphStore& graph, NodeId begin, NodeId end, Plan& plan) {
  if (end - begin < 3) return plan_in_order(graph, begin, end, plan);
  plan.reset(begin, end);
  Batcher(graph, plan).run();
}

}  // namespace dynet
