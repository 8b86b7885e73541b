// Files of other programs: safetensors. Where Python has the package, it has the last word.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/safetensors.h"
#include "tests/io/damage.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/catch.h"

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
template <class Read>
std::string refused(const std::string& bytes, Read read) {
  MemoryFile files;
  files.bytes = bytes;
  return message_of<FileError>([&] { read("m", &files); });
}

std::string refused_safetensors(const std::string& bytes) {
  return refused(bytes, [](auto path, auto* f) { read_safetensors(path, nullptr, f); });
}

std::string python() {
  const char* name = std::getenv("DYNET_PYTHON");
  return name ? name : "python3";
}

bool has_packages(const std::string& packages) {
  const std::string command = python() + " -c 'import " + packages + "' > /dev/null 2>&1";
  if (std::system(command.c_str()) == 0) return true;
  skip("Python has no " + packages + "; DYNET_PYTHON may name one that has");
  return false;
}

// Runs a program in the folder.
bool runs(const TemporaryFolder& folder, const std::string& program) {
  write_file(folder / "check.py", program);
  const std::string command = "cd '" + folder.path().string() + "' && " + python() + " check.py";
  return std::system(command.c_str()) == 0;
}

void damage(const char* name, const std::string& good, int times,
            const std::function<std::string(const std::string&)>& read) {
  int same = 0;
  for (int k = 0; k < times; ++k)
    same += read(damaged(good, static_cast<std::uint64_t>(k))).empty();
  std::size_t cut = 0;
  for (std::size_t n = 0; n < good.size(); ++n)
    if (read(good.substr(0, n)).empty()) ++cut;
  CHECK(cut == 0);
  std::printf(
      "%s: %d damaged files, %d of them still files of that kind; %zu cut ones, all refused\n",
      name, times, same, good.size());
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
  const auto check = [&](const char* name, auto save_to, auto load_from) {
    INFO(name);
    for (const Parameter& p : two.parameters_list()) Parameter(p).zero();
    for (LookupParameter p : two.lookup_parameters_list()) p.zero();
    save_to(folder / name, one);
    two.parameters_list()[0].set_updated(false);  // no file of this kind says what is frozen
    CHECK(load_from(folder / name, two).loaded == 5);
    CHECK_FALSE(two.parameters_list()[0].is_updated());
    CHECK(two.parameters_list()[1].is_updated());
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(as_vector(two.parameters_list()[i].values()) ==
            as_vector(one.parameters_list()[i].values()));
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(table_values(two.lookup_parameters_list()[i]) ==
            table_values(one.lookup_parameters_list()[i]));
    ParameterCollection other;
    other.add_parameters({3, 2}, "W");
    CHECK_SAYS(FileError, load_from(folder / name, other),
               "/W is {2,3} in the file and {3,2} here; /sub/cube {2,3,2} is in the file only");
  };
  check(
      "m.safetensors", [](auto path, auto& pc) { save_safetensors(path, pc); },
      [](auto path, auto& pc) { return load_safetensors(path, pc); });
  ParameterCollection renamed;
  auto w = renamed.add_parameters({2, 3}, "V");
  LoadOptions options;
  options.rename["/a.b"] = "/V";
  write_safetensors(folder / "t", {kMatrix});
  load_safetensors(folder / "t", renamed, options);
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
  const std::string good = "{" + entry("a", "F32", "[2]", "[0,8]") + "}";
  CHECK(refused_safetensors(safetensors(good, eight)).empty());
  CHECK(refused_safetensors(safetensors(good + "   ", eight)).empty());
  CHECK(refused_safetensors(safetensors("{}")).empty());
  CHECK(refused_safetensors(safetensors("{\"__metadata__\":{\"x\":\"y\\u00e9\"}}")).empty());
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
      {safetensors(
           "{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("a", "F32", "[2]", "[0,8]") + "}",
           eight),
       "the name \"a\" comes twice"},
      {safetensors(
           "{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[2]", "[0,8]") + "}",
           eight),
       "\"b\" begins at byte 0, within the one before"},
      {safetensors("{" + entry("a", "F32", "[1]", "[4,8]") + "}", eight),
       "begins at byte 4, not at the end of the one before"},
      {safetensors("{" + entry("a", "F32", "[1]", "[0,8]") + "}", eight), "needs 4 bytes"},
      {safetensors("{" + entry("a", "F32", "[2]", "[8,0]") + "}", eight), "needs 8 bytes"},
      {safetensors("{" + entry("a", "F99", "[2]", "[0,8]") + "}", eight), "unknown type \"F99\""},
      {safetensors("{" + entry("a", "F32", "[-2]", "[0,8]") + "}", eight), "no whole number"},
      {safetensors("{" + entry("a", "F32", "[2.0]", "[0,8]") + "}", eight), "no whole number"},
      {safetensors("{" + entry("a", "F32", "[4294967296,4294967296,4]", "[0,8]") + "}", eight),
       "more values than can be counted"},
      {safetensors("{" + entry("a", "F32", "[2]", "[0,8,9]") + "}", eight), "two data_offsets"},
      {safetensors("{" + entry("a", "F32", "2", "[0,8]") + "}", eight), "has no shape"},
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
      {safetensors("{" + entry("a", "F32", "[[2]]", "[0,8]") + "}", eight), "no whole number"},
      {safetensors("{" + entry("a", "F32", "{}", "[0,8]") + "}", eight), "\"a\" has no shape"},
      {safetensors("{" + entry("a", "F32", "[2]", "8") + "}", eight), "has no data_offsets"},
      {safetensors("{" + entry("a", "F32", "[2]", "[0]") + "}", eight), "two data_offsets"},
      {safetensors("{" + entry("a", "F32", "[2]", "[0,null]") + "}", eight),
       "an offset of tensor \"a\" is no whole number"},
      {safetensors("{" + entry("a", "F32", "[true]", "[0,8]") + "}", eight),
       "a size of tensor \"a\" is no whole number"},
      {safetensors("{" + entry("a", "F32", "[\"2\"]", "[0,8]") + "}", eight), "no whole number"},
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
      {safetensors("{" +
                       entry(
                           "a", "F32",
                           "[2" +
                               [] {
                                 std::string ones;
                                 for (int i = 0; i < 64; ++i) ones += ",1";
                                 return ones;
                               }() +
                               "]",
                           "[0,8]") +
                       "}",
                   eight),
       "has too many sizes"},
      {safetensors("{\"a\\n\\u001b[31m\":1}"), "tensor \"a\\n\\u{1b}[31m\" is no object"},
      {safetensors(std::string("{\"a\x1b\":1}")), "control character"},
  };
  std::size_t count = 0;
  for (const auto& [bytes, why] : bad) {
    const std::string message = refused_safetensors(bytes);
    INFO(why << " / " << message);
    CHECK(message.find(why) != std::string::npos);
    CHECK(message.find("cannot load m: ") == 0);
    ++count;
  }
  const TemporaryFolder folder;
  std::map<std::string, std::string> metadata{{"kept", "as it is"}};
  MemoryFile broken;
  broken.bytes = safetensors("{\"__metadata__\":{\"x\":\"y\"}}", "x");
  CHECK_THROWS_AS(read_safetensors("m", &metadata, &broken), FileError);
  CHECK(metadata == std::map<std::string, std::string>{{"kept", "as it is"}});
  CHECK_THROWS_AS(write_safetensors(folder / "m", {kMatrix, kMatrix}), FileError);
  CHECK(message_of<FileError>([&] {
          write_safetensors(folder / "m", {kMatrix}, {});
          write_safetensors(folder / "m", {floats("__metadata__", {}, {1})});
        }).find("the name \"__metadata__\" cannot be written") != std::string::npos);
  std::filesystem::remove(folder / "m");
  CHECK_THROWS_AS(write_safetensors(folder / "m", {floats("\xff", {}, {1})}), FileError);
  CHECK_THROWS_AS(write_safetensors(folder / "m", {kMatrix}, {{"k", "\xff"}}), FileError);
  write_safetensors(folder / "m", {kMatrix, floats("c", {}, {7}), floats("d", {0, 3}, {})},
                    {{"k", "v"}});
  damage("safetensors", read_file(folder / "m"), 20000, refused_safetensors);
  std::printf("%zu broken rules of safetensors, each refused\n", count);
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
  if (!has_packages("numpy, safetensors")) return;
  const TemporaryFolder folder;
  write_safetensors(folder / "ours", {kMatrix, floats("\"\xc3\xa9", {3}, {1, -2, 0.5})},
                    {{"k", "v"}});
  CHECK(runs(folder, R"(
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
with safe_open("ours", "np") as f:
    assert f.metadata() == {"k": "v"}
    assert (f.get_tensor("a.b") == np.array([[1, 2, 3], [4, 5, 6]], np.float32)).all()
    assert f.get_tensor('"\u00e9').tolist() == [1, -2, 0.5]
save_file({"m": np.arange(6, dtype=np.float32).reshape(2, 3), "h": np.array([1.5], np.float16),
           "d": np.array([0.25], np.float64), "i": np.array([[7]], np.int64)}, "theirs", {"x": "y"})
)"));
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
