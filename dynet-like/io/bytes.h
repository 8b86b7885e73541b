#pragma once

#include <cstddef>
#include <cstdint>
#include <streambuf>
#include <string>
#include <string_view>

namespace dynet::io_detail {

/// The little-endian number at `bytes`.
template <class Int>
Int get_number(const char* bytes) {
  Int x = 0;
  for (std::size_t i = sizeof(Int); i-- > 0;)
    x = static_cast<Int>(static_cast<std::uint64_t>(x) << 8) |
        static_cast<Int>(static_cast<unsigned char>(bytes[i]));
  return x;
}

template <class Int>
void append_number(std::string& bytes, Int x) {
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(x) >> (8 * i));
}

/// A stream buffer that appends to a string.
class BytesOut : public std::streambuf {
 public:
  explicit BytesOut(std::string& to) : to_(to) {}

 protected:
  int_type overflow(int_type c) override {
    if (!traits_type::eq_int_type(c, traits_type::eof())) to_ += traits_type::to_char_type(c);
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* s, std::streamsize n) override {
    to_.append(s, static_cast<std::size_t>(n));
    return n;
  }

 private:
  std::string& to_;
};

/// A stream buffer that reads bytes in place.
class BytesIn : public std::streambuf {
 public:
  explicit BytesIn(std::string_view from) {
    char* first = const_cast<char*>(from.data());  // never written
    setg(first, first, first + from.size());
  }
  std::size_t left() const { return static_cast<std::size_t>(egptr() - gptr()); }
};

}  // namespace dynet::io_detail
