#pragma once

// Boost.Serialization for the types of this library, for a program's own archives and for `save`
// and `load`. Everything is read and checked before anything is stored. In model files the values
// of parameters are outside the archives, which contain numbers of groups instead.

#include <algorithm>
#include <bit>
#include <boost/serialization/array_wrapper.hpp>
#include <boost/serialization/nvp.hpp>
#include <boost/serialization/split_free.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <locale>
#include <random>
#include <sstream>
#include <string_view>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/dict.h"
#include "dynet-like/io/loading.h"

namespace dynet::io_detail {

/// Attached to the archives of model files: destination and source of the values of parameters.
/// Other archives contain the values, which are stored as soon as they are read.
struct ArchiveHelper {
  Saving* saving = nullptr;
  Loading* loading = nullptr;
  const FileIndex* index = nullptr;
};
inline constexpr char kArchiveHelperId = 0;

template <class Archive>
ArchiveHelper* find_helper(Archive& ar) {
  if constexpr (requires(void* id) { ar.template get_helper<ArchiveHelper>(id); })
    return &ar.template get_helper<ArchiveHelper>(const_cast<char*>(&kArchiveHelperId));
  else
    return nullptr;
}

template <class Archive, class T>
void put(Archive& ar, const char* name, const T& value) {
  ar << boost::serialization::make_nvp(name, value);
}

template <class T, class Archive>
T get(Archive& ar, const char* name) {
  T value{};
  ar >> boost::serialization::make_nvp(name, value);
  return value;
}

// Values are read in pieces, so that a wrong count ends the archive before memory is allocated.
inline constexpr std::uint64_t kArchivePiece = std::uint64_t{1} << 20;

// Text archives write infinities and NaNs but cannot read them. A group with such values has a kind
// that ends in this text, and its numbers are stored as integers with the same bits.
inline constexpr std::string_view kAsBits = " as bits";

template <class Archive>
void save_floats(Archive& ar, const float* values, std::uint64_t n, bool as_bits) {
  std::vector<std::uint32_t> bits;
  for (std::uint64_t done = 0; done < n; done += kArchivePiece) {
    const std::uint64_t count = std::min(n - done, kArchivePiece);
    if (as_bits) {
      bits.resize(count);
      std::memcpy(bits.data(), values + done, count * sizeof(float));
      put(ar, "values", boost::serialization::make_array(bits.data(), count));
    } else {
      put(ar, "values", boost::serialization::make_array(values + done, count));
    }
  }
}

template <class Archive>
std::vector<float> load_floats(Archive& ar, std::uint64_t n, bool as_bits) {
  std::vector<float> values;
  std::vector<std::uint32_t> bits;
  for (std::uint64_t done = 0; done < n; done += kArchivePiece) {
    const std::uint64_t count = std::min(n - done, kArchivePiece);
    values.resize(done + count);
    if (as_bits) {
      bits.resize(count);
      auto piece = boost::serialization::make_array(bits.data(), count);
      ar >> boost::serialization::make_nvp("values", piece);
      std::memcpy(values.data() + done, bits.data(), count * sizeof(float));
    } else {
      auto piece = boost::serialization::make_array(values.data() + done, count);
      ar >> boost::serialization::make_nvp("values", piece);
    }
  }
  return values;
}

template <class Archive>
void save_group(Archive& ar, GroupView view) {
  if (ArchiveHelper* helper = find_helper(ar); helper && helper->saving) {
    put(ar, "group", helper->saving->add(std::move(view)));
    return;
  }
  const bool as_bits = !is_finite(view);
  put(ar, "kind", view.group.kind + std::string(as_bits ? kAsBits : ""));
  put(ar, "settings", std::uint64_t{view.group.numbers.size()});
  for (const auto& [name, value] : view.group.numbers) {
    put(ar, "name", name);
    if (as_bits)
      put(ar, "value", std::bit_cast<std::uint64_t>(value));
    else
      put(ar, "value", value);
  }
  put(ar, "tensors", std::uint64_t{view.group.tensors.size()});
  for (std::size_t i = 0; i < view.values.size(); ++i) {
    const SavedTensor& t = view.group.tensors[i];
    put(ar, "name", t.name);
    put(ar, "array", t.array);
    put(ar, "lookup", t.is_lookup);
    put(ar, "updated", t.updated);
    put(ar, "rows", t.rows);
    put(ar, "sizes", t.sizes);
    save_floats(ar, view.values[i], t.count(), as_bits);
  }
}

template <class Archive>
IncomingGroup load_group(Archive& ar) {
  if (ArchiveHelper* helper = find_helper(ar); helper && helper->index) {
    const auto number = get<std::uint64_t>(ar, "group");
    if (number >= helper->index->groups.size())
      throw FileError("the file has no group " + std::to_string(number));
    IncomingGroup in;
    in.group = helper->index->groups[number];
    return in;
  }
  IncomingGroup in;
  in.group.kind = get<std::string>(ar, "kind");
  const bool as_bits = in.group.kind.ends_with(kAsBits);
  if (as_bits) in.group.kind.resize(in.group.kind.size() - kAsBits.size());
  for (auto n = get<std::uint64_t>(ar, "settings"); n > 0; --n) {
    const auto name = get<std::string>(ar, "name");
    in.group.numbers[name] =
        as_bits ? std::bit_cast<double>(get<std::uint64_t>(ar, "value")) : get<double>(ar, "value");
  }
  for (auto n = get<std::uint64_t>(ar, "tensors"); n > 0; --n) {
    SavedTensor t;
    t.name = get<std::string>(ar, "name");
    t.array = get<std::uint64_t>(ar, "array");
    t.is_lookup = get<bool>(ar, "lookup");
    t.updated = get<bool>(ar, "updated");
    t.rows = get<std::uint64_t>(ar, "rows");
    t.sizes = get<std::vector<std::uint64_t>>(ar, "sizes");
    t.dim();  // throws if the shape is invalid
    in.values.push_back(load_floats(ar, t.count(), as_bits));
    in.group.tensors.push_back(std::move(t));
  }
  return in;
}

/// Stores the values at once, or, for a model file, when the whole file is read.
template <class Archive, class Thing>
void load_into(Archive& ar, Thing& thing) {
  IncomingGroup in = load_group(ar);
  if (ArchiveHelper* helper = find_helper(ar); helper && helper->loading) {
    helper->loading->add(thing, std::move(in));
    return;
  }
  Loading loading;
  loading.add(thing, std::move(in));
  if (const std::string problem = loading.problem(); !problem.empty())
    throw FileError("the archive does not fit: " + problem);
  loading.commit();
}

}  // namespace dynet::io_detail

