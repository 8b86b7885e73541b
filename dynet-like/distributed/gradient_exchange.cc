#include "dynet-like/distributed/gradient_exchange.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace dynet {
namespace {

// The neutral element of addition, also for 0 and -0. Stands for a missing gradient.
constexpr float kNothing = -0.0f;

std::span<float> part(std::vector<float>& values, Interval i) {
  return std::span(values).subspan(i.begin, i.size());
}

}  // namespace

/// Messages in flight.
class GradientExchange::Messages {
 public:
  explicit Messages(Communicator& world) : world_(world) {}

  void receive(unsigned from, std::span<float> to) {
    receives_.emplace_back(from, world_.start_receive(from, std::as_writable_bytes(to)));
  }
  void send(unsigned to, std::span<const float> from) {
    sends_.emplace_back(to, world_.start_send(to, std::as_bytes(from)));
  }
  void wait_for_received() { wait_for(receives_); }
  void wait_for_sent() { wait_for(sends_); }

 private:
  using Requests = std::vector<std::pair<unsigned, std::unique_ptr<Communicator::Request>>>;

  void wait_for(Requests& requests) {
    for (auto& [other, request] : requests) world_.wait(*request, other);
    requests.clear();
  }

  Communicator& world_;
  Requests receives_, sends_;
};

Presence GradientExchange::presence(const ParameterBank& bank, const Sums& own) {
  Presence all{std::vector<char>(bank.parameters.size()),
               std::vector<Presence::Table>(bank.tables.size())};
  for (const auto& [node, buffer] : own) {
    if (!buffer) continue;
    Presence one{std::vector<char>(bank.parameters.size()),
                 std::vector<Presence::Table>(bank.tables.size())};
    for (std::size_t p = 0; p < one.dense.size(); ++p) one.dense[p] = buffer->find(p) ? 1 : 0;
    for (std::size_t t = 0; t < one.tables.size(); ++t) {
      const RowGradients* const r = buffer->find_rows(t);
      if (!r) continue;
      one.tables[t] = {r->whole_written(), {r->rows().begin(), r->rows().end()}};
    }
    all.add(one);
  }
  return all;
}

template <class Dense, class Table>
std::size_t GradientExchange::lay_out(const ParameterBank& bank, const Presence& present,
                                      Dense dense, Table table) {
  std::size_t at = 0;
  for (std::size_t p = 0; p < present.dense.size(); ++p) {
    if (!present.dense[p]) continue;
    const ParameterStorageBase& of = *bank.parameters[p];
    dense(of, at);
    at += of.size();
  }
  for (std::size_t t = 0; t < present.tables.size(); ++t) {
    if (present.tables[t].empty()) continue;
    const ParameterStorageBase& of = *bank.tables[t];
    table(of, present.tables[t], at);
    at += present.tables[t].whole ? of.size() : present.tables[t].rows.size() * of.row_size();
  }
  return at;
}

void GradientExchange::fill(const ParameterBank& bank, const Presence& present,
                            GradientBuffer& from, Values& to) {
  const auto put = [&](std::size_t at, const float* g, std::size_t n) {
    if (g)
      std::copy_n(g, n, to.begin() + static_cast<std::ptrdiff_t>(at));
    else
      std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(at), n, kNothing);
  };
  lay_out(
      bank, present,
      [&](const ParameterStorageBase& p, std::size_t at) { put(at, from.find(p.index), p.size()); },
      [&](const ParameterStorageBase& p, const Presence::Table& t, std::size_t at) {
        const RowGradients* const r = from.find_rows(p.index);
        const std::size_t n = p.row_size(), rows = t.whole ? p.rows : t.rows.size();
        if (r && r->whole_written()) return put(at, r->whole(), p.size());
        for (std::size_t k = 0; k < rows; ++k)
          put(at + k * n,
              r ? r->find(t.whole ? static_cast<std::uint32_t>(k) : t.rows[k]) : nullptr, n);
      });
}

void GradientExchange::store(const ParameterBank& bank, const Presence& present, const Values& from,
                             GradientBuffer& to) {
  lay_out(
      bank, present,
      [&](const ParameterStorageBase& p, std::size_t at) {
        std::copy_n(&from[at], p.size(), to.use(p.index, p.size()).g);
      },
      [&](const ParameterStorageBase& p, const Presence::Table& t, std::size_t at) {
        RowGradients& r = to.rows(p.index, p.rows, p.row_size());
        if (t.whole) {
          std::copy_n(&from[at], p.size(), r.use_whole().g);
          return;
        }
        for (std::size_t k = 0; k < t.rows.size(); ++k)
          std::copy_n(&from[at + k * p.row_size()], p.row_size(), r.use_row(t.rows[k]).g);
      });
}

