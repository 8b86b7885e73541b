#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "dynet-like/distributed/communicator.h"

namespace dynet {

/// Processes of a run that are threads of this one: to try a program, and for tests. Messages are
/// copied. Everything that may go wrong between machines can be made to happen.
class InProcessGroup {
 public:
  /// Faults of messages. By default all messages arrive at once.
  struct Faults {
    /// How long message number `message` (from 0, by sender) takes to arrive.
    std::function<std::chrono::microseconds(unsigned from, unsigned to, std::uint64_t message)>
        delay;
    /// Whether it never does.
    std::function<bool(unsigned from, unsigned to, std::uint64_t message)> lost;
  };

  explicit InProcessGroup(unsigned size) : InProcessGroup(size, Faults()) {}
  /// Throws ArgumentError for a size of zero.
  InProcessGroup(unsigned size, Faults faults);
  ~InProcessGroup();

  /// The communicator of one rank, for its thread.
  Communicator& operator[](unsigned rank);
  /// Runs `process(communicator)` for every rank, each on a thread of its own, and `guarded`. If
  /// some throw, throws what the first of them to fail did.
  void run(const std::function<void(Communicator&)>& process);

 private:
  struct Shared;
  class Member;
  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace dynet
