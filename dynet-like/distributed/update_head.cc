#include "dynet-like/distributed/update_head.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <type_traits>

namespace dynet {
namespace {

using Bytes = Communicator::Bytes;

// Machines of one run are of one kind: numbers travel as they lie in memory.
class Writer {
 public:
  template <class T>
  void put(const T& x) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_many(&x, 1);
  }
  template <class T>
  void put_many(const T* x, std::size_t n) {
    const auto* const first = reinterpret_cast<const std::byte*>(x);
    bytes.insert(bytes.end(), first, first + n * sizeof(T));
  }
  template <class T>
  void put_list(const std::vector<T>& list) {
    put(static_cast<std::uint64_t>(list.size()));
    put_many(list.data(), list.size());
  }

  Bytes bytes;
};

class Reader {
 public:
  explicit Reader(const Bytes& bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T x{};
    get_many(&x, 1);
    return x;
  }
  template <class T>
  std::vector<T> get_list() {
    const auto n = get<std::uint64_t>();
    if (n > bytes_.size()) fail();
    std::vector<T> list(n);
    get_many(list.data(), n);
    return list;
  }
  [[noreturn]] static void fail() {
    throw CommunicationError("a message about an update is not what this version sends");
  }

 private:
  template <class T>
  void get_many(T* to, std::size_t n) {
    if (n > (bytes_.size() - at_) / sizeof(T)) fail();
    if (n) std::memcpy(to, bytes_.data() + at_, n * sizeof(T));
    at_ += n * sizeof(T);
  }

  const Bytes& bytes_;
  std::size_t at_ = 0;
};

constexpr std::size_t kBits = 32;

void put_rows(Writer& out, const std::vector<std::uint32_t>& rows) {
  const std::size_t words = rows.empty() ? 0 : rows.back() / kBits + 1;
  const bool listed = rows.size() <= words;
  out.put(static_cast<char>(listed));
  if (listed) return out.put_list(rows);
  std::vector<std::uint32_t> bits(words);
  for (const std::uint32_t row : rows) bits[row / kBits] |= 1u << row % kBits;
  out.put_list(bits);
}

std::vector<std::uint32_t> get_rows(Reader& in) {
  const bool listed = in.get<char>();
  std::vector<std::uint32_t> list = in.get_list<std::uint32_t>();
  if (listed) return list;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t word = 0; word < list.size(); ++word)
    for (std::uint32_t bits = list[word]; bits; bits &= bits - 1)
      rows.push_back(word * kBits + static_cast<std::uint32_t>(std::countr_zero(bits)));
  return rows;
}

}  // namespace

void Presence::add(const Presence& other) {
  dense.resize(std::max(dense.size(), other.dense.size()));
  for (std::size_t p = 0; p < other.dense.size(); ++p) dense[p] |= other.dense[p];
  tables.resize(std::max(tables.size(), other.tables.size()));
  for (std::size_t t = 0; t < other.tables.size(); ++t) {
    Table& to = tables[t];
    const Table& from = other.tables[t];
    to.whole |= from.whole;
    std::vector<std::uint32_t> rows;
    if (!to.whole)
      std::set_union(to.rows.begin(), to.rows.end(), from.rows.begin(), from.rows.end(),
                     std::back_inserter(rows));
    to.rows = std::move(rows);
  }
}

void UpdateHead::add(const UpdateHead& other) {
  const auto odd = [&](std::uint32_t who, std::size_t what) {
    if (who >= odd_rank) return;
    odd_rank = who;
    different = static_cast<std::uint32_t>(what);
  };
  if (other.odd_rank != kNone) odd(other.odd_rank, other.different);
  const auto [mine, theirs] =
      std::mismatch(same.begin(), same.end(), other.same.begin(), other.same.end());
  if (mine != same.end() || theirs != other.same.end())
    odd(other.rank, static_cast<std::size_t>(mine - same.begin()));
  places |= other.places;
  losses.insert(losses.end(), other.losses.begin(), other.losses.end());
  present.add(other.present);
}

Communicator::Bytes UpdateHead::pack() const {
  Writer out;
  out.put(rank);
  out.put_list(same);
  out.put(places);
  std::vector<std::uint32_t> lanes;
  std::vector<double> values;
  for (const auto& [lane, value] : losses) {
    lanes.push_back(lane);
    values.push_back(value);
  }
  out.put_list(lanes);
  out.put_list(values);
  out.put_list(present.dense);
  out.put(static_cast<std::uint64_t>(present.tables.size()));
  for (const Presence::Table& t : present.tables) {
    out.put(static_cast<char>(t.whole));
    put_rows(out, t.rows);
  }
  out.put(odd_rank);
  out.put(different);
  return std::move(out.bytes);
}

UpdateHead UpdateHead::unpack(const Communicator::Bytes& bytes) {
  Reader in(bytes);
  UpdateHead head;
  head.rank = in.get<unsigned>();
  head.same = in.get_list<std::uint64_t>();
  head.places = in.get<std::uint8_t>();
  const auto lanes = in.get_list<std::uint32_t>();
  const auto values = in.get_list<double>();
  if (lanes.size() != values.size()) Reader::fail();
  for (std::size_t i = 0; i < lanes.size(); ++i) head.losses.emplace_back(lanes[i], values[i]);
  head.present.dense = in.get_list<char>();
  const auto tables = in.get<std::uint64_t>();
  if (tables > bytes.size()) Reader::fail();
  for (std::uint64_t t = 0; t < tables; ++t) {
    const bool whole = in.get<char>();
    head.present.tables.push_back({whole, get_rows(in)});
  }
  head.odd_rank = in.get<std::uint32_t>();
  head.different = in.get<std::uint32_t>();
  return head;
}

}  // namespace dynet
