#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "dynet-like/distributed/communicator.h"

namespace dynet {

/// A run whose processes are threads of this process, for trials and tests. Messages are copied,
/// and all faults of a network can be simulated.
class InProcessGroup {
 public:
  /// Simulated faults. By default all messages arrive at once.
  struct Faults {
    /// Delay of message number `message` (from 0, by sender).
    std::function<std::chrono::microseconds(unsigned from, unsigned to, std::uint64_t message)>
        delay;
    /// Whether a message is lost.
    std::function<bool(unsigned from, unsigned to, std::uint64_t message)> lost;
  };

  explicit InProcessGroup(unsigned size) : InProcessGroup(size, Faults()) {}
  /// Throws ArgumentError for a size of zero.
  InProcessGroup(unsigned size, Faults faults);
  ~InProcessGroup();

  /// The communicator of one rank, to be used by its thread.
  Communicator& operator[](unsigned rank);
  /// Runs `process(communicator)`, wrapped in `guarded`, on a thread for each rank. If some throw,
  /// rethrows the exception of the first that failed.
  void run(const std::function<void(Communicator&)>& process);

 private:
  struct Shared;
  class Member;
  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace dynet
