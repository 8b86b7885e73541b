#include <algorithm>

#include "dynet-like/plan/plan.h"

namespace dynet {
namespace {

using Member = PlanScratch::Member;
using Component = PlanScratch::Component;

constexpr std::uint32_t kNone = Signature::kNone;

class Batcher {
 public:
  Batcher(const GraphStore& graph, Plan& plan)
      : graph_(graph), plan_(plan), s_(plan.scratch), begin_(plan.begin), n_(plan.end - begin_) {}

  void run() {
    s_.signatures.number(graph_, plan_.begin, plan_.end, plan_.first_arg.data());
    find_components();
    find_ranks();
    lay_out();
    emit();
    plan_.place(graph_);
  }

 private:
  const Signature& signature(std::uint32_t sig) const { return s_.signatures.all[sig]; }

  // Tarjan's strongly connected components (SIAM J. Comput. 1, 1972), without recursion, over the
  // edges from a signature to those of its operands: a component is complete after all that it
  // needs, so they come in an order in which they can run.
  void find_components() {
    const auto count = static_cast<std::uint32_t>(s_.signatures.all.size());
    s_.members.clear();
    s_.members.resize(count, {kNone, 0, 0, 0, Parts{0}, false});
    s_.components.clear();
    s_.by_component.clear();
    s_.stack.clear();
    std::uint32_t marks = 0;
    const auto enter = [&](std::uint32_t sig) {
      s_.members[sig].mark = s_.members[sig].low = ++marks;
      s_.stack.push_back(sig);
      s_.path.push_back({sig, signature(sig).edge});
    };
    for (std::uint32_t root = 0; root < count; ++root) {
      if (s_.members[root].mark) continue;
      s_.path.clear();
      enter(root);
      while (!s_.path.empty()) {
        Signatures::Edge& at = s_.path.back();  // the signature, and its next edge
        Member& member = s_.members[at.from];
        if (at.next != kNone) {
          const Signatures::Edge e = s_.signatures.edges[at.next];
          at.next = e.next;
          const Member& operand = s_.members[e.from];
          if (operand.mark == 0)
            enter(e.from);
          else if (operand.component == kNone)
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

  // Ranks are levels, counted through all components: no component has more levels than nodes.
  void close(std::uint32_t sig) {
    bool loops = s_.stack.back() != sig;
    for (std::uint32_t e = signature(sig).edge; e != kNone; e = s_.signatures.edges[e].next)
      loops |= s_.signatures.edges[e].from == sig;
    const auto component = static_cast<std::uint32_t>(s_.components.size());
    const auto first = static_cast<std::uint32_t>(s_.by_component.size());
    const std::uint32_t rank = component == 0 ? 0 : s_.components.back().end_rank;
    std::uint32_t nodes = 0;
    for (std::uint32_t member = kNone; member != sig;) {
      member = s_.stack.back();
      s_.stack.truncate(s_.stack.size() - 1);
      s_.members[member].component = component;
      s_.by_component.push_back(member);
      nodes += signature(member).count;
    }
    const auto end = static_cast<std::uint32_t>(s_.by_component.size());
    s_.components.push_back({first, end, rank, rank + (loops ? nodes : 1), loops});
  }

  // One rank behind the last of the operands, but not before the first of the own component. What
  // comes from other components has a lower rank than that.
  void find_ranks() {
    s_.rank.resize_uninitialized(n_);
    s_.cursor.clear();
    s_.cursor.resize(s_.components.back().end_rank, 0);
    for (std::uint32_t i = 0; i < n_; ++i) {
      const std::uint32_t sig = s_.signatures.of[i];
      Member& member = s_.members[sig];
      const Component& component = s_.components[member.component];
      std::uint32_t rank = component.first_rank;
      if (component.loops) {
        const Signature& s = signature(sig);
        const NodeId* args = graph_.args.data() + plan_.first_arg[i];
        for (std::uint32_t k = 0; k < s.arity; ++k) {
          if (args[k] < begin_) continue;
          const std::uint32_t operand = s_.rank[args[k] - begin_];
          rank = std::max(rank, operand + 1);
          if (s.has_products() && operand >= component.first_rank)
            member.later.bits |= Parts::bit(s.form->batch.value.part_of(k));
        }
      }
      s_.rank[i] = rank;
      ++s_.cursor[rank];
    }
  }

  // The order: by component; in it the sums of products that are split, and all nodes by rank and
  // creation.
  void lay_out() {
    std::uint32_t at = 0;
    for (const Component& c : s_.components) {
      if (c.loops)
        for (std::uint32_t m = c.first; m < c.end; ++m) {
          Member& member = s_.members[s_.by_component[m]];
          if (!splits(signature(s_.by_component[m]), member.later)) continue;
          member.split = true;
          member.cursor = at;
          at += signature(s_.by_component[m]).count;
        }
      for (std::uint32_t r = c.first_rank; r < c.end_rank; ++r) {
        const std::uint32_t count = s_.cursor[r];
        s_.cursor[r] = at;
        at += count;
      }
    }
    plan_.order.resize_uninitialized(at);
    for (std::uint32_t i = 0; i < n_; ++i) plan_.order[s_.cursor[s_.rank[i]]++] = begin_ + i;
  }

  // Whether some of the pairs do not wait for the component.
  static bool splits(const Signature& s, Parts later) {
    if (!s.has_products()) return false;
    const BatchRule& rule = s.form->batch.value;
    std::uint32_t pairs = 0;
    for (std::size_t k = rule.first_pair; k < s.arity; k += 2) pairs |= Parts::bit(rule.part_of(k));
    return (pairs & ~later.bits) != 0;
  }

  void emit() {
    std::uint32_t at = 0;
    for (const Component& c : s_.components) {
      if (!c.loops) {
        const std::uint32_t sig = s_.by_component[c.first];
        emit(sig, at, signature(sig).count);
        at += signature(sig).count;
        continue;
      }
      for (std::uint32_t m = c.first; m < c.end; ++m) {
        const std::uint32_t sig = s_.by_component[m];
        const Member& member = s_.members[sig];
        if (!member.split) continue;
        plan_.steps.push_back({at, signature(sig).count, Parts{~member.later.bits}, false});
        at += signature(sig).count;
      }
      for (std::uint32_t r = c.first_rank; r < c.end_rank && s_.cursor[r] > at; ++r) {
        emit_rank(at, s_.cursor[r]);
        at = s_.cursor[r];
      }
    }
  }

  std::uint32_t signature_at(std::uint32_t k) const {
    return s_.signatures.of[plan_.order[k] - begin_];
  }

  void emit_rank(std::uint32_t first, std::uint32_t end) {
    const std::uint32_t sig = signature_at(first);
    std::uint32_t k = first + 1;
    while (k < end && signature_at(k) == sig) ++k;
    if (k == end) return emit(sig, first, end - first);
    // By signature, in the order of their first nodes here.
    s_.stack.clear();
    s_.count.resize(s_.signatures.all.size(), 0);
    for (k = first; k < end; ++k)
      if (s_.count[signature_at(k)]++ == 0) s_.stack.push_back(signature_at(k));
    std::uint32_t at = 0;
    for (const std::uint32_t s : s_.stack) {
      const std::uint32_t count = s_.count[s];
      s_.count[s] = at;
      at += count;
    }
    s_.group.resize_uninitialized(end - first);
    for (k = first; k < end; ++k) s_.group[s_.count[signature_at(k)]++] = plan_.order[k];
    std::copy_n(s_.group.data(), end - first, plan_.order.data() + first);
    at = first;
    for (const std::uint32_t s : s_.stack) {
      emit(s, at, first + s_.count[s] - at);
      at = first + s_.count[s];
      s_.count[s] = 0;
    }
  }

  void emit(std::uint32_t sig, std::uint32_t first, std::uint32_t count) {
    Member& member = s_.members[sig];
    if (!signature(sig).form->batch.value.batches) {
      for (std::uint32_t k = 0; k < count; ++k) plan_.steps.push_back({first + k, 1});
      return;
    }
    plan_.steps.push_back({first, count});
    if (!member.split) return;
    plan_.steps.back().parts = member.later;
    plan_.steps.back().goes_on = true;
    std::copy_n(plan_.order.data() + first, count, plan_.order.data() + member.cursor);
    member.cursor += count;
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
