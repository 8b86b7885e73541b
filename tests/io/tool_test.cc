// The command-line tool as a program.

#include <cstdlib>

#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/contents.h"
#include "dynet-like/io/save.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/param/plant.h"
#include "tests/support/prelude.h"

namespace tool_test {

using namespace dynet;

#ifdef TOOL_BINARY

namespace {

struct Tool {
  TemporaryFolder folder;
  std::string output;

  /// Runs it and checks its exit status, and that it prints a text.
  void check(const std::string& arguments, int status, const std::string& text = "") {
    const std::string command =
        "cd '" + folder.path().string() + "' && '" TOOL_BINARY "' " + arguments + " > output 2>&1";
    const int ended = std::system(command.c_str()) / 256;
    output = read_file(folder / "output");
    INFO(arguments << " " << output);
    CHECK(ended == status);
    CHECK(says(text));
  }
  bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
};

}  // namespace

TEST_CASE("a model goes through all formats and comes back") {
  Tool tool;
  ParameterCollection one, two;
  for (ParameterCollection* pc : {&one, &two}) {
    pc->add_parameters({3, 4}, "W");
    pc->add_subcollection("sub").add_lookup_parameters(3, {2}, "E");
  }
  one.parameters_list()[0].stored().data[5] = 0.1f;
  save(tool.folder / "a.dynet", one);
  tool.check("convert a.dynet a.model", 0);
  tool.check("convert a.model b.dynet", 0);
  tool.check("convert a.model a.safetensors", 0);
  for (const char* other : {"a.model", "b.dynet", "a.safetensors"}) {
    tool.check("diff a.dynet " + std::string(other), 0, "2 arrays are the same, 0 differ");
  }
  load(tool.folder / "b.dynet", two);  // the table was one in DyNet's text as well
  CHECK(table_values(one.lookup_parameters_list()[0]) ==
        table_values(two.lookup_parameters_list()[0]));
  tool.check("inspect a.model", 0, "a.model: DyNet's text\n  W  F32 [3,4]  48 bytes");
  tool.check("inspect b.dynet", 0, "all checksums right");
  one.parameters_list()[0].stored().data[5] = 0.2f;
  TextFileSaver(tool.folder / "c.model").save(one);
  tool.check("diff a.dynet c.model", 1, "W differs in 1 of 12 values, by 0.1");
}

TEST_CASE("a model file is shown with all that is in it") {
  Tool tool;
  Run run(1);
  run.model.b.set_value({3, 0, -4, 0, std::numeric_limits<float>::infinity()});
  run.model.b.set_updated(false);
  run.save_to(tool.folder / "m", {.metadata = "{\n  \"made\": \"by a test\x1b\"\n}\n"});
  tool.check("inspect m", 0);
  INFO(tool.output);
  for (const char* part : {"format version 1", "all checksums right",
                           "metadata:\n    {\n      \"made\": \"by a test\\u{1b}\"\n    }\n",
                           "thing 1: ParameterCollection", "thing 2: AdamTrainer", "thing 3: Dict",
                           "thing 4: int32", "    /layer/b is frozen", "    learning_rate = 0.001",
                           "  layer/b  F32 [5]  20 bytes  norm 5  from -4 to 3  not finite 1",
                           "  layer/E  F32 [6,2]  48 bytes", "  AdamTrainer/W.1  F32 [3,4]"})
    CHECK(tool.says(part));
  CHECK_FALSE(tool.says("thing 5"));
  tool.check("convert m m.safetensors", 0);
  tool.check("inspect m.safetensors", 0, "m.safetensors: safetensors\nmetadata model:\n    {\n");
  std::string bytes = read_file(tool.folder / "m");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(tool.folder / "m", bytes);
  tool.check("inspect m", 2, "the file was damaged");
}

TEST_CASE("arrays are shown with a histogram and with rows of tables that are dead") {
  Tool tool;
  ParameterCollection pc;
  Parameter w = pc.add_parameters({40}, "w");
  std::vector<float> values(40, 1.0f);  // 16 bars from 0 to 4: half at 1, some at the ends
  for (unsigned k = 0; k < 10; ++k) values[k] = 4;
  values[10] = 0;
  w.set_value(values);
  LookupParameter table = pc.add_lookup_parameters(20, {2}, "t");
  for (const unsigned row : {3u, 7u}) table.initialize(row, {0, 0});
  save(tool.folder / "m", pc);
  tool.check("inspect m", 0);
  INFO(tool.output);
  CHECK(tool.says("from 0 to 4  [▁   █          ▃]\n"));
  CHECK(tool.says("rows of zeros 2 of 20"));
  w.set_value(std::vector<float>(40, 2.0f));
  save(tool.folder / "n", pc);
  tool.check("inspect n", 0, "from 2 to 2\n");  // nothing to draw
  tool.check("diff n m", 1, "w differs in 40 of 40 values, by 2 at most, moved by ");
  std::vector<float> odd(40, 2.0f);
  odd[0] = std::numeric_limits<float>::quiet_NaN();
  w.set_value(odd);
  save(tool.folder / "o", pc);
  tool.check("diff n o", 1, "w differs in 1 of 40 values, by 0 at most, 1 of them not finite\n");
}

TEST_CASE("differences of two files are printed") {
  Tool tool;
  const std::string bad = "x\n\x1b[2J", shown = "x\\n\\u{1b}[2J";
  NamedTensor x, same, more;
  x.name = "x";
  x.shape = {3};
  x.bytes = std::string(12, '\1');
  same = more = x;
  same.name = "same";
  more.name = bad;
  const auto said = [&](const NamedTensor& other) {
    write_tensors(tool.folder / "a.safetensors", {x, same});
    write_tensors(tool.folder / "b.safetensors", {other, same, more});
    tool.check("diff a.safetensors b.safetensors", 1);
    const std::string there = tool.output;
    tool.check("diff b.safetensors a.safetensors", 1);
    for (const std::string& output : {there, tool.output}) {
      CHECK(output.find(shown + " is in b.safetensors only\n") != std::string::npos);
      CHECK(output.find("1 arrays are the same, 2 differ\n") != std::string::npos);
    }
    return there;
  };
  NamedTensor other = x;
  other.type = NamedTensor::Type::I32;
  CHECK(said(other).find("x is F32 [3] and I32 [3]\n") == 0);
  other = x;
  other.shape = {3, 1};
  CHECK(said(other).find("x is F32 [3] and F32 [3,1]\n") == 0);
  other = x;
  other.bytes.replace(0, 4, std::string("\0\0\x80\x3f", 4));
  CHECK(said(other).find("x differs in 1 of 3 values, by 1 at most, moved by ") == 0);
}

TEST_CASE("word vectors are converted") {
  Tool tool;
  write_file(tool.folder / "a.txt", "2 2\nthe 1 2\ncat 3 4\n");
  tool.check("convert a.txt a.bin", 0);
  tool.check("convert a.bin b.vec", 0);
  CHECK(read_file(tool.folder / "b.vec") == read_file(tool.folder / "a.txt"));
  tool.check("inspect a.bin", 0,
             "a.bin: binary word vectors\n  vectors  F32 [2,2]  16 bytes  norm 5.47723");
  tool.check("inspect a.txt", 0, "a.txt: word vectors\n");
}

TEST_CASE("the tool prints the reason when it fails") {
  Tool tool;
  write_file(tool.folder / "a.txt", "2 2\nthe 1 2\n");
  write_file(tool.folder / "a.model", "#Parameter# /a {2} 9 ZERO_GRAD\n1\n");
  write_file(tool.folder / "a", "hello");
  const std::pair<std::string, std::string> wrong[] = {
      {"inspect none.dynet", "cannot load none.dynet: No such file"},
      {"inspect a", "it is no file of a kind that is known"},
      {"inspect a.txt", "it is said to have 2 words and has 1"},
      {"inspect a.model", "a.model:1: /a {2} needs 2 numbers, got 1"},
  };
  for (const auto& [arguments, why] : wrong) {
    tool.check(arguments, 2, why);
    CHECK(tool.says("dynet-like: "));
  }
  write_file(tool.folder / "b.model", "#Parameter# /a {1} 9 ZERO_GRAD\n1\n");
  tool.check("convert b.model b.txt", 2);
  tool.check("convert b.model b.unknown", 2,
             "the name says no format; it must end in one of .dynet");
  write_file(tool.folder / "a.npz", "PK\3\4");
  write_file(tool.folder / "a.npy", "\x93NUMPY\1");
  for (const char* command : {"convert a.npz b.dynet", "inspect a.npy", "convert b.model b.npz",
                              "convert b.model b.npy"}) {
    tool.check(command, 2,
               ": NumPy's files are read and written by `python -m dynet.convert IN OUT`\n");
  }
  tool.check("", 2);
  tool.check("--help", 0);
}

#endif

}  // namespace tool_test
