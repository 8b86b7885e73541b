#include "dynet-like/plan/cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "dynet-like/graph/node_kind_table.h"
#include "dynet-like/graph/shape_table.h"

namespace dynet {
namespace {

constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15u;

// Four independent sums, so that multiplications overlap. Of more than 4096 numbers only groups of
// eight at equal distances are hashed: most large graphs do not repeat.
std::uint64_t hash(std::uint64_t start, std::span<const std::uint32_t> numbers) {
  constexpr std::size_t kCounted = 4096;
  std::array<std::uint64_t, 4> h = {start, 1, 2, 3};
  const auto add = [&](std::uint64_t& sum, std::uint64_t x) {
    sum = std::rotl((sum ^ x) * kFactor, 29);
  };
  const std::size_t step = 8 * (1 + numbers.size() / kCounted);
  std::size_t i = 0;
  for (; i + step <= numbers.size(); i += step)
    for (std::size_t k = 0; k < 4; ++k) {
      std::uint64_t two;
      std::memcpy(&two, numbers.data() + i + 2 * k, sizeof two);
      add(h[k], two);
    }
  for (; i < numbers.size(); ++i) add(h[0], numbers[i]);
  for (std::size_t k = 1; k < 4; ++k) add(h[0], h[k]);
  return h[0];
}

std::span<const std::uint32_t> numbers(const GraphStore& graph, NodeId begin, NodeId end) {
  return {graph.kinds.data() + begin, end - begin};
}

// Equality of shapes; fast for one address or one representation.
bool same_shape(const Dim& a, const Dim& b) { return &a == &b || written_alike(a, b) || a == b; }

template <class T>
std::size_t bytes_of(const PodVector<T>& v) {
  return v.capacity() * sizeof(T);
}

}  // namespace

bool PlanCache::is_worth_it(const GraphStore& graph, NodeId begin, NodeId end) const {
  const bool behind_many = begin >= last_begin_ + kMany;
  if ((end < begin + kFewest && !behind_many) || end - begin > kMost) return false;
  const Node &first = graph.nodes[begin], &last = graph.nodes[end - 1];
  return last.first_arg < first.first_arg + kMostOperands && last.arity < kMostOperands;
}

void PlanCache::Operands::list(const GraphStore& graph, NodeId begin, NodeId end) {
  const Node &first = graph.nodes[begin], &last = graph.nodes[end - 1];
  all_ = {};
  outside_.clear();
  if (last.first_arg < first.first_arg) return;
  all_ = {graph.args.data() + first.first_arg, last.first_arg + last.arity - first.first_arg};
  if (begin == 0) return;
  if (number_.size() < begin) number_.resize(begin, 0);
  list_.resize_uninitialized(all_.size());
  for (std::size_t k = 0; k < all_.size(); ++k) {
    const NodeId a = all_[k];
    if (a >= begin) {
      list_[k] = a - begin;
      continue;
    }
    std::uint32_t& number = number_[a];
    if (number >= outside_.size() || outside_[number] != a) {
      number = static_cast<std::uint32_t>(outside_.size());
      outside_.push_back(a);
    }
    list_[k] = kOutside | number;
  }
  all_ = {list_.data(), list_.size()};
}

/// A cache entry: a plan and the structure that it was made for.
struct PlanCache::Kept {
  /// Fields of a form that planning reads. The address does not identify a form: another form may
  /// have it at the next lookup.
  struct Form {
    const OpForm* form;
    Kind kind;
    BatchRule rule;
    Reads reads;
    AuxRule aux;

    explicit Form(const OpForm& f)
        : form(&f), kind(f.kind), rule(f.batch), reads(f.reads), aux(f.aux) {}
    bool is_still_there() const {
      return form->kind == kind && form->reads == reads && form->aux == aux &&
             same_batches(form->batch, rule);
    }
  };
  struct Shape {  // of a node whose form has ragged values
    std::uint32_t node;
    Dim dim;
  };
  struct Scratch {  // of a node that has scratch
    std::uint32_t node;
    AuxRule rule;
    std::uint64_t aux;
  };

  PlanPolicy policy;
  Plan plan;
  const NodeKindTable* table;  // table of the node kinds in `keys`
  std::uint64_t generation;
  PodVector<std::uint32_t> keys;  // node kinds, by node
  PodVector<NodeId> args;         // see Operands
  PodVector<Dim> outside;         // shapes of operands before the plan, by number
  PodVector<NodeId> outside_ids;  // operands before the plan if their order counts, else empty
  PodVector<Form> forms;
  PodVector<Shape> shapes;
  PodVector<Scratch> scratch;

  Kept(const GraphStore& graph, PlanPolicy by, const Plan& made, const Operands& operands)
      : policy(by), plan(made), table(graph.kind_table), generation(table->generation()) {
    const auto copy = [](const auto& from, auto& to) {
      std::copy_n(from.data(), from.size(), to.append(from.size()));
    };
    copy(numbers(graph, plan.begin, plan.end), keys);
    copy(operands.all(), args);
    copy(operands.outside(), plan.outside);
    for (const NodeId a : operands.outside()) outside.push_back(graph.nodes[a].dim);
    for (NodeId id = plan.begin; id < plan.end; ++id) {
      const Node& n = graph.nodes[id];
      const OpForm& f = *n.form;
      const auto is_its = [&](const Form& known) { return known.form == &f; };
      if (std::none_of(forms.begin(), forms.end(), is_its)) forms.push_back(Form(f));
      if (n.has_own_matrix() && outside_ids.empty()) copy(operands.outside(), outside_ids);
      if (f.batch.value.ragged.in_value()) shapes.push_back({id - plan.begin, n.dim});
      if (f.aux != no_aux) scratch.push_back({id - plan.begin, f.aux, f.aux.value(graph, n)});
    }
  }

