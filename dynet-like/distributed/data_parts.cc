#include "dynet-like/distributed/data_parts.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>
#include <span>

#include "dynet-like/base/printable.h"
#include "dynet-like/base/random.h"

namespace dynet {
namespace {

using Offset = std::uint64_t;

/// A text file that is read in pieces, wherever.
class Text {
 public:
  Text(const std::string& path, std::uint64_t& bytes_read)
      : path_(path), in_(path, std::ios::binary), bytes_read_(bytes_read) {
    in_.seekg(0, std::ios::end);
    const auto end = in_.tellg();
    if (!in_ || end < 0) fail();
    size_ = static_cast<Offset>(end);
  }

  Offset size() const { return size_; }
  char at(Offset i) {
    const Piece& p = piece(i);
    return p.text[i - p.begin];
  }
  std::string copy(Offset begin, Offset end) {
    std::string text;
    while (begin < end) {
      const Piece& p = piece(begin);
      text.append(p.text, begin - p.begin, end - begin);
      begin = p.begin + p.text.size();
    }
    return text;
  }

 private:
  static constexpr Offset kPiece = 1 << 16;
  struct Piece {
    Offset begin = 0;
    std::string text;

    bool has(Offset i) const { return i >= begin && i < begin + text.size(); }
  };

  // The last one, or the one before: a look back and a copy of what was passed read nothing again.
  const Piece& piece(Offset i) {
    if (pieces_[0].has(i)) return pieces_[0];
    if (pieces_[1].has(i)) return pieces_[1];
    std::swap(pieces_[0], pieces_[1]);
    Piece& p = pieces_[0];
    p.begin = i / kPiece * kPiece;
    p.text.resize(std::min(kPiece, size_ - p.begin));
    in_.seekg(static_cast<std::streamoff>(p.begin));
    in_.read(p.text.data(), static_cast<std::streamsize>(p.text.size()));
    if (!in_) fail();
    bytes_read_ += p.text.size();
    return p;
  }
  [[noreturn]] void fail() const {
    throw FileError("read_part: " + printable(path_) + " cannot be read");
  }

  const std::string& path_;
  std::ifstream in_;
  std::uint64_t& bytes_read_;
  Offset size_ = 0;
  Piece pieces_[2];
};

/// Where samples begin.
class Starts {
 public:
  Starts(Text& text, SampleEnd end) : text_(text), end_(end) {}

  /// The first one at or behind a place; `end` if there is none before that.
  Offset next(Offset from, Offset end) {
    Offset i = from;
    while (i < end && !is_start(i)) ++i;
    return i;
  }
  Offset next(Offset from) { return next(from, text_.size()); }

 private:
  bool is_line(Offset i) { return i == 0 || text_.at(i - 1) == '\n'; }
  bool is_blank(Offset line) {
    if (text_.at(line) == '\r') ++line;
    return line < text_.size() && text_.at(line) == '\n';
  }
  bool is_start(Offset i) {
    if (!is_line(i)) return false;
    if (end_ == SampleEnd::line) return true;
    if (is_blank(i)) return false;
    // Whether the line before, whose end is here, is blank.
    if (i == 0) return true;
    const Offset end = i >= 2 && text_.at(i - 2) == '\r' ? i - 2 : i - 1;
    return is_line(end);
  }

  Text& text_;
  SampleEnd end_;
};

// What ends a sample goes, and `\r\n` becomes `\n`.
std::string cleaned(std::string text, SampleEnd end) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') text[to++] = text[i];
  text.resize(to);
  const auto ends = [&] { return !text.empty() && text.back() == '\n'; };
  if (end == SampleEnd::line) {
    if (ends()) text.pop_back();
    return text;
  }
  while (ends()) text.pop_back();
  return text + '\n';
}

/// What all processes have found, in the order of ranks.
std::vector<std::uint64_t> gather_numbers(Communicator& world,
                                          const std::vector<std::uint64_t>& own) {
  const auto bytes = std::as_bytes(std::span(own));
  const Communicator::Bytes all = world.allgather({bytes.begin(), bytes.end()});
  std::vector<std::uint64_t> numbers(all.size() / sizeof own[0]);
  std::memcpy(numbers.data(), all.data(), all.size());
  return numbers;
}

// The bytes of each process are cut in so many stretches whose samples are counted, so that a
// sample is found without many before it.
constexpr unsigned kStretches = 64;

}  // namespace

