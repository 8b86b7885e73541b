#include "dynet-like/plan/verify.h"

#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "dynet-like/base/random.h"
#include "dynet-like/plan/memory.h"

namespace dynet {
namespace {

[[noreturn]] void fail(const GraphStore& graph, NodeId id, const std::string& what) {
  throw std::logic_error("a plan is wrong: node " + std::to_string(id) + " (" +
                         graph.nodes[id].form->name.value + ") " + what);
}

constexpr std::uint64_t kScratch = std::uint64_t{1} << 32;  // scratch of node id: kScratch + id

}  // namespace

/// Simulates the steps of a plan in order.
class PlanVerifier::Run {
 public:
  Run(const GraphStore& graph, const Plan& plan, PlanVerifier& of)
      : graph_(graph), plan_(plan), states_(of.states_), pieces_(of.pieces_) {
    states_.clear();
    states_.resize(plan.end - plan.begin, State{});
    pieces_.clear();
  }

  void verify() {
    if (plan_.end < plan_.begin || plan_.end > graph_.nodes.size() ||
        plan_.value.size() != states_.size() || plan_.aux.size() != states_.size() ||
        (!plan_.freed.empty() && plan_.freed.size() != states_.size()))
      throw std::logic_error("a plan is wrong: it is not of this graph");
    std::size_t listed = 0;
    for (const Step& step : plan_.steps) {
      if (step.count == 0 || step.first + std::size_t{step.count} > plan_.order.size())
        throw std::logic_error("a plan is wrong: a step is empty, or ends behind the last node");
      listed += step.count;
      run(step);
    }
    if (listed != plan_.order.size())
      throw std::logic_error("a plan is wrong: nodes are in no step, or in several");
    for (NodeId id = plan_.begin; id < plan_.end; ++id) {
      if (!states_[id - plan_.begin].done) fail(graph_, id, "is never computed");
      if (!plan_.freed.empty() && plan_.freed[id - plan_.begin]) continue;
      need(id, id, "is not there at the end");
      if (plan_.freed.empty() && !has(aux(id), scratch(id), id + kScratch))
        fail(graph_, id, "has lost its scratch");
    }
  }

 private:
  std::uint64_t value(NodeId id) const { return plan_.value[id - plan_.begin]; }
  std::uint64_t aux(NodeId id) const { return plan_.aux[id - plan_.begin]; }
  std::uint64_t size(NodeId id) const { return graph_.nodes[id].dim.size(); }
  std::uint64_t scratch(NodeId id) const {
    return aux(id) == Plan::kNoMemory ? 0 : aux_size(graph_, graph_.nodes[id]);
  }
  bool in_memory(NodeId id) const { return value(id) != Plan::kNoMemory; }

  // Fails unless the value of `id`, or of the node that it is an alias of, is intact.
  void need(NodeId id, NodeId reader, const char* otherwise) const {
    while (graph_.nodes[id].form->kind == Kind::alias)
      if ((id = graph_.args_of(graph_.nodes[id])[0]) < plan_.begin) return;
    if (in_memory(id) && !has(value(id), size(id), id)) fail(graph_, reader, otherwise);
  }

  void run(const Step& step) {
    const NodeId* const ids = plan_.order.data() + step.first;
    for (std::uint32_t k = 0; k < step.count; ++k) read(step, ids[k]);
    for (std::uint32_t k = 0; k < step.count; ++k) write(step, ids[k]);
    if (in_memory(ids[0])) check_places(step, ids);
    // A node must not overwrite operands or results of its batch.
    for (std::uint32_t k = 0; k < step.count; ++k) {
      need(ids[k], ids[k], "lies over another node of its batch");
      if (!has(aux(ids[k]), scratch(ids[k]), ids[k] + kScratch))
        fail(graph_, ids[k], "has its scratch in the memory of another");
      for_operands(step, ids[k], [&](NodeId a) {
        if (!lies_in_place(ids[k], a) && !lies_in_scratch(ids[k], a))
          need(a, ids[k], "overwrites an operand of its batch");
      });
    }
  }

