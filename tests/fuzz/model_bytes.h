#pragma once

// Model files as their parts: what is changed in one gets right checksums, so that a reader goes on
// to what the bytes mean.

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/random.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/checksum.h"
#include "dynet-like/io/model_file.h"
#include "tests/io/damage.h"

namespace dynet::fuzz {

struct ModelBytes {
  FileIndex index;
  std::vector<std::string> sections;  ///< of the things, then of the tensors

  template <class Visit>
  void for_each_section(Visit visit) {
    auto bytes = sections.begin();
    for (SavedThing& t : index.things) visit(t.data, *bytes++);
    for (SavedGroup& g : index.groups)
      for (SavedTensor& t : g.tensors) visit(t.data, *bytes++);
  }
};

/// Nothing unless the index can be read. Checksums may be wrong.
inline std::optional<ModelBytes> take_apart(const std::string& bytes) {
  constexpr std::size_t kHeader = 64;
  if (bytes.size() < kHeader) return {};
  const auto n = io_detail::get_number<std::uint64_t>(&bytes[24]);
  if (n > bytes.size() - kHeader) return {};
  ModelBytes file;
  try {
    file.index =
        decode_index(std::string_view(bytes).substr(kHeader, n), kHeader + n, bytes.size());
  } catch (const FileError&) {
    return {};
  }
  for (const SavedThing& t : file.index.things)
    file.sections.push_back(bytes.substr(t.data.offset, t.data.size));
  for (const SavedGroup& g : file.index.groups)
    for (const SavedTensor& t : g.tensors)
      file.sections.push_back(bytes.substr(t.data.offset, t.data.size));
  return file;
}

/// The file of these parts, with right offsets and checksums.
inline std::string put_together(ModelBytes file) {
  std::uint64_t end = 64 + encode_index(file.index).size();
  std::string data;
  file.for_each_section([&](Section& section, const std::string& bytes) {
    const std::uint64_t begin = (end + 63) / 64 * 64;
    section = {0, begin, bytes.size(), checksum(bytes)};
    data.append(begin - end, '\0').append(bytes);
    end = begin + bytes.size();
  });
  const std::string index = encode_index(file.index);
  return encode_header(end, index) + index + data;
}

/// Numbers, one after another, that a seed decides.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}
  std::uint64_t bits() { return random_.bits(next_++); }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : bits() % n; }

 private:
  RandomStream random_;
  std::uint64_t next_ = 0;
};

/// The bytes of a number as files have it, which readers of counts and of sizes may not expect.
inline std::string odd_number(Draws& draws, std::size_t width) {
  constexpr std::array<std::uint64_t, 14> kOdd = {
      0, 1, 2, 3, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
      // and of 64 bits
      0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};
  std::string bytes;
  io_detail::append_number(bytes, kOdd[draws.below(kOdd.size())]);
  return bytes.substr(0, width);
}

inline std::string odd_float(Draws& draws, std::size_t width) {
  using Limits = std::numeric_limits<float>;
  const std::array<float, 9> odd = {
      0, -0.0f, 1, -1e38f, 1e38f, 1e-45f, -1e9f, Limits::infinity(), Limits::quiet_NaN()};
  const float x = odd[draws.below(odd.size())];
  std::string bytes;
  if (width == sizeof(float))
    io_detail::append_number(bytes, std::bit_cast<std::uint32_t>(x));
  else
    io_detail::append_number(bytes, std::bit_cast<std::uint64_t>(static_cast<double>(x)));
  return bytes;
}

/// A count that stands before its elements is another one, for which there are elements.
inline void change_count(std::string& archive, Draws& draws) {
  constexpr std::size_t kWidth = sizeof(std::uint64_t), kMost = 4096;
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at + kWidth <= archive.size(); ++at) {
    const auto n = io_detail::get_number<std::uint64_t>(&archive[at]);
    if (n > 0 && n <= std::min(kMost, archive.size() - at - kWidth)) places.push_back(at);
  }
  if (places.empty()) return;
  const std::size_t at = places[draws.below(places.size())];
  auto n = io_detail::get_number<std::uint64_t>(&archive[at]);
  constexpr std::array<std::size_t, 3> kElements = {1, 4, 8};
  const std::size_t element = kElements[draws.below(kElements.size())];
  const std::size_t begin = at + kWidth, other = draws.below(n + 3);
  if (other < n)
    archive.erase(begin, (n - other) * element);
  else
    archive.insert(begin, (other - n) * element, static_cast<char>(draws.below(3)));
  std::string count;
  io_detail::append_number(count, std::uint64_t{other});
  archive.replace(at, kWidth, count);
}