FilePart read_part(Communicator& world, unsigned lanes, const std::string& path, SampleEnd end) {
  FilePart part;
  guarded(world, [&] {
    Text text(path, part.bytes_read);
    Starts starts(text, end);
    const unsigned stretches = kStretches * world.size();
    const auto bytes_of = [&](unsigned stretch) {
      return samples_of_lane(text.size(), stretch, stretches);
    };
    std::vector<std::uint64_t> found{text.size()};
    for (unsigned k = 0; k < kStretches; ++k) {
      const Interval bytes = bytes_of(kStretches * world.rank() + k);
      found.push_back(0);
      for (Offset at = bytes.begin; (at = starts.next(at, bytes.end)) < bytes.end; ++at)
        ++found.back();
    }
    const std::vector<std::uint64_t> all = gather_numbers(world, found);
    std::vector<std::uint64_t> counts;  // by stretch
    for (unsigned r = 0; r < world.size(); ++r) {
      const std::uint64_t* const of_rank = &all[r * found.size()];
      if (of_rank[0] != all[0])
        throw CommunicationError("read_part: " + printable(path) + " has " +
                                 std::to_string(all[0]) + " bytes for rank 0, and " +
                                 std::to_string(of_rank[0]) + " for rank " + std::to_string(r));
      counts.insert(counts.end(), of_rank + 1, of_rank + found.size());
    }
    part.samples = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const Interval mine = lanes_of_rank(lanes, world.rank(), world.size());
    if (mine.empty()) return;
    part.own = {samples_of_lane(part.samples, static_cast<unsigned>(mine.begin), lanes).begin,
                samples_of_lane(part.samples, static_cast<unsigned>(mine.end - 1), lanes).end};
    if (part.own.empty()) return;
    unsigned stretch = 0;  // where the first one begins
    std::size_t before = 0;
    while (before + counts[stretch] <= part.own.begin) before += counts[stretch++];
    Offset at = starts.next(bytes_of(stretch).begin);
    for (; before < part.own.begin; ++before) at = starts.next(at + 1);
    for (std::size_t sample = part.own.begin; sample < part.own.end; ++sample) {
      const Offset next = starts.next(at + 1);
      part.texts.push_back(cleaned(text.copy(at, next), end));
      at = next;
    }
  });
  return part;
}

LaneEpoch::LaneEpoch(std::size_t samples, unsigned lanes, Interval own, std::size_t minibatch,
                     std::uint64_t seed, std::uint64_t epoch)
    : samples_(samples), lanes_(LaneTree(lanes).lanes()), own_(own) {
  if (minibatch == 0) throw ArgumentError("LaneEpoch: a minibatch has at least one sample");
  updates_ = samples / minibatch + (samples % minibatch != 0);
  const std::uint64_t drawn = mix_bits(mix_bits(seed) + epoch);
  for (std::size_t lane = own.begin; lane < own.end; ++lane) {
    const Interval of_lane = samples_of_lane(samples, static_cast<unsigned>(lane), lanes);
    std::vector<std::size_t>& order = orders_.emplace_back(of_lane.size());
    std::iota(order.begin(), order.end(), of_lane.begin);
    std::uint64_t key = mix_bits(drawn + lane);
    for (std::size_t i = order.size(); i > 1; --i) {
      key = mix_bits(key + i);
      std::swap(order[i - 1], order[key % i]);
    }
  }
}

// Lanes that have one more take it in different updates.
Interval LaneEpoch::share(std::size_t update, unsigned lane) const {
  const std::size_t all = samples_of_lane(samples_, lane, lanes_).size();
  const auto first = [&](std::size_t u) {
    const std::size_t each = all / updates_, rest = all % updates_;
    return each * u + (rest * u + updates_ * lane / lanes_) / updates_;
  };
  return {first(update), first(update + 1)};
}

std::size_t LaneEpoch::count(std::size_t update) const {
  std::size_t n = 0;
  for (unsigned lane = 0; lane < lanes_; ++lane) n += count(update, lane);
  return n;
}

std::span<const std::size_t> LaneEpoch::samples(std::size_t update, unsigned lane) const {
  const Interval part = share(update, lane);
  return std::span(orders_.at(lane - own_.begin)).subspan(part.begin, part.size());
}

}  // namespace dynet
