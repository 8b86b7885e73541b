#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/distributed/communicator.h"

namespace dynet {

/// Which parameters have gradients.
struct Presence {
  struct Table {
    bool whole = false;               ///< as one matrix, or
    std::vector<std::uint32_t> rows;  ///< these rows, in order

    bool empty() const { return !whole && rows.empty(); }
  };
  std::vector<char> dense;    ///< by index of the parameter
  std::vector<Table> tables;  ///< by index of the table

  /// Adds the parameters and tables of `other`.
  void add(const Presence& other);
};

/// Data that all processes need before they sum gradients, and numbers that must agree.
struct UpdateHead {
  unsigned rank = 0;
  /// Numbers that must be the same everywhere, in the same order everywhere.
  std::vector<std::uint64_t> same;
  /// Places of gradients, in bits: on a CPU, on a device. Gradients are summed on devices only if
  /// all of them are on devices.
  std::uint8_t places = 0;
  static constexpr std::uint8_t kOnCpu = 1, kOnDevice = 2;
  /// Numbers of lanes and what was reported for them, in order.
  std::vector<std::pair<std::uint32_t, double>> losses;
  Presence present;
  /// The lowest rank whose number `different` is not that of the process it reports to; none: the
  /// highest number.
  std::uint32_t odd_rank = kNone, different = 0;

  static constexpr std::uint32_t kNone = 0xffffffffu;

  /// That of two groups of processes; `other` has the higher ranks.
  void add(const UpdateHead& other);
  Communicator::Bytes pack() const;
  /// Throws CommunicationError for any other bytes.
  static UpdateHead unpack(const Communicator::Bytes& bytes);
};

}  // namespace dynet
