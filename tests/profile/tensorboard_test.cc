#include "dynet-like/profile/tensorboard.h"

#include <filesystem>
#include <fstream>

#include "tests/io/folder.h"
#include "tests/support/prelude.h"

namespace tensorboard_test {

using namespace dynet;

namespace {

// Bit by bit, as Castagnoli's polynomial is written down.
std::uint32_t masked_crc(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0u);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

template <class Number>
Number number_at(const std::string& bytes, std::size_t at) {
  Number n;
  REQUIRE(at + sizeof n <= bytes.size());
  std::memcpy(&n, bytes.data() + at, sizeof n);
  return n;
}

/// Fields of a protocol buffer: number, and the bytes of its value.
std::multimap<unsigned, std::string> fields_of(const std::string& message) {
  std::multimap<unsigned, std::string> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
      REQUIRE(at < message.size());
      const auto byte = static_cast<unsigned char>(message[at++]);
      n |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return n;
    }
  };
  while (at < message.size()) {
    const std::uint64_t key = varint();
    std::size_t size = 0;
    std::string value;
    switch (key & 7) {
      case 0: {
        const std::uint64_t n = varint();
        value.assign(reinterpret_cast<const char*>(&n), sizeof n);
        break;
      }
      case 1:
        size = 8;
        break;
      case 2:
        size = varint();
        break;
      case 5:
        size = 4;
        break;
      default:
        FAIL("wire type " << (key & 7));
    }
    REQUIRE(at + size <= message.size());
    if (size > 0) value = message.substr(at, size);
    at += size;
    fields.emplace(static_cast<unsigned>(key >> 3), value);
  }
  return fields;
}

std::string field(const std::string& message, unsigned number) {
  const auto fields = fields_of(message);
  const auto found = fields.find(number);
  return found == fields.end() ? "" : found->second;
}

struct Folder {
  TemporaryFolder folder;
  std::string path = folder / "board";

  std::vector<std::string> files() const {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path)) all.insert(entry.path());
    return {all.begin(), all.end()};
  }
  /// The events of a file, with checked sums.
  static std::vector<std::string> events(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::vector<std::string> all;
    for (std::size_t at = 0; at < bytes.size();) {
      const auto size = number_at<std::uint64_t>(bytes, at);
      CHECK(number_at<std::uint32_t>(bytes, at + 8) == masked_crc(bytes.substr(at, 8)));
      all.push_back(bytes.substr(at + 12, size));
      CHECK(number_at<std::uint32_t>(bytes, at + 12 + size) == masked_crc(all.back()));
      at += 16 + size;
    }
    return all;
  }
  std::vector<std::string> events() const { return events(files().at(0)); }
};

constexpr unsigned kStep = 2, kVersion = 3, kSummary = 5, kSession = 7;