  // Checks that values are adjacent and the first one aligned, or in place of their operands.
  void check_places(const Step& step, const NodeId* ids) const {
    const Node& first = graph_.nodes[ids[0]];
    if (first.arity > 0 && lies_in_place(ids[0], graph_.args_of(first)[0])) return;
    const bool ragged = first.form->batch.value.ragged.in_value();
    for (std::uint32_t k = 0; k < step.count; ++k) {
      if ((k == 0 || ragged) && !step.accumulates && value(ids[k]) % alignment(size(ids[k])) != 0)
        fail(graph_, ids[k], "is not aligned");
      if (!ragged && value(ids[k]) != value(ids[0]) + k * size(ids[0]))
        fail(graph_, ids[k], "does not lie beside the others of its batch");
    }
  }

  // Whether a node overwrites its first operand, element by element.
  bool lies_in_place(NodeId id, NodeId a) const {
    return a >= plan_.begin && a == graph_.args_of(graph_.nodes[id])[0] && in_memory(id) &&
           value(id) == value(a) && size(id) == size(a) && !plan_.freed.empty() &&
           plan_.freed[a - plan_.begin];
  }

  // Whether the end of a node's scratch overwrites its first operand.
  bool lies_in_scratch(NodeId id, NodeId a) const {
    const Node& n = graph_.nodes[id];
    const auto before = n.form->scratch_before_operand;
    return before && a >= plan_.begin && a == graph_.args_of(n)[0] && in_memory(a) &&
           value(a) == aux(id) + before(graph_.nodes[a].dim) &&
           value(a) + size(a) == aux(id) + scratch(id) && !plan_.freed.empty() &&
           plan_.freed[a - plan_.begin];
  }

  template <class F>
  void for_operands(const Step& step, NodeId id, F f) const {
    const Node& n = graph_.nodes[id];
    const BatchRule& rule = n.form->batch.value;
    for (std::size_t k = 0; k < n.arity; ++k)
      if (const NodeId a = graph_.args_of(n)[k]; a >= plan_.begin && step.computes(rule, k)) f(a);
  }

  void read(const Step& step, NodeId id) {
    if (id < plan_.begin || id >= plan_.end) fail(graph_, id, "is no node of the plan");
    State& state = states_[id - plan_.begin];
    if (state.begun != step.accumulates)
      fail(graph_, id, "is begun twice, or goes on before it began");
    state.begun = true;
    if (state.terms & (step.terms.all() ? state.terms : step.terms.bits))
      fail(graph_, id, "adds a term twice");
    if (step.accumulates) need(id, id, "goes on with terms that are lost");
    for_operands(step, id, [&](NodeId a) {
      if (a >= id || !states_[a - plan_.begin].done) fail(graph_, id, "runs before an operand");
      need(a, id, "reads an operand that is lost");
    });
  }

  void write(const Step& step, NodeId id) {
    const Node& n = graph_.nodes[id];
    State& state = states_[id - plan_.begin];
    state.terms |= step.terms.bits;
    state.done = state.terms == ~std::uint32_t{0} || all_terms(n, state.terms);
    if (in_memory(id) != has_memory(n))
      fail(graph_, id, "has memory and needs none, or needs some");
    if (step.accumulates) return;
    if (in_memory(id)) put(id, value(id), size(id), id);
    put(id, aux(id), scratch(id), id + kScratch);
  }

  void put(NodeId id, std::uint64_t at, std::uint64_t size, std::uint64_t what) {
    if (size == 0) return;
    if (at + size > plan_.extent) fail(graph_, id, "lies outside of the plan's memory");
    auto it = pieces_.lower_bound(at);
    if (it != pieces_.begin() && std::prev(it)->second.end > at) --it;
    while (it != pieces_.end() && it->first < at + size) it = pieces_.erase(it);  // overwritten
    pieces_.emplace(at, Piece{at + size, what});
  }
  bool has(std::uint64_t at, std::uint64_t size, std::uint64_t what) const {
    if (size == 0) return true;
    const auto it = pieces_.find(at);
    return it != pieces_.end() && it->second.what == what && it->second.end == at + size;
  }

