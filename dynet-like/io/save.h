#pragma once

#include <bit>
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/set.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/unordered_map.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>
#include <concepts>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dynet-like/io/bytes.h"
#include "dynet-like/io/frame.h"
#include "dynet-like/io/parts.h"
#include "dynet-like/io/serialize.h"

namespace dynet {
namespace io_detail {

static_assert(std::endian::native == std::endian::little, "the format holds little-endian floats");

template <class T>
inline constexpr bool kDeferred =
    std::is_same_v<T, ParameterCollection> || std::derived_from<T, Trainer>;

// What a part of a file is called: enough to notice that things are loaded in another order.
template <class T>
struct PartKind {
  static std::string name(const T& thing) {
    if constexpr (std::derived_from<T, Trainer>)
      return thing.kind();
    else
      return name();
  }
  static std::string name() {
    if constexpr (std::is_same_v<T, ParameterCollection>) return "ParameterCollection";
    if constexpr (std::is_same_v<T, Dict>) return "Dict";
    if constexpr (std::is_same_v<T, std::string>) return "string";
    if constexpr (std::is_same_v<T, bool>) return "bool";
    if constexpr (std::is_arithmetic_v<T>)
      return (std::is_floating_point_v<T> ? "float"
              : std::is_signed_v<T>       ? "int"
                                          : "unsigned") +
             std::to_string(8 * sizeof(T));
    return "object";
  }
};
template <class T, class A>
struct PartKind<std::vector<T, A>> {
  static std::string name() { return "vector of " + PartKind<T>::name(); }
  static std::string name(const std::vector<T, A>&) { return name(); }
};

template <class T>
void save_part(PartWriter& out, const T& thing) {
  out.begin(PartKind<T>::name(thing));
  {
    BytesOut bytes(out.bytes());
    boost::archive::binary_oarchive archive(bytes, boost::archive::no_codecvt);
    archive << thing;
  }
  out.end();
}

template <class T>
void read_part(const PartReader& in, std::size_t i, T& thing, Loading& loading) {
  BytesIn bytes(in.part(i, PartKind<T>::name(thing)));
  try {
    boost::archive::binary_iarchive archive(bytes, boost::archive::no_codecvt);
    archive.template get_helper<LoadHelper>(const_cast<char*>(&kLoadHelperId)).loading = &loading;
    archive >> thing;
  } catch (const boost::archive::archive_exception& e) {
    in.fail(i, e.what());
  } catch (const Error& e) {
    in.fail(i, e.what());
  } catch (const std::bad_alloc&) {
    in.fail(i, "it needs more memory than there is");
  } catch (const std::length_error& e) {
    in.fail(i, e.what());
  }
  if (bytes.left() > 0) in.fail(i, std::to_string(bytes.left()) + " bytes are left over");
}

// One thing on its way from the file: read into a copy, which takes the place of the thing at the
// end.
template <class T>
class Incoming {
 public:
  explicit Incoming(T& thing) : thing_(thing) {}

  void read(const PartReader& in, std::size_t i, Loading& loading) {
    if constexpr (kDeferred<T>) {
      read_part(in, i, thing_, loading);
    } else if constexpr (kCopied) {
      copy_ = std::make_unique<T>(thing_);
      read_part(in, i, *copy_, loading);
    }
  }
  void read_in_place(const PartReader& in, std::size_t i, Loading& loading) {
    if constexpr (!kDeferred<T> && !kCopied) read_part(in, i, thing_, loading);
  }
  void commit() {
    if constexpr (!kDeferred<T> && kCopied) thing_ = std::move(*copy_);
  }

 private:
  static constexpr bool kCopied = std::is_copy_constructible_v<T> && std::is_move_assignable_v<T>;

  T& thing_;
  std::unique_ptr<T> copy_;
};

}  // namespace io_detail

/// Saves things in one file: all of them, or the file stays as it was. See write_framed.
///
/// A thing is a ParameterCollection (its values, not the gradients, by names relative to the
/// collection), a Dict, a trainer, a builder (its settings; its parameters belong to a collection),
/// a number, a string, a container of the standard library, or anything with a Boost `serialize`,
/// which may contain all of these. Throws FileError.
template <class... Ts>
void save(const std::string& path, const Ts&... things) {
  static_assert(sizeof...(Ts) > 0, "save needs something to save");
  io_detail::PartWriter out(sizeof...(Ts));
  (io_detail::save_part(out, things), ...);
  write_framed(path, out.bytes());
}

/// Loads what `save` saved, the same things in the same order.
///
/// A collection must have the parameters that were saved, found by name whatever their order; a
/// trainer must be of the same kind, on parameters of the same names. FileError names the file and
/// the cause, all parameters that are missing, unknown or of another shape at once. Everything is
/// read and checked before the first thing changes, so that an error leaves them all as they were;
/// only things that cannot be copied are read in place, after all others.
template <class... Ts>
void load(const std::string& path, Ts&... things) {
  static_assert(sizeof...(Ts) > 0, "load needs something to load");
  const std::string payload = read_framed(path);
  const io_detail::PartReader in(path, payload, sizeof...(Ts));
  Loading loading;
  std::tuple<io_detail::Incoming<Ts>...> incoming{io_detail::Incoming<Ts>(things)...};
  std::size_t i = 0, k = 0;
  std::apply(
      [&](auto&... each) {
        (each.read(in, i++, loading), ...);
        in.check(loading);
        (each.read_in_place(in, k++, loading), ...);
        in.check(loading);
        loading.commit();
        (each.commit(), ...);
      },
      incoming);
}

}  // namespace dynet
