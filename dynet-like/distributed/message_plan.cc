#include "dynet-like/distributed/message_plan.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

/// A range of a node's numbers held by one rank; Holders are sorted and without gaps.
struct Held {
  Interval elements;
  unsigned rank;
};
using Holders = std::vector<Held>;

void append(Holders& to, Interval elements, unsigned rank) {
  if (elements.empty()) return;
  if (!to.empty() && to.back().rank == rank)
    to.back().elements.end = elements.end;
  else
    to.push_back({elements, rank});
}

/// Disjoint sorted ranges of final numbers that one process has.
class Have {
 public:
  /// Adds a range; returns the parts that were missing.
  std::vector<Interval> add(Interval wanted) {
    std::vector<Interval> missing;
    auto at = std::find_if(all_.begin(), all_.end(),
                           [&](const Interval& i) { return i.end >= wanted.begin; });
    Interval merged = wanted;
    std::size_t next = wanted.begin;
    auto last = at;
    for (; last != all_.end() && last->begin <= wanted.end; ++last) {
      if (last->begin > next) missing.push_back({next, last->begin});
      next = last->end;
      merged = {std::min(merged.begin, last->begin), std::max(merged.end, last->end)};
    }
    if (next < wanted.end) missing.push_back({next, wanted.end});
    all_.insert(all_.erase(at, last), merged);
    return missing;
  }

 private:
  std::vector<Interval> all_;
};

class MessagePlanner {
 public:
  MessagePlanner(unsigned lanes, unsigned world, std::size_t numbers)
      : tree_(lanes), world_(world), numbers_(numbers) {
    for (unsigned r = 0; r < world; ++r)
      for (std::size_t lane = own(r).begin; lane < own(r).end; ++lane) owner_.push_back(r);
  }

  MessagePlan plan() {
    plan_.reduce_scatter.resize(tree_.depth());
    Holders holders = make(tree_.root());
    while (!plan_.reduce_scatter.empty() && is_empty(plan_.reduce_scatter.back()))
      plan_.reduce_scatter.pop_back();
    gather(holders);
    return std::move(plan_);
  }

 private:
  static bool is_empty(const Round& r) { return r.transfers.empty() && r.additions.empty(); }
  Interval own(unsigned rank) const { return lanes_of_rank(tree_.lanes(), rank, world_); }
  unsigned first_rank(LaneNode n) const { return owner_[tree_.lanes_of(n).begin]; }
  unsigned last_rank(LaneNode n) const { return owner_[tree_.lanes_of(n).end - 1]; }

  // Plans everything below a node; returns the holders of its numbers.
  Holders make(LaneNode n) {
    if (first_rank(n) == last_rank(n)) return {{{0, numbers_}, first_rank(n)}};
    if (!tree_.adds(n)) return make(n.left());
    const Holders left = make(n.left()), right = make(n.right());
    return share_out(n, left, right);
  }

  // Distributes the numbers of a node roughly evenly: of a common range the first process keeps as
  // much as its share allows, the second one the rest.
  Holders share_out(LaneNode n, const Holders& left, const Holders& right) {
    const unsigned first = first_rank(n), count = last_rank(n) - first + 1;
    std::vector<std::size_t> room(count);
    for (unsigned k = 0; k < count; ++k)
      room[k] = numbers_ * (k + std::size_t{1}) / count - numbers_ * k / count;
    Round& round = plan_.reduce_scatter[n.level - 1];
    Holders all;
    std::size_t l = 0, r = 0;
    for (std::size_t at = 0; at < numbers_;) {
      const std::size_t end = std::min(left[l].elements.end, right[r].elements.end);
      const unsigned a = left[l].rank, b = right[r].rank;
      const std::size_t keeps = std::min(end - at, room[a - first]);
      const Interval of_a{at, at + keeps}, of_b{at + keeps, end};
      meet(round, n, of_a, of_b, a, b);
      append(all, of_a, a);
      append(all, of_b, b);
      room[a - first] -= std::min(room[a - first], of_a.size());
      room[b - first] -= std::min(room[b - first], of_b.size());
      at = end;
      l += left[l].elements.end == end;
      r += right[r].elements.end == end;
    }
    return all;
  }

  void meet(Round& round, LaneNode n, Interval of_a, Interval of_b, unsigned a, unsigned b) {
    if (!of_a.empty()) round.additions.push_back({a, n, of_a});
    if (!of_b.empty()) round.additions.push_back({b, n, of_b});
    if (a == b) return;
    exchanges_.push_back({n.level, of_a, of_b, a, b});
    if (!of_a.empty()) round.transfers.push_back({b, a, n.right(), of_a});
    if (!of_b.empty()) round.transfers.push_back({a, b, n.left(), of_b});
  }

  void gather(const Holders& holders) {
    std::vector<Have> have(world_);
    for (const Held& h : holders) have[h.rank].add(h.elements);
    const auto send = [&](Round& round, unsigned from, unsigned to, Interval elements) {
      if (elements.empty()) return;
      for (const Interval& missing : have[to].add(elements))
        round.transfers.push_back({from, to, tree_.root(), missing});
    };
    for (unsigned level = tree_.depth(); level > 0; --level) {
      Round round;
      for (const Exchange& m : exchanges_)
        if (m.level == level) {
          send(round, m.a, m.b, m.of_a);
          send(round, m.b, m.a, m.of_b);
        }
      if (!is_empty(round)) plan_.allgather.push_back(std::move(round));
    }
    Round rest;
    for (unsigned r = 0, host = 0; r < world_; ++r)
      if (own(r).empty())
        send(rest, host, r, {0, numbers_});
      else
        host = r;
    if (!is_empty(rest)) plan_.allgather.push_back(std::move(rest));
  }

  /// Two processes with the same range of two children, and the part that each keeps.
  struct Exchange {
    unsigned level;
    Interval of_a, of_b;
    unsigned a, b;
  };

  LaneTree tree_;
  unsigned world_;
  std::size_t numbers_;
  std::vector<unsigned> owner_;  // by lane
  std::vector<Exchange> exchanges_;
  MessagePlan plan_;
};

}  // namespace

MessagePlan plan_messages(unsigned lanes, unsigned world, std::size_t numbers) {
  if (world == 0) throw ArgumentError("plan_messages: a run has at least one process");
  return MessagePlanner(lanes, world, numbers).plan();
}

std::size_t most_travelling_nodes(unsigned lanes, unsigned world) {
  const unsigned active = std::min(lanes, world);
  const std::size_t levels = 1 + static_cast<std::size_t>(std::bit_width(lanes - 1)) -
                             static_cast<std::size_t>(std::bit_width(active) - 1);
  return (active - 1) * levels;
}

}  // namespace dynet