namespace dynet {

/// Number of values in all collections of the file that `load` is reading: an upper bound for sizes
/// in its archives. For other archives the largest integer.
template <class Archive>
std::uint64_t numbers_in_collections(Archive& ar) {
  const io_detail::ArchiveHelper* const helper = io_detail::find_helper(ar);
  if (!helper || !helper->index) return ~std::uint64_t{0};
  std::uint64_t numbers = 0;
  for (const SavedGroup& group : helper->index->groups)
    for (const SavedTensor& t : group.tensors)
      if (group.kind == "ParameterCollection") numbers += t.count();
  return numbers;
}

}  // namespace dynet

namespace boost::serialization {

/// A collection is a list of named tensors; they are loaded by name into an existing collection.
template <class Archive>
void serialize(Archive& ar, dynet::ParameterCollection& pc, unsigned) {
  if constexpr (Archive::is_saving::value)
    dynet::io_detail::save_group(ar, dynet::view_of(pc));
  else
    dynet::io_detail::load_into(ar, pc);
}

/// A parameter; it is loaded into a handle of a parameter with the same full name.
template <class Archive>
void serialize(Archive& ar, dynet::Parameter& p, unsigned) {
  if constexpr (Archive::is_saving::value)
    dynet::io_detail::save_group(ar, dynet::view_of(p, "Parameter"));
  else
    dynet::io_detail::load_into(ar, p);
}

template <class Archive>
void serialize(Archive& ar, dynet::LookupParameter& p, unsigned) {
  if constexpr (Archive::is_saving::value)
    dynet::io_detail::save_group(ar, dynet::view_of(p, "LookupParameter"));
  else
    dynet::io_detail::load_into(ar, p);
}

/// Settings, counters and state of any trainer; state is assigned to parameters by name.
template <class Archive, class T>
requires std::derived_from<T, dynet::Trainer>
void serialize(Archive& ar, T& trainer, unsigned) {
  if constexpr (Archive::is_saving::value)
    dynet::io_detail::save_group(ar, dynet::view_of(trainer));
  else
    dynet::io_detail::load_into(ar, static_cast<dynet::Trainer&>(trainer));
}

/// Words, frozen flag and unknown word.
template <class Archive>
void serialize(Archive& ar, dynet::Dict& dict, unsigned) {
  namespace io = dynet::io_detail;
  if constexpr (Archive::is_saving::value) {
    io::put(ar, "words", dict.get_words());
    io::put(ar, "frozen", dict.is_frozen());
    io::put(ar, "unk", std::int32_t{dict.get_unk_id()});
  } else {
    dynet::Dict read(io::get<std::vector<std::string>>(ar, "words"));
    const bool frozen = io::get<bool>(ar, "frozen");
    const auto unk = io::get<std::int32_t>(ar, "unk");
    if (frozen) read.freeze();
    if (unk >= 0) read.set_unk(read.convert(unk));
    dict = std::move(read);
  }
}

/// The state of a standard random engine, so that a resumed run draws the same numbers.
template <class Archive, class U, std::size_t w, std::size_t n, std::size_t m, std::size_t r, U a,
          std::size_t u, U d, std::size_t s, U b, std::size_t t, U c, std::size_t l, U f>
void serialize(Archive& ar,
               std::mersenne_twister_engine<U, w, n, m, r, a, u, d, s, b, t, c, l, f>& engine,
               unsigned) {
  std::stringstream text;
  text.imbue(std::locale::classic());
  if constexpr (Archive::is_saving::value) {
    text << engine;
    dynet::io_detail::put(ar, "engine", text.str());
  } else {
    text.str(dynet::io_detail::get<std::string>(ar, "engine"));
    std::mersenne_twister_engine<U, w, n, m, r, a, u, d, s, b, t, c, l, f> read;
    if (!(text >> read)) throw dynet::FileError("the state of a random engine is broken");
    engine = read;
  }
}

}  // namespace boost::serialization
