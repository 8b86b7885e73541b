#include "dynet-like/distributed/cost_model.h"

#include <algorithm>

namespace dynet {
namespace {

// Of what the receiver does not know the size of, see Communicator::send_any.
std::size_t bytes_after_first(std::size_t bytes) {
  return bytes > Communicator::kRoom ? bytes - Communicator::kRoom : 0;
}

std::size_t bytes_of(const Transfer& t, Compression compression) {
  return t.elements.size() *
         (compression == Compression::bfloat16 ? sizeof(std::uint16_t) : sizeof(float));
}

/// When each process is done.
class Clocks {
 public:
  Clocks(const NetworkCost& network, unsigned world) : network_(network), now_(world) {}

  double last() const { return *std::max_element(now_.begin(), now_.end()); }
  void wait_all(double seconds) {
    for (double& t : now_) t += seconds;
  }
  /// One message, for which the receiver waits.
  void send(unsigned from, unsigned to, std::size_t bytes) {
    now_[to] = std::max(now_[to], now_[from] + time_of(bytes) + seconds_of(bytes));
    now_[from] += seconds_of(bytes);
  }
  /// Messages that are on their way at once: both ends are as fast as the network.
  void run(const Round& round, Compression compression) {
    const std::vector<double> begin = now_;
    std::vector<double> sent = begin, received(now_.size());
    for (const Transfer& t : round.transfers) {
      const std::size_t bytes = bytes_of(t, compression);
      const double arrives = std::max(sent[t.from] + time_of(bytes), received[t.to]);
      sent[t.from] += seconds_of(bytes);
      received[t.to] = arrives + seconds_of(bytes);
    }
    for (std::size_t r = 0; r < now_.size(); ++r)
      now_[r] = std::max({begin[r], sent[r], received[r]});
  }

 private:
  double seconds_of(std::size_t bytes) const {
    return static_cast<double>(bytes) / network_.bandwidth;
  }
  double time_of(std::size_t bytes) const {
    return network_.latency * (bytes > network_.eager ? 3 : 1);
  }

  const NetworkCost& network_;
  std::vector<double> now_;
};

// send(from, to) for the messages of Communicator::merge_all, in an order in which they may happen.
template <class Gather, class Spread>
void for_each_of_merge(unsigned world, Gather gather, Spread spread) {
  for (unsigned bit = 1; bit < world; bit *= 2)
    for (unsigned r = bit; r < world; r += 2 * bit) gather(r, r - bit, std::min(r + bit, world));
  unsigned top = 1;
  while (top < world) top *= 2;
  for (unsigned bit = top / 2; bit; bit /= 2)
    for (unsigned r = 0; r + bit < world; r += 2 * bit) spread(r, r + bit);
}

}  // namespace

std::vector<Traffic> traffic_of_sums(const MessagePlan& plan, unsigned world,
                                     Compression compression) {
  std::vector<Traffic> sent(world);
  for (const auto* rounds : {&plan.reduce_scatter, &plan.allgather})
    for (const Round& round : *rounds)
      for (const Transfer& t : round.transfers) sent[t.from].add(bytes_of(t, compression));
  return sent;
}

std::vector<Traffic> traffic_of_merge(
    unsigned world, const std::function<std::size_t(unsigned from, unsigned to)>& merged) {
  std::vector<Traffic> sent(world);
  const auto send = [&](unsigned from, std::size_t bytes) {
    sent[from].add(Communicator::kFirstMessage);
    if (const std::size_t rest = bytes_after_first(bytes)) sent[from].add(rest);
  };
  for_each_of_merge(
      world, [&](unsigned from, unsigned, unsigned end) { send(from, merged(from, end)); },
      [&](unsigned from, unsigned) { send(from, merged(0, world)); });
  return sent;
}

double seconds_of_update(const NetworkCost& network, unsigned world, const UpdateSize& size) {
  Clocks clocks(network, world);
  // Both parts of a message are on their way at the same time.
  const auto send = [&](unsigned from, unsigned to) {
    clocks.send(from, to, Communicator::kFirstMessage + bytes_after_first(size.head));
  };
  for_each_of_merge(
      world, [&](unsigned from, unsigned to, unsigned) { send(from, to); }, send);
  const MessagePlan plan = plan_messages(size.lanes, world, size.numbers);
  for (const auto* rounds : {&plan.reduce_scatter, &plan.allgather})
    for (const Round& round : *rounds) clocks.run(round, size.compression);
  clocks.wait_all(network.seconds_per_number * static_cast<double>(size.numbers));
  return clocks.last();
}

}  // namespace dynet
