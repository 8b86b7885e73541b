// DyNet's model files: what is written, what is read, and that a failed load changes nothing.

#include <cmath>
#include <limits>
#include <sstream>

#include "dynet-like/base/errors.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/io.h"
#include "dynet/lstm.h"
#include "dynet/training.h"
#include "tests/io/folder.h"
#include "tests/support/all_values.h"
#include "tests/support/catch.h"

namespace text_file_test {

using namespace dynet;

namespace {

const char* const kFile =
    "#Parameter# /_0 {2,2} 64 ZERO_GRAD\n"
    "+1.00000000e+00 -2.00000000e+00 +3.00000000e+00 +4.50000000e+00\n"
    "#LookupParameter# /_1 {2,3} 96 ZERO_GRAD\n"
    "+1.00000000e+00 +2.00000000e+00 +3.00000000e+00 +4.00000000e+00 +5.00000000e+00 "
    "+6.00000000e+00\n"
    "#Parameter# /b {2} 64 FULL_GRAD\n"
    "+7.00000000e+00 +8.00000000e+00\n"
    "+0.50000000e+00 -1.00000000e+00\n";

/// The model that kFile holds.
struct Small {
  ParameterCollection m;
  Parameter w = m.add_parameters({2, 2}, ParameterInitConst(-1));
  LookupParameter t = m.add_lookup_parameters(3, {2}, ParameterInitConst(-1));
  Parameter b = m.add_parameters({2}, ParameterInitConst(-1), "b");