/// One change of the kinds that an archive of numbers, texts and containers has.
inline void change_archive(std::string& archive, Draws& draws) {
  const std::size_t at = draws.below(archive.size() + 1);
  const auto put = [&](const std::string& bytes) { archive.replace(at, bytes.size(), bytes); };
  constexpr std::array<std::size_t, 3> kWidths = {1, 4, 8};
  switch (draws.below(8)) {
    case 0:
    case 1:
      return put(odd_number(draws, kWidths[draws.below(kWidths.size())]));
    case 2:
      return put(odd_float(draws, draws.below(2) ? sizeof(float) : sizeof(double)));
    case 3:
      return change_count(archive, draws);
    case 4: {  // two numbers swapped
      const std::size_t width = kWidths[draws.below(kWidths.size())];
      if (archive.size() < 2 * width) return;
      const std::size_t a = draws.below(archive.size() - width + 1),
                        b = draws.below(archive.size() - width + 1);
      const std::string first = archive.substr(a, width);
      archive.replace(a, width, archive, b, width);
      archive.replace(b, width, first);
      return;
    }
    case 5:  // one more or one less
      if (at < archive.size())
        archive[at] = static_cast<char>(archive[at] + (draws.below(2) ? 1 : -1));
      return;
    default:
      archive = damaged(archive, draws.bits());
  }
}

/// Values that are none, too large, or another's.
inline void change_values(std::string& bytes, Draws& draws) {
  if (bytes.size() < sizeof(float)) return;
  const std::size_t values = bytes.size() / sizeof(float);
  const std::string x = odd_float(draws, sizeof(float));
  const bool all = draws.below(4) == 0;
  const std::size_t one = draws.below(values);
  for (std::size_t i = 0; i < values; ++i)
    if (all || i == one) bytes.replace(i * sizeof(float), sizeof(float), x);
}

/// Changes the index: things, groups and arrays.
inline void change_index(ModelBytes& file, Draws& draws) {
  if (file.index.groups.empty()) return;
  std::size_t first = file.index.things.size();
  const std::size_t chosen = draws.below(file.index.groups.size());
  for (std::size_t i = 0; i < chosen; ++i) first += file.index.groups[i].tensors.size();
  SavedGroup& group = file.index.groups[chosen];
  if (group.tensors.empty()) return;
  const std::size_t k = draws.below(group.tensors.size());
  SavedTensor& tensor = group.tensors[k];
  std::string& bytes = file.sections[first + k];
  switch (draws.below(8)) {
    case 0:
      tensor.updated = !tensor.updated;
      return;
    case 1:
      tensor.array = draws.below(4);
      return;
    case 2:
      tensor.name = group.tensors[draws.below(group.tensors.size())].name;
      return;
    case 3:  // another shape, with so many values
      (tensor.is_lookup || tensor.sizes.empty() ? tensor.rows
                                                : tensor.sizes[draws.below(tensor.sizes.size())]) =
          draws.below(8);
      bytes.resize(tensor.count() <= 4096 ? tensor.count() * sizeof(float) : 0);
      return;
    case 4:
      file.sections.erase(file.sections.begin() + static_cast<std::ptrdiff_t>(first + k));
      group.tensors.erase(group.tensors.begin() + static_cast<std::ptrdiff_t>(k));
      return;
    case 5:
      group.kind = damaged(group.kind, draws.bits());
      if (group.kind.empty()) group.kind = "x";
      return;
    default:
      if (group.numbers.empty()) return;
      auto number = group.numbers.begin();
      std::advance(number, static_cast<std::ptrdiff_t>(draws.below(group.numbers.size())));
      number->second =
          std::bit_cast<double>(io_detail::get_number<std::uint64_t>(odd_float(draws, 8).data()));
  }
}

/// A model file with one to three changes, and right checksums. Bytes that are none are damaged.
inline std::string mutated(const std::string& bytes, std::uint64_t seed) {
  std::optional<ModelBytes> file = take_apart(bytes);
  if (!file || file->index.things.empty()) return damaged(bytes, seed);
  Draws draws(seed);
  for (std::size_t changes = 1 + draws.below(3); changes > 0; --changes) {
    const std::size_t things = file->index.things.size();
    const std::size_t arrays = file->sections.size() - things;
    switch (draws.below(10)) {
      case 0:
        if (arrays > 0) change_values(file->sections[things + draws.below(arrays)], draws);
        break;
      case 1:
        change_index(*file, draws);
        break;
      case 2:
        change_archive(file->sections[draws.below(things)], draws);
        break;
      default:
        change_archive(file->sections[0], draws);
    }
  }
  return put_together(*std::move(file));
}

}  // namespace dynet::fuzz
