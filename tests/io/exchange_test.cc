// Files of other programs: safetensors. Where Python has the package, it has the last word.

#include <cstdio>
#include <cstdlib>

#include "dynet-like/io/bytes.h"
#include "dynet-like/io/safetensors.h"
#include "tests/io/damage.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/all_values.h"
#include "tests/support/prelude.h"

namespace exchange_test {

using namespace dynet;

namespace {

NamedTensor floats(const std::string& name, std::vector<std::uint64_t> shape,
                   const std::vector<float>& values) {
  NamedTensor t;
  t.name = name;
  t.shape = std::move(shape);
  t.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  return t;
}

// {{1, 2, 3}, {4, 5, 6}}
const NamedTensor kMatrix = floats("a.b", {2, 3}, {1, 2, 3, 4, 5, 6});

std::string safetensors(const std::string& header, const std::string& data = "") {
  std::string file;
  io_detail::append_number(file, std::uint64_t{header.size()});
  return file + header + data;
}

// Error text of reading these bytes.
std::string refused(const std::string& bytes) {
  MemoryFile files;
  files.bytes = bytes;
  return message_of<FileError>([&] { read_safetensors("m", nullptr, &files); });
}

}  // namespace

TEST_CASE("collections are exchanged with their indices as they are") {
  const TemporaryFolder folder;
  ParameterCollection one, two;
  for (ParameterCollection* pc : {&one, &two}) {
    pc->add_parameters({2, 3}, "W");
    auto sub = pc->add_subcollection("sub");
    sub.add_parameters({2, 3, 2}, "cube");
    sub.add_lookup_parameters(3, {2}, "E");
    sub.add_lookup_parameters(2, {2, 2}, "F");
    sub.add_parameters({}, "scalar");
  }
  one.parameters_list()[0].set_value({1, 4, 2, 5, 3, 6});  // column by column
  const auto tensors = tensors_of(one);
  CHECK(tensors[0].name == "W");
  CHECK(tensors[0].shape == std::vector<std::uint64_t>{2, 3});
  CHECK(tensors[0].bytes == kMatrix.bytes);
  CHECK(tensors[3].name == "sub/E");
  CHECK(tensors[3].shape == std::vector<std::uint64_t>{3, 2});
  CHECK(tensors[4].shape == std::vector<std::uint64_t>{2, 2, 2});
  for (const Parameter& p : two.parameters_list()) Parameter(p).zero();
  for (LookupParameter p : two.lookup_parameters_list()) p.zero();
  save_safetensors(folder / "m", one);
  two.parameters_list()[0].set_updated(false);  // no file of this kind says what is frozen
  CHECK(load_safetensors(folder / "m", two).loaded == 5);
  CHECK_FALSE(two.parameters_list()[0].is_updated());
  CHECK(two.parameters_list()[1].is_updated());
  REQUIRE(one.parameters_list().size() == 3);
  REQUIRE(one.lookup_parameters_list().size() == 2);
  CHECK(test::all_values(two) == test::all_values(one));
  ParameterCollection other;
  other.add_parameters({3, 2}, "W");
  CHECK_SAYS(FileError, load_safetensors(folder / "m", other),
             "/W is {2,3} in the file and {3,2} here; /sub/cube {2,3,2} is in the file only");
  ParameterCollection renamed;
  auto w = renamed.add_parameters({2, 3}, "V");
  write_safetensors(folder / "t", {kMatrix});
  load_safetensors(folder / "t", renamed, {.rename = {{"/a.b", "/V"}}});
  CHECK(as_vector(w.values()) == std::vector<float>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("the values of a safetensors file begin at a multiple of eight") {
  const TemporaryFolder folder;
  for (std::size_t n = 1; n <= 9; ++n) {
    NamedTensor t = kMatrix;
    t.name = std::string(n, 'x');
    write_safetensors(folder / "m", {t});
    const std::string bytes = read_file(folder / "m");
    CHECK(bytes.size() % 8 == kMatrix.bytes.size() % 8);
    CHECK(io_detail::get_number<std::uint64_t>(bytes.data()) % 8 == 0);
  }
}

TEST_CASE("safetensors that break a rule are refused") {
  const std::string eight(8, '\0');
  const auto entry = [](const std::string& name, const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
  };
  // One array, `a`, and eight bytes.
  const auto alone = [&](const std::string& dtype, const std::string& shape,
                         const std::string& offsets) {
    return safetensors("{" + entry("a", dtype, shape, offsets) + "}", eight);
  };
  std::string too_many = "[2";
  for (int i = 0; i < 64; ++i) too_many += ",1";
  const std::string two = entry("a", "F32", "[2]", "[0,8]"), good = "{" + two + "}",
                    one = entry("a", "F32", "[1]", "[0,4]");
  CHECK(refused(safetensors(good, eight)).empty());
  CHECK(refused(safetensors(good + "   ", eight)).empty());
  CHECK(refused(safetensors("{}")).empty());
  CHECK(refused(safetensors("{\"__metadata__\":{\"x\":\"y\\u00e9\"}}")).empty());
  const std::pair<std::string, std::string> bad[] = {
      {"", "too short"},
      {"1234567", "too short"},
      {std::string("\0\0\0\0\0\0\0\1", 8),
       "a header of 72057594037927936 bytes; safetensors allows"},
      {safetensors(good).substr(0, 40), "but ends before"},
      {safetensors(good, eight + "x"), "the tensors have 8 bytes, the file has 9"},
      {safetensors(good, eight.substr(1)), "the tensors have 8 bytes, the file has 7"},
      {safetensors(" " + good, eight), "does not begin with {"},
      {safetensors("", eight), "does not begin with {"},
      {safetensors("[]"), "does not begin with {"},
      {safetensors(good + "x", eight), "expected end of input"},
      {safetensors("{" + two + "," + two + "}", eight), "the name \"a\" comes twice"},
      {safetensors("{" + one + "," + entry("b", "F32", "[2]", "[0,8]") + "}", eight),
       "\"b\" begins at byte 0, within the one before"},
      {alone("F32", "[1]", "[4,8]"), "begins at byte 4, not at the end of the one before"},
      {alone("F32", "[1]", "[0,8]"), "needs 4 bytes"},
      {alone("F32", "[2]", "[8,0]"), "needs 8 bytes"},
      {alone("F99", "[2]", "[0,8]"), "unknown type \"F99\""},
      {alone("F32", "[-2]", "[0,8]"), "no whole number"},
      {alone("F32", "[2.0]", "[0,8]"), "no whole number"},
      {alone("F32", "[4294967296,4294967296,4]", "[0,8]"), "more values than can be counted"},
      {alone("F32", "[2]", "[0,8,9]"), "two data_offsets"},
      {alone("F32", "2", "[0,8]"), "has no shape"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}",
                   eight),
       "unknown field \"x\""},
      {safetensors("{\"a\":1}", eight), "is no object"},
      {safetensors("{\"__metadata__\":{\"x\":1}}"), "is no string"},
      {safetensors("{\"__metadata__\":1}"), "__metadata__ is no object"},
      {safetensors("{\"a\xff\":1}"), "ill-formed UTF-8 byte"},
      {safetensors("{\"a\\ud800\":1}"), "surrogate U+D800"},
      {safetensors("{" + std::string(1000, '[') + "}"),
       "broken JSON: [json.exception.parse_error.101] parse error at line 1, column 2"},
      {safetensors("{\"a\":" + std::string(1000, '[') + "}"), "tensor \"a\" is no object"},
      {safetensors("{\"a\" 1}"), "expected ':'"},
      {safetensors("{\"__metadata__\":{\"x\":\"y\"},}"), "expected string literal"},
      {safetensors("{\"a\":1e999}"), "number overflow"},
      {alone("F32", "[[2]]", "[0,8]"), "no whole number"},
      {alone("F32", "{}", "[0,8]"), "\"a\" has no shape"},
      {alone("F32", "[2]", "8"), "has no data_offsets"},
      {alone("F32", "[2]", "[0]"), "two data_offsets"},
      {alone("F32", "[2]", "[0,null]"), "an offset of tensor \"a\" is no whole number"},
      {alone("F32", "[true]", "[0,8]"), "a size of tensor \"a\" is no whole number"},
      {alone("F32", "[\"2\"]", "[0,8]"), "no whole number"},
      {safetensors("{\"a\":{\"dtype\":1,\"shape\":[2],\"data_offsets\":[0,8]}}", eight),
       "has no dtype"},
      {safetensors("{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", eight), "has no dtype"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", eight), "has no shape"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", eight), "has no data_offsets"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", eight),
       "the name \"dtype\" comes twice"},
      {safetensors("{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"}}"), "\"x\" comes twice"},
      {safetensors("{\"__metadata__\":{},\"__metadata__\":{}}"), "comes twice"},
      {safetensors("{\"__metadata__\":{\"x\":[\"y\"]}}"), "__metadata__ \"x\" is no string"},
      {safetensors("{\"__metadata__\":{\"x\":{}}}"), "__metadata__ \"x\" is no string"},
      {alone("F32", too_many + "]", "[0,8]"), "has too many sizes"},
      {safetensors("{\"a\\n\\u001b[31m\":1}"), "tensor \"a\\n\\u{1b}[31m\" is no object"},
      {safetensors(std::string("{\"a\x1b\":1}")), "control character"},
  };
  for (const auto& [bytes, why] : bad) {
    const std::string message = refused(bytes);
    CHECK_THAT(message, Catch::Contains(why));
    CHECK_THAT(message, Catch::StartsWith("cannot load m: "));
  }
  const TemporaryFolder folder;
  std::map<std::string, std::string> metadata{{"kept", "as it is"}};
  MemoryFile broken;
  broken.bytes = safetensors("{\"__metadata__\":{\"x\":\"y\"}}", "x");
  CHECK_THROWS_AS(read_safetensors("m", &metadata, &broken), FileError);
  CHECK(metadata == std::map<std::string, std::string>{{"kept", "as it is"}});
  CHECK_THROWS_AS(write_safetensors(folder / "m", {kMatrix, kMatrix}), FileError);
  write_safetensors(folder / "m", {kMatrix}, {});
  CHECK_SAYS(FileError, write_safetensors(folder / "m", {floats("__metadata__", {}, {1})}),
             "the name \"__metadata__\" cannot be written");
  std::filesystem::remove(folder / "m");
  CHECK_THROWS_AS(write_safetensors(folder / "m", {floats("\xff", {}, {1})}), FileError);
  CHECK_THROWS_AS(write_safetensors(folder / "m", {kMatrix}, {{"k", "\xff"}}), FileError);
  write_safetensors(folder / "m", {kMatrix, floats("c", {}, {7}), floats("d", {0, 3}, {})},
                    {{"k", "v"}});
  const std::string written = read_file(folder / "m");
  int same = 0;
  for (std::uint64_t k = 0; k < 20000; ++k) same += refused(damaged(written, k)).empty();
  for (std::size_t n = 0; n < written.size(); ++n)
    REQUIRE_FALSE(refused(written.substr(0, n)).empty());
  std::printf("20000 damaged files, %d still safetensors; %zu cut ones, all refused\n", same,
              written.size());
  std::printf("%zu broken rules of safetensors, each refused\n", std::size(bad));
}

