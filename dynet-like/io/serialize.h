#pragma once

// How Boost.Serialization sees the types of this library, for archives of your own and for `save`
// and `load`. Everything is read and checked before anything is stored.

#include <boost/serialization/array_wrapper.hpp>
#include <boost/serialization/nvp.hpp>
#include <boost/serialization/split_free.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <concepts>
#include <cstdint>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/dict.h"
#include "dynet-like/io/loading.h"

namespace dynet::io_detail {

/// Kept by an archive: where parameters and trainers go that are read inside other objects. Without
/// a `loading` they are stored as soon as they are read.
struct LoadHelper {
  Loading* loading = nullptr;
};
inline constexpr char kLoadHelperId = 0;

template <class Archive>
Loading* find_loading(Archive& ar) {
  if constexpr (requires(void* id) { ar.template get_helper<LoadHelper>(id); })
    return ar.template get_helper<LoadHelper>(const_cast<char*>(&kLoadHelperId)).loading;
  else
    return nullptr;
}

/// Stores at once, or when all of the file is read.
template <class Archive, class Thing, class Read>
void finish(Archive& ar, Thing& thing, Read read) {
  if (Loading* loading = find_loading(ar)) {
    loading->add(thing, std::move(read));
    return;
  }
  Loading loading;
  loading.add(thing, std::move(read));
  if (const std::string problem = loading.problem(); !problem.empty())
    throw FileError("the archive does not fit: " + problem);
  loading.commit();
}

template <class Archive>
void save_dim(Archive& ar, const Dim& dim) {
  const std::vector<std::uint32_t> sizes(dim.d, dim.d + dim.nd);
  ar << boost::serialization::make_nvp("sizes", sizes);
}

template <class Archive>
Dim load_dim(Archive& ar) {
  std::vector<std::uint32_t> sizes;
  ar >> boost::serialization::make_nvp("sizes", sizes);
  return Dim(std::vector<long>(sizes.begin(), sizes.end()));
}

template <class Archive>
void save_floats(Archive& ar, const float* values, std::size_t n) {
  auto bytes = boost::serialization::make_array(values, n);
  ar << boost::serialization::make_nvp("values", bytes);
}

template <class Archive>
void load_floats(Archive& ar, float* values, std::size_t n) {
  auto bytes = boost::serialization::make_array(values, n);
  ar >> boost::serialization::make_nvp("values", bytes);
}

}  // namespace dynet::io_detail

namespace boost::serialization {

/// A collection is a list of named tensors; into an existing one they are loaded by name.
template <class Archive>
void save(Archive& ar, const dynet::ParameterCollection& pc, unsigned) {
  const auto list = dynet::named_parameters(pc);
  const std::uint64_t count = list.size();
  ar << make_nvp("count", count);
  for (const auto& [name, p] : list) {
    const std::uint64_t rows = p->rows;
    ar << make_nvp("name", name) << make_nvp("lookup", p->is_lookup) << make_nvp("rows", rows);
    dynet::io_detail::save_dim(ar, p->dim);
    p->settle_all();
    dynet::io_detail::save_floats(ar, p->values, p->size());
  }
}

template <class Archive>
void load(Archive& ar, dynet::ParameterCollection& pc, unsigned) {
  std::uint64_t count = 0, rows = 0;
  ar >> make_nvp("count", count);
  std::vector<dynet::SavedTensor> tensors;
  for (std::uint64_t i = 0; i < count; ++i) {
    dynet::SavedTensor t;
    ar >> make_nvp("name", t.name) >> make_nvp("lookup", t.is_lookup) >> make_nvp("rows", rows);
    t.dim = dynet::io_detail::load_dim(ar);
    t.rows = rows;
    t.values.resize(t.rows * t.dim.size());
    dynet::io_detail::load_floats(ar, t.values.data(), t.values.size());
    tensors.push_back(std::move(t));
  }
  dynet::io_detail::finish(ar, pc, std::move(tensors));
}

template <class Archive>
void serialize(Archive& ar, dynet::ParameterCollection& pc, const unsigned version) {
  split_free(ar, pc, version);
}

/// The words, and how the dictionary treats others.
template <class Archive>
void save(Archive& ar, const dynet::Dict& dict, unsigned) {
  const bool frozen = dict.is_frozen();
  const std::int32_t unk = dict.get_unk_id();
  ar << make_nvp("words", dict.get_words()) << make_nvp("frozen", frozen) << make_nvp("unk", unk);
}

template <class Archive>
void load(Archive& ar, dynet::Dict& dict, unsigned) {
  std::vector<std::string> words;
  bool frozen = false;
  std::int32_t unk = -1;
  ar >> make_nvp("words", words) >> make_nvp("frozen", frozen) >> make_nvp("unk", unk);
  dynet::Dict read(words);
  if (frozen) read.freeze();
  if (unk >= 0) read.set_unk(read.convert(unk));
  dict = std::move(read);
}

template <class Archive>
void serialize(Archive& ar, dynet::Dict& dict, const unsigned version) {
  split_free(ar, dict, version);
}

/// Settings, counters and state of any trainer; the state belongs to parameters by name.
template <class Archive, class T>
requires std::derived_from<T, dynet::Trainer>
void save(Archive& ar, const T& trainer, unsigned) {
  const std::string kind = trainer.kind();
  const auto numbers = trainer.numbers();
  const auto states = trainer.state_views();
  const std::uint64_t number_count = numbers.size(), state_count = states.size();
  ar << make_nvp("kind", kind) << make_nvp("number_count", number_count);
  for (const auto& [name, value] : numbers)
    ar << make_nvp("name", name) << make_nvp("value", value);
  ar << make_nvp("state_count", state_count);
  for (const auto& s : states) {
    const std::uint64_t arrays = s.arrays.size();
    ar << make_nvp("name", s.name) << make_nvp("arrays", arrays);
    dynet::io_detail::save_dim(ar, s.dim);
    for (const float* a : s.arrays) dynet::io_detail::save_floats(ar, a, s.dim.size());
  }
}

template <class Archive, class T>
requires std::derived_from<T, dynet::Trainer>
void load(Archive& ar, T& trainer, unsigned) {
  dynet::TrainerSnapshot read;
  std::uint64_t number_count = 0, state_count = 0, arrays = 0;
  ar >> make_nvp("kind", read.kind) >> make_nvp("number_count", number_count);
  for (std::uint64_t i = 0; i < number_count; ++i) {
    std::string name;
    double value = 0;
    ar >> make_nvp("name", name) >> make_nvp("value", value);
    read.numbers[name] = value;
  }
  ar >> make_nvp("state_count", state_count);
  for (std::uint64_t i = 0; i < state_count; ++i) {
    dynet::TrainerSnapshot::Entry e;
    ar >> make_nvp("name", e.name) >> make_nvp("arrays", arrays);
    e.dim = dynet::io_detail::load_dim(ar);
    for (std::uint64_t k = 0; k < arrays; ++k) {
      e.arrays.emplace_back(e.dim.size());
      dynet::io_detail::load_floats(ar, e.arrays.back().data(), e.dim.size());
    }
    read.entries.push_back(std::move(e));
  }
  dynet::io_detail::finish(ar, static_cast<dynet::Trainer&>(trainer), std::move(read));
}

template <class Archive, class T>
requires std::derived_from<T, dynet::Trainer>
void serialize(Archive& ar, T& trainer, const unsigned version) {
  split_free(ar, trainer, version);
}

}  // namespace boost::serialization
