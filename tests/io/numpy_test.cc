// NumPy's arrays in every order of bytes and of elements, without NumPy.

#include "dynet-like/io/numpy.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/bytes.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/support/catch.h"

namespace numpy_test {

using namespace dynet;
using Type = NamedTensor::Type;

namespace {

std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                bool fortran = false, char version = 1) {
  const std::string header = "{'descr': '" + type +
                             "', 'fortran_order': " + (fortran ? "True" : "False") +
                             ", 'shape': " + shape + ", }\n";
  std::string file("\x93NUMPY", 6);
  file += version;
  file += '\0';
  if (version == 1)
    io_detail::append_number(file, static_cast<std::uint16_t>(header.size()));
  else
    io_detail::append_number(file, static_cast<std::uint32_t>(header.size()));
  return file + header + data;
}

NamedTensor read(const std::string& bytes) {
  MemoryFile files;
  files.bytes = bytes;
  return read_npy("m", &files);
}

std::string refused(const std::string& bytes) {
  return message_of<FileError>([&] { read(bytes); });
}

std::string reversed(std::string bytes, std::size_t size) {
  for (std::size_t i = 0; i < bytes.size(); i += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
  return bytes;
}

struct Code {
  Type type;
  const char* name;
};
constexpr Code kCodes[] = {{Type::F64, "f8"}, {Type::F32, "f4"}, {Type::F16, "f2"},
                           {Type::I64, "i8"}, {Type::I32, "i4"}, {Type::I16, "i2"},
                           {Type::I8, "i1"},  {Type::U64, "u8"}, {Type::U32, "u4"},
                           {Type::U16, "u2"}, {Type::U8, "u1"},  {Type::BOOL, "b1"}};

}  // namespace

TEST_CASE("arrays of every type are read in every order of bytes") {
  for (const Code& code : kCodes) {
    INFO(code.name);
    const std::size_t size = type_size(code.type);
    std::string bytes(6 * size, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i + 1);
    const auto check = [&](const std::string& order, const std::string& stored) {
      const NamedTensor t = read(npy(order + code.name, "(2, 3)", stored));
      CHECK(t.type == code.type);
      CHECK(t.shape == std::vector<std::uint64_t>{2, 3});
      CHECK(t.bytes == bytes);
    };
    check("<", bytes);
    check("=", bytes);
    check(">", reversed(bytes, size));
    if (size == 1)
      check("|", bytes);
    else
      CHECK(refused(npy("|" + std::string(code.name), "(2, 3)", bytes)).find("are not read") !=
            std::string::npos);
    CHECK_FALSE(refused(npy("!" + std::string(code.name), "(2, 3)", bytes)).empty());
  }
}

TEST_CASE("big-endian floats have their values") {
  const std::string one_f4("\x3f\x80\0\0\xc0\x20\0\0", 8), one_f8("\x3f\xf8\0\0\0\0\0\0", 8);
  CHECK(to_floats(read(npy(">f4", "(2,)", one_f4))) == std::vector<float>{1, -2.5f});
  CHECK(to_floats(read(npy(">f8", "(1,)", one_f8))) == std::vector<float>{1.5f});
  CHECK(to_floats(read(npy(">f2", "()", std::string("\x3c\0", 2)))) == std::vector<float>{1});
}

TEST_CASE("Fortran's order of elements is transposed, in either order of bytes") {
  // 24 numbers i + 10 j + 100 k of a 2 x 3 x 4 array.
  std::string last, first;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) io_detail::append_number(last, i + 10 * j + 100 * k);
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) io_detail::append_number(first, i + 10 * j + 100 * k);
  for (const char version : {1, 2, 3}) {
    CHECK(read(npy("<i4", "(2, 3, 4)", first, true, version)).bytes == last);
    CHECK(read(npy(">i4", "(2, 3, 4)", reversed(first, 4), true, version)).bytes == last);
    CHECK(read(npy("<i4", "(2, 3, 4)", last, false, version)).bytes == last);
  }
  CHECK(read(npy("<i4", "(24,)", first, true)).bytes == first);
  CHECK(read(npy("<i4", "(0, 3)", "", true)).bytes.empty());
  CHECK(read(npy("<i4", "(24L, 1L)", first, true)).bytes == first);
}