  std::vector<float> all() const { return test::all_values(m); }
};

const std::vector<float> kValues = {1, -2, 3, 4.5, 7, 8, 1, 2, 3, 4, 5, 6};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("a file of DyNet 2.1 is read, in order and whatever the names") {
  const TemporaryFolder folder;
  // With Windows' line ends, broken lines, empty lines, no mark of gradients, no end of the last.
  const std::string files[] = {
      kFile,
      replaced(kFile, "\n", "\r\n"),
      replaced(kFile, " +", "\n+"),
      replaced(kFile, "\n#", "\n\n \n#"),
      replaced(kFile, " ZERO_GRAD", ""),
      replaced(kFile, "/", "/other/"),
      std::string(kFile, std::string(kFile).size() - 1),
  };
  for (const std::string& file : files) {
    INFO(file);
    write_file(folder / "model", file);
    Small s;
    TextFileLoader(folder / "model").populate(s.m);
    CHECK(s.all() == kValues);
    CHECK(as_vector(s.b.gradients()) == std::vector<float>{0.5, -1});
    CHECK(as_vector(s.w.gradients()) == std::vector<float>{0, 0, 0, 0});
  }
}

TEST_CASE("TextFileLoader restores values and gradients to the bit") {
  const TemporaryFolder folder;
  ParameterCollection m, m2;
  using Limits = std::numeric_limits<float>;
  const std::vector<float> odd = {
      0.1f,           -0.0f,          Limits::denorm_min(), Limits::max(), Limits::infinity(),
      -Limits::min(), 16777217.0f / 3};
  const unsigned n = static_cast<unsigned>(odd.size());
  Parameter p = m.add_parameters({n}), p2 = m2.add_parameters({n});
  p.set_value(odd);
  LookupParameter t = m.add_lookup_parameters(4, {3, 2}), t2 = m2.add_lookup_parameters(4, {3, 2});
  ComputationGraph cg;
  cg.backward(sum_elems(lookup(cg, t, 2) * 0.1f) + sum_elems(lookup(cg, t, 0)));
  TextFileSaver saver(folder / "model");
  saver.save(m);
  TextFileLoader loader(folder / "model");
  loader.populate(m2);
  CHECK(as_vector(p2.values()) == odd);
  CHECK(std::signbit(p2.values().v[1]));
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(as_vector(t2.row(i)) == as_vector(t.row(i)));
    CHECK(t2.row_gradient(i) == t.row_gradient(i));
  }
  CHECK(t2.row_gradient(2)[0] == 0.1f);
  // The form is DyNet's: sixteen bytes for each number.
  const std::string text = read_file(folder / "model");
  CHECK(text.rfind("#Parameter# /_0 {7} " + std::to_string(7 * 16 - 11) + " ZERO_GRAD\n", 0) == 0);
  CHECK(text.find("#LookupParameter# /_1 {3,2,4} 768 FULL_GRAD\n") != text.npos);
}

TEST_CASE("keys, single tensors, appending") {
  const TemporaryFolder folder;
  Small s;
  write_file(folder / "in", kFile);
  TextFileLoader(folder / "in").populate(s.m);
  {
    TextFileSaver saver(folder / "out");
    saver.save(s.m, "/a");
    saver.save(s.b, "/single");
    saver.save(s.t, "/table");
  }
  TextFileSaver(folder / "out", true).save(s.w);
  TextFileLoader loader(folder / "out");
  Small other;
  loader.populate(other.m, "/a");
  CHECK(other.all() == kValues);
  Small third;
  loader.populate(third.b, "/single");
  loader.populate(third.t, "/table");
  loader.populate(third.w);
  CHECK(third.all() == kValues);
  ParameterCollection fresh;
  const Parameter p = loader.load_param(fresh, "/a/b");
  const LookupParameter t = loader.load_lookup_param(fresh, "/a/_1");
  CHECK(as_vector(p.values()) == std::vector<float>{7, 8});
  CHECK(t.size() == 3);
  CHECK(t.dim() == Dim({2}));
  CHECK(as_vector(t.row(2)) == std::vector<float>{5, 6});
  CHECK(fresh.parameters_list().size() == 1);

  save_dynet_model(folder / "old", &s.m);
  CHECK(read_file(folder / "old").rfind("#Parameter# /model/_0 ", 0) == 0);
  Small fourth;
  load_dynet_model(folder / "old", &fourth.m);
  CHECK(fourth.all() == kValues);
}

TEST_CASE("a subcollection is read into another one") {
  const TemporaryFolder folder;
  ParameterCollection m, m2;
  LSTMBuilder ignored(1, 2, 3, m), saved(2, 3, 4, m), read(2, 3, 4, m2);
  ParameterCollection from = saved.get_parameter_collection(), to = read.get_parameter_collection();
  TextFileSaver(folder / "lstm").save(from);
  TextFileLoader(folder / "lstm").populate(to);
  for (std::size_t i = 0; i < from.parameters_list().size(); ++i)
    CHECK(as_vector(from.parameters_list()[i].values()) ==
          as_vector(to.parameters_list()[i].values()));
}

TEST_CASE("a file that does not fit is refused and nothing is changed") {
  const TemporaryFolder folder;
  const std::string text = kFile;
  const auto without = [&](const std::string& part) { return replaced(text, part, ""); };
  const std::pair<std::string, const char*> wrong[] = {
      {"", "holds 0 parameters and 0 tables, the model has 2 and 1"},
      {text.substr(0, text.find("#Lookup")), "holds 1 parameters and 0 tables"},
      {text + text, "holds 4 parameters and 2 tables"},
      {text.substr(0, text.size() - 20), ":7: \"0.50000000e\" begins with no number"},
      {text.substr(0, text.size() - 17), ":5: /b {2} needs 4 numbers, got 3"},
      {text.substr(0, text.find("+7.0")), ":5: /b {2} needs 4 numbers, got 0"},
      {without(" +4.50000000e+00"), ":1: /_0 {2,2} needs 4 numbers, got 3"},
      {replaced(text, "+7.00000000e+00", "+7 +7"), "needs 4 numbers, got 5"},
      {replaced(text, "+7.00000000e+00", "seven"), ":6: \"seven"},
      {replaced(text, "+7.00000000e+00", "7.0.0"), ":6: \"7.0.0"},
      {replaced(text, "+7.00000000e+00", "+1e+99"), ":6: \"1e+99"},
      {replaced(text, "{2,2}", "{2,3}"), "needs 6 numbers"},
      {replaced(text, "{2,2}", "{4}"), ":1: /_0 is {4} in the file and /_0 {2,2} here"},
      {replaced(text, "{2}", "{1,2}"), "{1,2} in the file and /b {2} here"},
      {replaced(text, "{2,3}", "{3,2}"), ":3: /_1 is {3,2} in the file and /_1 {2,3} here"},
      {replaced(text, "{2,3}", "2,3"), "\"2,3\" is no shape"},
      {replaced(text, "{2,3}", "{2,}"), "is no shape"},
      {replaced(text, "{2,3}", "{2,-3}"), "is no shape"},
      {replaced(text, "{2,3}", "{2,3X2}"), "is no shape"},
      {replaced(text, "{2,3}", "{99999999,99999999,99999999}"), "is no shape"},
      {replaced(text, "{2,3}", "{1,1,1,1,1,1,2,3}"), "is no shape"},
      {replaced(text, "#Parameter# /b {2}", "#Parameter# /b"), "is no shape"},
      {replaced(text, "#Parameter# /b", "#Paramater# /b"), ":5: is no line of a model"},
      {replaced(text, "#LookupParameter# /_1 {2,3}", "#LookupParameter# /_1 {}"), "number of rows"},
      {replaced(text, "FULL_GRAD", "HALF_GRAD"), "ZERO_GRAD or FULL_GRAD"},
      {"a novel\n" + text, ":1: is no line of a model: \"a novel\""},
      {std::string("\x89\x00\xff binary", 10), ":1: is no line of a model"},
  };
  for (const auto& [file, message] : wrong) {
    INFO(file);
    write_file(folder / "model", file);
    Small s;
    const std::string got =
        message_of<FileError>([&] { TextFileLoader(folder / "model").populate(s.m); });
    CHECK_THAT(got, Catch::StartsWith(folder / "model"));
    CHECK_THAT(got, Catch::Contains(message));
    CHECK(s.all() == std::vector<float>(12, -1.0f));
  }
}

TEST_CASE("files, keys and handles that are not there") {
  const TemporaryFolder folder;
  Small s;
  TextFileLoader missing(folder / "missing"), is_folder(folder.path().string());
  CHECK_THROWS_AS(missing.populate(s.m), FileError);
  CHECK_THROWS_AS(is_folder.populate(s.m), FileError);
  CHECK_THROWS_AS(TextFileSaver(folder.path().string()), FileError);
  CHECK_THROWS_AS(TextFileSaver(folder / "no" + "/file"), FileError);
  write_file(folder / "model", kFile);
  TextFileLoader loader(folder / "model");
  CHECK_THROWS_AS(loader.populate(s.m, "/key"), FileError);
  CHECK_SAYS(FileError, loader.populate(s.b, "/c"), "no parameter /c");
  CHECK_THROWS_AS(loader.populate(s.t, "/b"), FileError);
  CHECK_THROWS_AS(loader.populate(s.w, "/b"), FileError);
  CHECK_THROWS_AS(loader.load_param(s.m, "/_1"), FileError);
  CHECK_THROWS_AS(loader.load_lookup_param(s.m, "/b"), FileError);
  CHECK(s.all() == std::vector<float>(12, -1.0f));
  CHECK(s.m.size() == 3);
  Parameter none;
  CHECK_THROWS_AS(loader.populate(none), ArgumentError);
  CHECK_THROWS_AS(save_dynet_model(folder / "x", nullptr), ArgumentError);
  CHECK_THROWS_AS(load_dynet_model(folder / "model", nullptr), ArgumentError);
  TextFileSaver saver(folder / "y");
  CHECK_THROWS_AS(saver.save(s.b, "two words"), ArgumentError);
  CHECK_THROWS_AS(saver.save(s.m, "/a#b"), ArgumentError);
}

TEST_CASE("a long line") {
  const TemporaryFolder folder;
  ParameterCollection m, m2;
  const Parameter p = m.add_parameters({1000, 300}), p2 = m2.add_parameters({1000, 300});
  TextFileSaver(folder / "model").save(m);
  TextFileLoader(folder / "model").populate(m2);
  CHECK(as_vector(p.values()) == as_vector(p2.values()));
}

}  // namespace text_file_test