  static bool all_terms(const Node& n, std::uint32_t terms) {
    for (std::size_t k = 0; k < n.arity; ++k)
      if (!(terms & Terms::bit(n.form->batch.value.term_of(k)))) return false;
    return n.arity > 0;
  }

  const GraphStore& graph_;
  const Plan& plan_;
  PodVector<State>& states_;
  std::pmr::map<std::uint64_t, Piece>& pieces_;
};

std::unique_ptr<PlanVerifier> PlanVerifier::if_asked_for() {
  const char* const text = std::getenv("DYNET_VERIFY");  // NOLINT: nothing sets variables
  if (!text || std::string_view(text).empty() || std::string_view(text) == "0") return nullptr;
  return std::unique_ptr<PlanVerifier>(new PlanVerifier(text));
}

PlanVerifier::PlanVerifier(const std::string& log) {
  if (log != "1") log_.open(log, std::ios::app);
}

void PlanVerifier::verify(const GraphStore& graph, const Plan& plan) {
  Run(graph, plan, *this).verify();
  if (log_.is_open()) describe(graph, plan);
}

// Logs a plan as one line, with a digest of its steps and of all offsets.
void PlanVerifier::describe(const GraphStore& graph, const Plan& plan) {
  std::uint64_t digest = mix_bits(plan.extent);
  const auto add = [&](std::uint64_t x) { digest = mix_bits(digest ^ x); };
  for (const Step& step : plan.steps) {
    add(step.terms.bits);
    for (std::uint32_t k = 0; k < step.count; ++k) {
      const NodeId i = plan.order[step.first + k] - plan.begin;
      add(i);
      add(plan.value[i]);
      add(plan.aux[i]);
      add(!plan.freed.empty() && plan.freed[i]);
    }
  }
  log_ << graph.nodes[plan.begin].form->name.value << ' ' << plan.end - plan.begin << " nodes, "
       << plan.steps.size() << " steps, " << plan.extent << " elements, " << std::hex << digest
       << std::dec << std::endl;
}

void PlanVerifier::verify(const GraphStore& graph, std::span<const bool> wanted,
                          const GradientLayout& layout) {
  for (std::size_t p = 0; p < layout.extent.size(); ++p) {
    pieces_.clear();
    for (NodeId id = 0; id < wanted.size(); ++id) {
      const Node& n = graph.nodes[id];
      if (n.dim.size() == 0 || n.device_index() != p) continue;
      const std::uint64_t at = layout.offset[id];
      if (wanted[id] != (at != GradientLayout::kNoMemory))
        fail(graph, id, "lacks its gradient, or has one");
      if (wanted[id] && !pieces_.emplace(at, Piece{at + n.dim.size(), id}).second)
        fail(graph, id, "has the gradient of another");
      const auto other = [&](std::uint64_t from, std::uint64_t size) {
        if (!pieces_.emplace(from, Piece{from + size, id}).second)
          fail(graph, id, "has the gradient of its second result or of its sum over another");
      };
      if (n.form->second_result && wanted[id]) other(layout.second[id], n.dim.size());
      if (n.form->sums && wanted[id]) other(layout.sums[id], n.form->sums(graph, n));
    }
    std::uint64_t end = 0;
    for (const auto& [at, piece] : pieces_) {
      const auto id = static_cast<NodeId>(piece.what);
      if (at < end) fail(graph, id, "has its gradient over that of another");
      end = piece.end;
      if (end > layout.extent[p]) fail(graph, id, "has its gradient outside of the block");
    }
  }
}

}  // namespace dynet