TEST_CASE("headers of arrays that lie or are broken are refused") {
  const std::string four(4, '\0');
  const std::string good = npy("<f4", "(1,)", four);
  CHECK(refused(good).empty());
  std::string no_second_version = good;
  no_second_version[7] = 1;
  std::string long_header("\x93NUMPY\2\0\xff\xff\xff\x7f", 12);
  std::string large("\x93NUMPY\2\0", 8);
  io_detail::append_number(large, std::uint32_t{2'000'000});
  large += std::string(2'000'000, ' ');
  const std::pair<std::string, const char*> bad[] = {
      {good.substr(0, 9), "it is no .npy file"},
      {std::string("\x93NUMPY\2\0\0\0\0", 11), "it is cut short"},
      {no_second_version, "it has .npy version 1"},
      {long_header, "cut short within its header"},
      {large, "a header of 2000000 bytes"},
      {npy("<f4", "(1, 2, 3", four), "a size is no number"},
      {npy("<f4", "(1 2)", four), "')' is missing"},
      {npy("<f4", "[1]", four), "'(' is missing"},
      {npy("<f4", "(x,)", four), "a size is no number"},
      {npy("<f4", "(99999999999999999999,)", four), "a size is no number"},
      {npy("", "(1,)", four), "descr, fortran_order or shape is missing"},
      {npy("\\x1b[31m", "(1,)", four), "a string has escapes"},
      {npy("\x1b[31m", "(1,)", four), "values of type '\\u{1b}[31m'"},
  };
  for (const auto& [bytes, why] : bad) {
    const std::string message = refused(bytes);
    INFO(why << " / " << message);
    CHECK(message.find(why) != std::string::npos);
    CHECK(message.find("cannot load m: ") == 0);
  }
  const auto header = [&](const std::string& text) {
    std::string file("\x93NUMPY\1\0", 8);
    io_detail::append_number(file, static_cast<std::uint16_t>(text.size()));
    return refused(file + text + four);
  };
  CHECK(header("{'descr': '<f4").find("a string does not end") != std::string::npos);
  CHECK(header("{'descr' '<f4'}").find("':' is missing") != std::string::npos);
  CHECK(header("{'descr': '<f4' 'shape': (1,)}").find("'}' is missing") != std::string::npos);
  CHECK(header("{'other': '<f4'}").find("the key 'other' is unknown") != std::string::npos);
  CHECK(header("{\"descr\": \"<f4\", \"fortran_order\": True, \"shape\": (1,)}").empty());
  std::string ones = "(1";
  for (int i = 0; i < 32; ++i) ones += ",1";
  CHECK(header("{'descr': '<f4', 'fortran_order': True, 'shape': " + ones + ")}")
            .find("more than 32 sizes") != std::string::npos);
}

TEST_CASE("arrays that cannot be written leave no file") {
  const TemporaryFolder folder;
  NamedTensor bf16, long_name;
  bf16.name = "b\x1b";
  bf16.type = Type::BF16;
  bf16.shape = {0};
  long_name.name = std::string(70000, 'n');
  CHECK(message_of<FileError>([&] {
          write_npy(folder / "m", bf16);
        }).find("NumPy has no type BF16") != std::string::npos);
  CHECK(message_of<FileError>([&] {
          write_npz(folder / "m", {bf16});
        }).find("b\\u{1b}: NumPy has no type BF16") != std::string::npos);
  long_name.shape = {0};
  CHECK(message_of<FileError>([&] {
          write_npz(folder / "m", {long_name});
        }).find("a name is too long") != std::string::npos);
  CHECK(folder.names().empty());
}

}  // namespace numpy_test
