#include "dynet-like/distributed/update_head.h"

#include <algorithm>
#include <boost/archive/archive_exception.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>
#include <iterator>
#include <string>

#include "dynet-like/io/archive.h"

namespace dynet {

template <class Archive>
void serialize(Archive& ar, Presence::Table& t, unsigned) {
  ar& t.whole& t.rows;
}

template <class Archive>
void serialize(Archive& ar, UpdateHead& h, unsigned) {
  ar& h.rank& h.same& h.places& h.losses& h.present.dense& h.present.tables;
  ar& h.odd_rank& h.different;
}

void Presence::add(const Presence& other) {
  dense.resize(std::max(dense.size(), other.dense.size()));
  for (std::size_t p = 0; p < other.dense.size(); ++p)
    dense[p] = static_cast<char>(dense[p] | other.dense[p]);
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
  std::string bytes;
  io_detail::BytesOut out(bytes);
  boost::archive::binary_oarchive(out, boost::archive::no_codecvt) << *this;
  return bytes_of(bytes);
}

UpdateHead UpdateHead::unpack(const Communicator::Bytes& bytes) {
  UpdateHead head;
  io_detail::BytesIn in({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  try {
    io_detail::BytesArchive(in) >> head;
    if (in.left() == 0) return head;
  } catch (const boost::archive::archive_exception&) {
  } catch (const FileError&) {
  }
  throw CommunicationError("a message about an update is not what this version sends");
}

}  // namespace dynet