void GradientExchange::sum(const ParameterBank& bank, const Presence& present, const Sums& own,
                           GradientBuffer& total) {
  const auto nothing = [](const auto&...) {};
  const std::size_t numbers = lay_out(bank, present, nothing, nothing);
  plan(numbers);
  if (numbers == 0) return;
  for (const auto& [node, buffer] : own) {
    Values v = take(numbers);
    if (buffer)
      fill(bank, present, *buffer, v);
    else
      std::fill(v.begin(), v.end(), kNothing);
    values_[held_as(node)] = std::move(v);
  }
  reduce_scatter();
  Values all = own.empty() ? take(numbers) : std::move(values_.begin()->second);
  values_.clear();
  allgather(all);
  store(bank, present, all, total);
  give_back(std::move(all));
}

void GradientExchange::plan(std::size_t numbers) {
  if (planned_ && planned_numbers_ == numbers) return;
  planned_ = false;
  plan_ = plan_messages(tree_.lanes(), world_.size(), numbers);
  planned_numbers_ = numbers;
  planned_ = true;
}

// A node with one child is stored as its child.
LaneNode GradientExchange::held_as(LaneNode n) const {
  while (n.level > 0 && !tree_.adds(n)) n = n.left();
  return n;
}

GradientExchange::Values GradientExchange::take(std::size_t n) {
  Values v;
  if (!unused_.empty()) {
    v = std::move(unused_.back());
    unused_.pop_back();
  }
  v.resize(n);
  return v;
}

void GradientExchange::reduce_scatter() {
  const unsigned me = world_.rank();
  for (unsigned level = 1; level <= plan_.reduce_scatter.size(); ++level) {
    const Round& round = plan_.reduce_scatter[level - 1];
    std::vector<Received> received;
    Messages messages(world_);
    for (const Transfer& t : round.transfers)
      if (t.to == me) {
        received.push_back({t, take(t.elements.size())});
        messages.receive(t.from, received.back().values);
      }
    for (const Transfer& t : round.transfers)
      if (t.from == me) messages.send(t.to, part(values_.at(held_as(t.node)), t.elements));
    messages.wait_for_received();
    for (const Addition& a : round.additions)
      if (a.rank == me) add(a, received);
    messages.wait_for_sent();
    for (Received& r : received) give_back(std::move(r.values));
    rename(level);
  }
}

// The sum is stored in place of the left child's numbers, or of the right child's.
void GradientExchange::add(const Addition& a, const std::vector<Received>& received) {
  const auto here = [&](LaneNode n) -> float* {
    const auto at = values_.find(held_as(n));
    return at == values_.end() ? nullptr : at->second.data() + a.elements.begin;
  };
  float* const left = here(a.node.left());
  float* const right = here(a.node.right());
  float* const to = left ? left : right;
  const float *x = left, *y = right;
  for (const auto& [t, values] : received)
    if (t.elements == a.elements && t.node.parent() == a.node)
      (t.node == a.node.left() ? x : y) = values.data();
  const std::size_t n = a.elements.size();
  for (std::size_t i = 0; i < n; ++i) to[i] = x[i] + y[i];
}

// After the round of a level: renames the sums stored under a child to their node, see `add`.
void GradientExchange::rename(unsigned level) {
  std::map<LaneNode, Values> now;
  for (auto& [held, v] : values_) {
    const LaneNode n{level, held.index >> (level - std::min(level, held.level))};
    const bool summed = held.level < level && tree_.adds(n);
    const bool left = summed && held == held_as(n.left());
    const bool right = summed && held == held_as(n.right());
    Values& place = now[left || right ? n : held];
    if (left || place.empty()) std::swap(place, v);
    if (!v.empty()) give_back(std::move(v));
  }
  values_ = std::move(now);
}

void GradientExchange::allgather(Values& all) {
  const unsigned me = world_.rank();
  for (const Round& round : plan_.allgather) {
    Messages messages(world_);
    for (const Transfer& t : round.transfers)
      if (t.to == me) messages.receive(t.from, part(all, t.elements));
    for (const Transfer& t : round.transfers)
      if (t.from == me) messages.send(t.to, part(all, t.elements));
    messages.wait_for_received();
    messages.wait_for_sent();
  }
}

}  // namespace dynet