TEST_CASE("half floats and doubles become floats") {
  NamedTensor t;
  t.type = NamedTensor::Type::F16;
  for (const std::uint16_t h : {0x3c00, 0xc000, 0x0001, 0x8003, 0x7bff, 0x7c00, 0x8000, 0x0400})
    io_detail::append_number(t.bytes, h);
  CHECK(to_floats(t) == std::vector<float>{1, -2, 0x1p-24f, -0x3p-24f, 65504,
                                           std::numeric_limits<float>::infinity(), -0.0f,
                                           0x1p-14f});
  t.type = NamedTensor::Type::BF16;
  t.bytes = std::string("\x80\x3f\x49\x40", 4);
  CHECK(to_floats(t) == std::vector<float>{1, 3.140625f});
  t.type = NamedTensor::Type::F64;
  t.bytes = std::string("\0\0\0\0\0\0\xf8\x3f", 8);
  CHECK(to_floats(t) == std::vector<float>{1.5f});
  t.type = NamedTensor::Type::I64;
  CHECK_THROWS_AS(to_floats(t), FileError);
}

TEST_CASE("Python's safetensors and ours read each other's files") {
  const char* name = std::getenv("DYNET_PYTHON");
  const std::string python = name ? name : "python3";
  if (std::system((python + " -c 'import numpy, safetensors' > /dev/null 2>&1").c_str()) != 0)
    return skip("Python has no numpy, safetensors; DYNET_PYTHON may name one that has");
  const TemporaryFolder folder;
  write_safetensors(folder / "ours", {kMatrix, floats("\"\xc3\xa9", {3}, {1, -2, 0.5})},
                    {{"k", "v"}});
  write_file(folder / "check.py", R"(
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
with safe_open("ours", "np") as f:
    assert f.metadata() == {"k": "v"}
    assert (f.get_tensor("a.b") == np.array([[1, 2, 3], [4, 5, 6]], np.float32)).all()
    assert f.get_tensor('"\u00e9').tolist() == [1, -2, 0.5]
save_file({"m": np.arange(6, dtype=np.float32).reshape(2, 3), "h": np.array([1.5], np.float16),
           "d": np.array([0.25], np.float64), "i": np.array([[7]], np.int64)}, "theirs", {"x": "y"})
)");
  REQUIRE(std::system(("cd '" + folder.path().string() + "' && " + python + " check.py").c_str()) ==
          0);
  std::map<std::string, std::string> metadata;
  std::size_t seen = 0;
  for (const NamedTensor& t : read_safetensors(folder / "theirs", &metadata)) {
    ++seen;
    if (t.name == "m") CHECK(to_floats(t) == std::vector<float>{0, 1, 2, 3, 4, 5});
    if (t.name == "h") CHECK(to_floats(t) == std::vector<float>{1.5f});
    if (t.name == "d") CHECK(to_floats(t) == std::vector<float>{0.25f});
    if (t.name == "i") CHECK(t.type == NamedTensor::Type::I64);
  }
  CHECK(seen == 4);
  CHECK(metadata.at("x") == "y");
}

}  // namespace exchange_test