  bool fits(const GraphStore& graph, NodeId begin, NodeId end, PlanPolicy wanted,
            const Operands& operands) const {
    return policy == wanted && table == graph.kind_table && generation == table->generation() &&
           same(numbers(graph, begin, end), keys) && same(operands.all(), args) &&
           (outside_ids.empty() || same(operands.outside(), outside_ids)) && fits_forms() &&
           fits_scratch(graph, begin) && fits_shapes(graph, begin, operands);
  }

  static bool same(std::span<const std::uint32_t> a, const PodVector<std::uint32_t>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  bool fits_forms() const {
    return std::all_of(forms.begin(), forms.end(),
                       [](const Form& f) { return f.is_still_there(); });
  }

  bool fits_scratch(const GraphStore& graph, NodeId begin) const {
    return std::all_of(scratch.begin(), scratch.end(), [&](const Scratch& s) {
      return s.rule(graph, graph.nodes[begin + s.node]) == s.aux;
    });
  }

  bool fits_shapes(const GraphStore& graph, NodeId begin, const Operands& operands) const {
    for (std::size_t k = 0; k < outside.size(); ++k)
      if (!same_shape(graph.nodes[operands.outside()[k]].dim, outside[k])) return false;
    return std::all_of(shapes.begin(), shapes.end(), [&](const Shape& s) {
      return same_shape(graph.nodes[begin + s.node].dim, s.dim);
    });
  }

  std::size_t bytes() const {
    return sizeof(*this) + plan.bytes() + bytes_of(keys) + bytes_of(args) + bytes_of(outside) +
           bytes_of(outside_ids) + bytes_of(forms) + bytes_of(shapes) + bytes_of(scratch);
  }
};

PlanCache::PlanCache(std::size_t bytes, std::uint64_t hash_mask)
    : hash_mask_(hash_mask), limit_(bytes) {}
PlanCache::~PlanCache() = default;

const Plan& PlanCache::plan(const GraphStore& graph, NodeId begin, NodeId end, PlanMaker& maker) {
  const Plan& plan = find_or_make(graph, begin, end, maker);
  if (verifier_) verifier_->verify(graph, plan);
  return plan;
}

const Plan& PlanCache::find_or_make(const GraphStore& graph, NodeId begin, NodeId end,
                                    PlanMaker& maker) {
  const bool worth_it = maker.policy() == PlanPolicy::in_batches && is_worth_it(graph, begin, end);
  last_begin_ = begin;
  if (!worth_it) {
    maker.make(graph, begin, end, made_);
    return made_;
  }
  operands_.list(graph, begin, end);
  const std::uint64_t structure =
      hash(hash(end - begin, operands_.all()), numbers(graph, begin, end));
  const std::uint64_t slot = structure & hash_mask_;
  if (!slots_.empty())
    for (Slot& p : ways(slot))
      if (p.kept && p.hash == slot && p.kept->fits(graph, begin, end, maker.policy(), operands_)) {
        p.used = ++time_;
        ++hits_;
        Plan& plan = p.kept->plan;
        const std::uint32_t first_list = graph.nodes[begin].first_arg;
        if (plan.begin != begin || plan.first_arg[0] != first_list) plan.move_to(begin, first_list);
        std::copy_n(operands_.outside().data(), plan.outside.size(), plan.outside.data());
        return plan;
      }
  maker.make(graph, begin, end, made_);
  if (seen_.empty()) seen_.resize(kSeen);
  std::uint64_t& seen = seen_[structure >> 32 & (kSeen - 1)];
  if (seen == structure) {
    keep(graph, maker.policy(), slot);
  } else {
    seen = structure;
  }
  return made_;
}

std::span<PlanCache::Slot> PlanCache::ways(std::uint64_t hash) {
  return {slots_.data() + (hash >> 32 & (kSets - 1)) * kWays, kWays};
}

void PlanCache::keep(const GraphStore& graph, PlanPolicy policy, std::uint64_t hash) {
  const std::size_t args = operands_.all().size();
  for (const std::uint32_t first : made_.first_arg)  // operand lists lie within operands_
    if (first < made_.first_arg[0] || first - made_.first_arg[0] > args) return;
  // If the working set exceeds the cache, most entries would be evicted before their next use:
  // insert every kReluctance-th plan only.
  const std::size_t about = 40 * made_.order.size() + 4 * args;
  if (bytes_ + about > limit_ && ++not_kept_ % kReluctance != 0) return;
  auto kept = std::make_unique<Kept>(graph, policy, made_, operands_);
  kept->plan.number = ++numbers_;
  const std::size_t bytes = kept->bytes();
  if (bytes > limit_) return;
  if (slots_.empty()) slots_.resize(kWays * kSets);
  const auto by_age = [](const Slot& a, const Slot& b) { return a.used < b.used; };
  const auto set = ways(hash);
  Slot& slot = *std::min_element(set.begin(), set.end(), by_age);
  drop(slot);
  while (plans_ > 0 && bytes_ + bytes > limit_) {
    const auto older = [](const Slot& a, const Slot& b) {
      return a.kept && (!b.kept || a.used < b.used);
    };
    drop(*std::min_element(slots_.begin(), slots_.end(), older));
  }
  slot = {hash, ++time_, std::move(kept)};
  bytes_ += bytes;
  ++plans_;
}

void PlanCache::drop(Slot& slot) {
  if (!slot.kept) return;
  bytes_ -= slot.kept->bytes();
  --plans_;
  slot = {};
}

void PlanCache::release() {
  slots_ = std::vector<Slot>();
  seen_ = {};
  made_ = {};
  operands_.release();
  bytes_ = plans_ = 0;
}

}  // namespace dynet
