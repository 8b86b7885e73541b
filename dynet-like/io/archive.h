#pragma once

#include <algorithm>
#include <array>
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_iarchive_impl.hpp>
#include <boost/archive/impl/archive_serializer_map.ipp>
#include <boost/archive/impl/basic_binary_iarchive.ipp>
#include <boost/archive/impl/basic_binary_iprimitive.ipp>
#include <boost/serialization/array_wrapper.hpp>
#include <boost/serialization/collection_size_type.hpp>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/bytes.h"

namespace dynet::io_detail {

/// Reads the output of boost::archive::binary_oarchive from untrusted bytes: no stored length
/// allocates more memory than the remaining bytes can fill. The writer was a 64-bit machine; the
/// reader may have 32 bits if its std::size_t is unsigned long, as that of WebAssembly. Throws
/// FileError and Boost's errors.
class BytesArchive
    : public boost::archive::binary_iarchive_impl<BytesArchive, char, std::char_traits<char>> {
  using Base = boost::archive::binary_iarchive_impl<BytesArchive, char, std::char_traits<char>>;

 public:
  explicit BytesArchive(BytesIn& bytes) : Base(bytes, boost::archive::no_codecvt), bytes_(bytes) {
    // At the end of the bytes Boost reads a wrong version, and asserts that it is a small number.
    constexpr std::size_t kHead = 40;
    if (bytes.left() < kHead)
      throw FileError("an archive of " + std::to_string(bytes.left()) + " bytes is too short");
    boost::archive::basic_binary_iarchive<BytesArchive>::init();
    // Sizes of int, long, float and double, and the number 1 in the order of bytes.
    constexpr std::array<unsigned char, 8> kSizes{4, 8, 4, 8, 1, 0, 0, 0};
    std::array<unsigned char, 8> sizes{};
    load_binary(sizes.data(), sizes.size());
    if (sizes != kSizes)
      throw FileError("an archive has numbers of other sizes or another order of bytes");
  }

  // The names load_override and load are required by Boost.
  template <class T>
  void load_override(T& t) {
    Base::load_override(t);
  }
  /// Limits a count to one more than the number of remaining bytes: reading the extra element ends
  /// the archive with an exception.
  void load_override(boost::serialization::collection_size_type& n) {
    Base::load_override(n);
    n = boost::serialization::collection_size_type(
        std::min<std::size_t>(n, bytes_.left() + std::size_t{1}));
  }
  template <class T>
  void load(T& t) {
    if constexpr (kIsShort<T>)
      load_long(t);
    else
      Base::load(t);
  }
  void load(bool& t) {
    unsigned char byte = 0;
    Base::load(byte);
    if (byte > 1) throw FileError("a truth value is " + std::to_string(byte));
    t = byte != 0;
  }
  void load(std::string& text) { load_text(text); }
  void load(std::wstring& text) { load_text(text); }
  template <class T>
  void load_array(boost::serialization::array_wrapper<T>& numbers, unsigned int version) {
    if constexpr (kIsShort<T> || std::is_same_v<T, bool>)
      for (std::size_t k = 0; k < numbers.count(); ++k) load(numbers.address()[k]);
    else
      Base::load_array(numbers, version);
  }

 private:
  // Types with 64 bits in archives and fewer here.
  template <class T>
  static constexpr bool kIsShort = sizeof(T) < 8 &&
                                   (std::is_same_v<T, long> || std::is_same_v<T, unsigned long> ||
                                    std::is_same_v<T, boost::serialization::collection_size_type>);

  template <class T>
  void load_long(T& t) {
    using Number = std::conditional_t<std::is_same_v<T, long>, long, std::size_t>;
    long long number = 0;
    load_binary(&number, sizeof number);
    if (!std::in_range<Number>(number))
      throw FileError("the number " + std::to_string(number) + " of an archive has too many bits");
    t = T(static_cast<Number>(number));
  }
  template <class Text>
  void load_text(Text& text) {
    std::size_t n = 0;
    load(n);
    const std::size_t most = bytes_.left() / sizeof(text[0]);
    if (n > most)
      throw FileError("a text of " + std::to_string(n) + " characters is said to follow, and " +
                      std::to_string(most) + " are left");
    text.resize(n);
    if (n > 0) load_binary(text.data(), n * sizeof(text[0]));
  }

  const BytesIn& bytes_;
};

}  // namespace dynet::io_detail

BOOST_SERIALIZATION_REGISTER_ARCHIVE(dynet::io_detail::BytesArchive)
BOOST_SERIALIZATION_USE_ARRAY_OPTIMIZATION(dynet::io_detail::BytesArchive)
