#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/distributed/communicator.h"
#include "dynet-like/distributed/lanes.h"

// Data of which each process reads its part only: every lane learns from samples of its own.

namespace dynet {

/// What ends a sample in a text file.
enum class SampleEnd { line, blank_line };

/// Samples of a text file, one behind the other. What process r of a run gets are those of its
/// lanes, `samples_of_lane(samples, k, lanes)`; none if there are few.
struct FilePart {
  std::size_t samples = 0;         ///< of the whole file
  Interval own;                    ///< the numbers of those that are here
  std::vector<std::string> texts;  ///< of those, without what ends them; lines end in `\n`
  std::uint64_t bytes_read = 0;

  const std::string& text(std::size_t sample) const { return texts.at(sample - own.begin); }
};

/// Reads the part of this process: all look for samples in the bytes of a part each, tell the
/// others how many there are, and read their own. A sample that ends in blank lines is some lines
/// that are not blank; what else is in the file is none. `\r\n` ends lines as well. Throws
/// FileError; throws CommunicationError if the file is longer or shorter for another process.
FilePart read_part(Communicator& world, unsigned lanes, const std::string& path,
                   SampleEnd end = SampleEnd::line);

/// Which samples each lane learns from in the updates of an epoch: each of its own once, in an
/// order of chance that depends on the seed, the epoch and the lane alone. An update has
/// `minibatch` samples, or a few less.
class LaneEpoch {
 public:
  /// `own`: the lanes that are asked for their samples, DistributedTrainer::own_lanes. Throws
  /// ArgumentError for a minibatch of zero, and as LaneTree.
  LaneEpoch(std::size_t samples, unsigned lanes, Interval own, std::size_t minibatch,
            std::uint64_t seed, std::uint64_t epoch);

  std::size_t updates() const { return updates_; }
  /// How many samples a lane has in an update, and all lanes together.
  std::size_t count(std::size_t update, unsigned lane) const { return share(update, lane).size(); }
  std::size_t count(std::size_t update) const;
  /// Their numbers, of a lane that is own.
  std::span<const std::size_t> samples(std::size_t update, unsigned lane) const;

 private:
  Interval share(std::size_t update, unsigned lane) const;

  std::size_t samples_, updates_;
  unsigned lanes_;
  Interval own_;
  std::vector<std::vector<std::size_t>> orders_;  // by own lane
};

}  // namespace dynet