std::vector<double> doubles(const std::string& bytes) {
  std::vector<double> all(bytes.size() / sizeof(double));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace

TEST_CASE("TensorBoard: a point of a curve has its tag, step and value") {
  const Folder folder;
  {
    TensorBoardWriter board(folder.path);
    board.add_scalar("loss/dev", 0.25, 3);
    board.add_scalar("größe", std::nan(""), -1);
  }
  REQUIRE(folder.files().size() == 1);
  CHECK(folder.files()[0].find("tfevents") != std::string::npos);
  const auto events = folder.events();
  REQUIRE(events.size() == 3);
  CHECK(field(events[0], kVersion) == "brain.Event:2");
  CHECK(number_at<double>(field(events[1], 1), 0) > 1.7e9);  // seconds since 1970
  CHECK(number_at<std::int64_t>(field(events[1], kStep), 0) == 3);
  const std::string value = field(field(events[1], kSummary), 1);
  CHECK(field(value, 1) == "loss/dev");
  CHECK(number_at<float>(field(value, 2), 0) == 0.25f);
  CHECK(number_at<std::int64_t>(field(events[2], kStep), 0) == -1);
  CHECK(field(field(field(events[2], kSummary), 1), 1) == "größe");
}

TEST_CASE("TensorBoard: a histogram counts each finite number in its bucket") {
  const Folder folder;
  const std::vector<float> numbers = {0,       0, 1, -1, 2.5f, 1e-20f, 3e38f, -3e38f, std::nanf(""),
                                      INFINITY};
  {
    TensorBoardWriter board(folder.path);
    board.add_histogram("h", numbers, 1);
    board.add_histogram("empty", {}, 1);
  }
  const auto events = folder.events();
  REQUIRE(events.size() == 3);
  const std::string h = field(field(field(events[1], kSummary), 1), 5);
  CHECK(number_at<double>(field(h, 1), 0) == double(-3e38f));
  CHECK(number_at<double>(field(h, 2), 0) == double(3e38f));
  CHECK(number_at<double>(field(h, 3), 0) == 8);
  const std::vector<double> limits = doubles(field(h, 6)), counts = doubles(field(h, 7));
  REQUIRE(limits.size() == counts.size());
  REQUIRE(std::is_sorted(limits.begin(), limits.end()));
  for (std::size_t k = 0; k < limits.size(); ++k) {
    double expected = 0;
    for (const float x : numbers)
      if (std::isfinite(x) && double(x) <= limits[k] && (k == 0 || double(x) > limits[k - 1]))
        ++expected;
    CHECK(counts[k] == expected);
  }
  const std::string empty = field(field(field(events[2], kSummary), 1), 5);
  CHECK(number_at<double>(field(empty, 3), 0) == 0);
}

TEST_CASE("TensorBoard: parameters, tables and their gradients have a histogram each") {
  const Folder folder;
  ParameterCollection pc;
  Parameter w = pc.add_subcollection("net").add_parameters({2, 2}, ParameterInitConst(3), "w");
  LookupParameter table = pc.add_lookup_parameters(4, {3}, ParameterInitConst(5), "t");
  ComputationGraph g;
  g.backward(sum_elems(parameter(g, w)) + sum_elems(lookup(g, table, 1)));
  {
    TensorBoardWriter board(folder.path);
    board.add_parameters(pc, 7);
    board.add_gradients(pc, 7);
  }
  std::map<std::string, std::array<double, 3>> found;  // smallest, largest, count
  for (const std::string& event : folder.events()) {
    const std::string value = field(field(event, kSummary), 1), h = field(value, 5);
    if (h.empty()) continue;
    found[field(value, 1)] = {number_at<double>(field(h, 1), 0), number_at<double>(field(h, 2), 0),
                              number_at<double>(field(h, 3), 0)};
  }
  const std::map<std::string, std::array<double, 3>> expected = {{"net/w", {3, 3, 4}},
                                                                 {"t", {5, 5, 12}},
                                                                 {"gradients/net/w", {1, 1, 4}},
                                                                 {"gradients/t", {0, 1, 12}}};
  CHECK(found == expected);
}

TEST_CASE("TensorBoard: a run that goes on writes a new file, which names its first step") {
  const Folder folder;
  { TensorBoardWriter(folder.path).add_scalar("x", 1, 1); }
  { TensorBoardWriter(folder.path, 9).add_scalar("x", 2, 9); }
  REQUIRE(folder.files().size() == 2);
  const auto events = Folder::events(folder.files()[1]);
  REQUIRE(events.size() == 3);
  CHECK(number_at<std::int64_t>(field(events[1], kStep), 0) == 9);
  const std::string session = field(events[1], kSession);
  CHECK(number_at<std::uint64_t>(field(session, 1), 0) == 1);  // SessionLog::START
}

TEST_CASE("TensorBoard: nothing is lost or torn where a file cannot be written") {
  const Folder folder;
  CHECK_THROWS_AS(TensorBoardWriter("/proc/nowhere"), FileError);
  TensorBoardWriter board(folder.path);
  board.add_scalar("x", 1, 1);
  board.flush();
  const auto before = folder.events().size();
  board.add_scalar("x", 2, 2);
  CHECK(folder.events().size() == before);  // whole records, when they are flushed
  board.flush();
  CHECK(folder.events().size() == before + 1);
}

}  // namespace tensorboard_test
