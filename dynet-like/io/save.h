#pragma once

#include <array>
#include <bit>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/set.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/unique_ptr.hpp>
#include <boost/serialization/unordered_map.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>
#include <concepts>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dynet-like/io/archive.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/loading.h"
#include "dynet-like/io/serialize.h"

namespace dynet {

/// Whether `load` may copy a thing, in order to leave it unchanged after an error. Specialize it as
/// `false` for a struct that wrongly appears to be copyable, such as one with a vector of unique
/// pointers. Things that cannot be copied are read in place, after all others were read.
template <class T>
inline constexpr bool kCopiedByLoad =
    std::is_copy_constructible_v<T>&& std::is_move_assignable_v<T>;
template <class T, class A>
inline constexpr bool kCopiedByLoad<std::vector<T, A>> = kCopiedByLoad<T>;
template <class A, class B>
inline constexpr bool kCopiedByLoad<std::pair<A, B>> = kCopiedByLoad<A>&& kCopiedByLoad<B>;
template <class K, class V, class C, class A>
inline constexpr bool kCopiedByLoad<std::map<K, V, C, A>> = kCopiedByLoad<V>;
template <class K, class V, class H, class E, class A>
inline constexpr bool kCopiedByLoad<std::unordered_map<K, V, H, E, A>> = kCopiedByLoad<V>;

namespace io_detail {

static_assert(std::endian::native == std::endian::little, "the format holds little-endian floats");

// Types whose values are stored at the end by Loading.
template <class T>
inline constexpr bool kDeferred =
    std::is_same_v<T, ParameterCollection> ||
    std::convertible_to<const T&, const ParameterHandle&> || std::derived_from<T, Trainer>;

// Containers, which are replaced as a whole.
template <class T>
inline constexpr bool kFresh = false;
template <class T, class A>
inline constexpr bool kFresh<std::vector<T, A>> = true;
template <class T, class D>
inline constexpr bool kFresh<std::unique_ptr<T, D>> = true;
template <class K, class V, class C, class A>
inline constexpr bool kFresh<std::map<K, V, C, A>> = true;
template <class K, class V, class H, class E, class A>
inline constexpr bool kFresh<std::unordered_map<K, V, H, E, A>> = true;

template <class T>
inline constexpr bool kInPlace = !kDeferred<T> && !kCopiedByLoad<T> && !kFresh<T>;

// Kind of an object in a file; it detects objects that are loaded in a different order.
template <class T>
struct ThingKind {
  static std::string name(const T& thing) {
    if constexpr (std::derived_from<T, Trainer>)
      return thing.kind();
    else
      return name();
  }
  static std::string name() {
    if constexpr (std::is_same_v<T, ParameterCollection>) return "ParameterCollection";
    if constexpr (std::is_same_v<T, Parameter>) return "Parameter";
    if constexpr (std::is_same_v<T, LookupParameter>) return "LookupParameter";
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
struct ThingKind<std::vector<T, A>> {
  static std::string name() { return "vector of " + ThingKind<T>::name(); }
  static std::string name(const std::vector<T, A>&) { return name(); }
};

template <class T>
void save_thing(Saving& saving, const T& thing) {
  BytesOut bytes(saving.add_thing(ThingKind<T>::name(thing)));
  boost::archive::binary_oarchive archive(bytes, boost::archive::no_codecvt);
  find_helper(archive)->saving = &saving;
  archive << thing;
}

// Reads things in their order.
class ThingReader {
 public:
  ThingReader(const ModelFile& file, Loading& loading, std::size_t things)
      : file_(file), loading_(loading) {
    if (const std::size_t n = file.index().saved_things(); n != things)
      file.fail("it holds " + std::to_string(n) + (n == 1 ? " thing" : " things") + ", not " +
                std::to_string(things));
  }

  template <class T>
  void read(std::size_t i, T& thing) const {
    const SavedThing& saved = file_.index().things[i];
    const std::string which =
        "thing " + std::to_string(i + 1) + " of " + std::to_string(file_.index().saved_things());
    if (const std::string kind = ThingKind<T>::name(thing); saved.kind != kind)
      file_.fail(which + " is of kind " + saved.kind + ", not " + kind);
    const std::string archived = file_.read(saved.data);
    const auto fail = [&](const std::string& why) {
      file_.fail(which + " (" + saved.kind + ") cannot be read: " + why);
    };
    BytesIn bytes(archived);
    try {
      BytesArchive archive(bytes);
      ArchiveHelper& helper = *find_helper(archive);
      helper.loading = &loading_;
      helper.index = &file_.index();
      archive >> thing;
    } catch (const boost::archive::archive_exception& e) {
      fail(e.what());
    } catch (const Error& e) {
      fail(e.what());
    } catch (const std::bad_alloc&) {
      fail("it needs more memory than there is");
    } catch (const std::length_error& e) {
      fail(e.what());
    }
    if (bytes.left() > 0) fail(std::to_string(bytes.left()) + " bytes are left over");
  }
  /// `all`: everything has been read.
  void check(bool all) const {
    if (const std::string problem = loading_.problem(all); !problem.empty())
      file_.fail("it does not fit: " + problem);
  }

 private:
  const ModelFile& file_;
  Loading& loading_;
};

// A thing that is being loaded: it is read into a copy, which replaces the thing in `commit`.
template <class T>
class Incoming {
 public:
  explicit Incoming(T& thing) : thing_(thing) {}

  void read(const ThingReader& in, std::size_t i) {
    if constexpr (kDeferred<T>) {
      in.read(i, thing_);
    } else if constexpr (!kInPlace<T>) {
      if constexpr (kCopiedByLoad<T>)
        copy_ = std::make_unique<T>(thing_);
      else
        copy_ = std::make_unique<T>();
      in.read(i, *copy_);
    }
  }
  void read_in_place(const ThingReader& in, std::size_t i) {
    if constexpr (kInPlace<T>) in.read(i, thing_);
  }
  void commit() {
    if constexpr (!kDeferred<T> && !kInPlace<T>) thing_ = std::move(*copy_);
  }

 private:
  T& thing_;
  std::unique_ptr<T> copy_;
};

template <class T>
inline constexpr bool kIsOption =
    std::is_same_v<std::remove_const_t<T>, LoadOptions> || std::is_same_v<T, SaveOptions>;

}  // namespace io_detail

/// Saves things in one file, all or nothing: on an error the old file is unchanged. See NewFile;
/// docs/file-format.md has the format.
///
/// A thing is a ParameterCollection (its values, frozen flags and weight decay, but no gradients,
/// by names relative to the collection), a Parameter or LookupParameter, a Dict, a trainer, the
/// settings of a builder, a number, a string, a standard container, a random engine, or any type
/// with a Boost `serialize`, which may contain all of these. Throws FileError, and OutOfMemoryError
/// that names the file.
template <class... Ts>
void save(const std::string& path, const SaveOptions& options, const Ts&... things) {
  static_assert(sizeof...(Ts) > 0, "save needs something to save");
  io_detail::with_memory("save", path, [&] {
    Saving saving;
    (io_detail::save_thing(saving, things), ...);
    saving.write(path, options);
  });
}

/// Saves things with default options.
template <class... Ts>
requires(!io_detail::kIsOption<Ts> && ...) void save(const std::string& path, const Ts&... things) {
  save(path, SaveOptions{}, things...);
}

/// Loads a file of `save`: the same kinds of things in the same order.
///
/// A collection must have the saved parameters, by full name in any order; a trainer must be of the
/// same kind, on parameters with the same names. FileError names the file and the cause, and lists
/// all missing, unknown or reshaped parameters at once; LoadOptions can allow these differences.
/// Everything is read, verified and matched before anything is changed, so that an error leaves all
/// things unchanged; only things that cannot be copied are read in place, after all others. Unless
/// the file is mapped (LoadOptions::map), its values are in memory once more during the load.
template <class... Ts>
LoadReport load(const std::string& path, const LoadOptions& options, Ts&... things) {
  static_assert(sizeof...(Ts) > 0, "load needs something to load");
  return io_detail::with_memory("load", path, [&] {
    const ModelFile file(path, options.files, options.map);
    Loading loading(options);
    const io_detail::ThingReader in(file, loading, sizeof...(Ts));
    std::tuple<io_detail::Incoming<Ts>...> incoming{io_detail::Incoming<Ts>(things)...};
    std::size_t i = 0, k = 0;
    return std::apply(
        [&](auto&... each) {
          (each.read(in, i++), ...);
          if constexpr ((io_detail::kInPlace<Ts> || ...)) {
            in.check(false);
            file.verify_all();
            (each.read_in_place(in, k++), ...);
          }
          in.check(true);
          loading.read(file);
          LoadReport report = loading.commit();
          (each.commit(), ...);
          return report;
        },
        incoming);
  });
}

/// Loads things with default options.
template <class... Ts>
requires(!io_detail::kIsOption<Ts> && ...) LoadReport load(const std::string& path, Ts&... things) {
  return load(path, LoadOptions{}, things...);
}

}  // namespace dynet
