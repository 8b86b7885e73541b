#pragma once

#include <algorithm>
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_iarchive_impl.hpp>
#include <boost/archive/impl/archive_serializer_map.ipp>
#include <boost/archive/impl/basic_binary_iarchive.ipp>
#include <boost/archive/impl/basic_binary_iprimitive.ipp>
#include <boost/serialization/collection_size_type.hpp>
#include <cstddef>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/bytes.h"

namespace dynet::io_detail {

/// Reads the output of boost::archive::binary_oarchive from untrusted bytes: no stored length
/// allocates more memory than the remaining bytes can fill. Throws FileError and Boost's errors.
class BytesArchive
    : public boost::archive::binary_iarchive_impl<BytesArchive, char, std::char_traits<char>> {
  using Base = boost::archive::binary_iarchive_impl<BytesArchive, char, std::char_traits<char>>;

 public:
  explicit BytesArchive(BytesIn& bytes) : Base(bytes, boost::archive::no_codecvt), bytes_(bytes) {
    // At the end of the bytes Boost reads a wrong version, and asserts that it is a small number.
    constexpr std::size_t kHead = 40;
    if (bytes.left() < kHead)
      throw FileError("an archive of " + std::to_string(bytes.left()) + " bytes is too short");
    init(boost::archive::no_codecvt);
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

 private:
  template <class Text>
  void load_text(Text& text) {
    std::size_t n = 0;
    Base::load(n);
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
