#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/distributed/communicator.h"

namespace dynet {

/// The parameters and rows with gradients.
struct Presence {
  struct Table {
    bool whole = false;               ///< the gradient of the whole table
    std::vector<std::uint32_t> rows;  ///< rows with gradients, sorted

    bool empty() const { return !whole && rows.empty(); }
  };
  std::vector<char> dense;    ///< by index of the parameter
  std::vector<Table> tables;  ///< by index of the table

  /// Adds the parameters and tables of `other` (set union).
  void add(const Presence& other);
};

/// Data that processes merge before they sum gradients, and numbers that must be equal.
struct UpdateHead {
  unsigned rank = 0;
  /// Numbers that must be equal on all processes.
  std::vector<std::uint64_t> same;
  /// Memories of gradients, as bits. Gradients are summed on devices if all of them are there.
  std::uint8_t places = 0;
  static constexpr std::uint8_t kOnCpu = 1, kOnDevice = 2;
  /// Lane numbers and reported losses, in order.
  std::vector<std::pair<std::uint32_t, double>> losses;
  Presence present;
  /// The lowest rank with a deviating number, and its index in `same`; kNone if all agree.
  std::uint32_t odd_rank = kNone, different = 0;

  static constexpr std::uint32_t kNone = 0xffffffffu;

  /// Merges the head of another group of processes with higher ranks.
  void add(const UpdateHead& other);
  Communicator::Bytes pack() const;
  /// Throws CommunicationError for invalid bytes.
  static UpdateHead unpack(const Communicator::Bytes& bytes);
};

}  // namespace dynet
