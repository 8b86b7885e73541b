#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "dynet-like/distributed/communicator.h"
#include "dynet-like/distributed/gradient_adder.h"
#include "dynet-like/distributed/message_plan.h"

namespace dynet {

/// Processes and what is between them, as far as the time of an update depends on it.
struct NetworkCost {
  double latency;             ///< seconds from the start of a message to its end, if it is short
  double bandwidth;           ///< bytes a second that a process sends, and receives
  double seconds_per_number;  ///< of collecting, adding and distributing it in memory
  /// A longer message, in bytes, is announced and asked for, which takes two latencies more.
  std::size_t eager = std::size_t{64} << 10;
};

/// What is summed in an update.
struct UpdateSize {
  unsigned lanes = 32;
  std::size_t numbers = 0;  ///< N of MessagePlan
  std::size_t head = 600;   ///< bytes that processes agree on first, see UpdateHead
  Compression compression = Compression::none;
};

/// What each process sends for the sums of an update, by rank: exactly.
std::vector<Traffic> traffic_of_sums(const MessagePlan& plan, unsigned world,
                                     Compression compression);
/// What each sends in Communicator::merge_all, by rank, if `merged(from, to)` is how many bytes the
/// ranks in this interval have together: exactly.
std::vector<Traffic> traffic_of_merge(
    unsigned world, const std::function<std::size_t(unsigned from, unsigned to)>& merged);

/// How many seconds the update takes of the process that is last, all beginning at once: a model.
/// Messages of a round leave a process one behind the other, and arrive so.
double seconds_of_update(const NetworkCost& network, unsigned world, const UpdateSize& size);

}  // namespace dynet
