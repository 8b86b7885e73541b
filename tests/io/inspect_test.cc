#include "dynet-like/io/inspect.h"

#include <sstream>
#include <string>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/safetensors.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/catch.h"

namespace inspect_test {

using namespace dynet;

namespace {

std::string inspected(const std::string& path) {
  std::ostringstream out;
  inspect(path, out);
  return out.str();
}

std::string differences(const std::string& a, const std::string& b, std::size_t count) {
  std::ostringstream out;
  CHECK(print_differences({a, read_tensors(a)}, {b, read_tensors(b)}, out) == count);
  return out.str();
}

}  // namespace

TEST_CASE("a model file is shown with all that is in it") {
  const TemporaryFolder folder;
  Run run(1);
  run.model.b.set_value({3, 0, -4, 0, std::numeric_limits<float>::infinity()});
  run.model.b.set_updated(false);
  run.save_to(folder / "m");
  const std::string text = inspected(folder / "m");
  INFO(text);
  for (const char* part : {"format version 1", "all checksums right",
                           "thing 1: ParameterCollection", "thing 2: AdamTrainer", "thing 3: Dict",
                           "thing 4: int32", "    /layer/b is frozen", "    learning_rate = 0.001",
                           "  layer/b  F32 [5]  20 bytes  norm 5  from -4 to 3  not finite 1",
                           "  layer/E  F32 [6,2]  48 bytes", "  AdamTrainer/W.1  F32 [3,4]"})
    CHECK(text.find(part) != std::string::npos);
  std::string bytes = read_file(folder / "m");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(folder / "m", bytes);
  CHECK(message_of<FileError>([&] { inspected(folder / "m"); }).find("the file was damaged") !=
        std::string::npos);
  write_file(folder / "m", "hello");
  CHECK_THROWS_AS(inspected(folder / "m"), FileError);
}

TEST_CASE("arrays of the same bytes and another type differ") {
  const TemporaryFolder folder;
  NamedTensor t;
  t.name = "x";
  t.shape = {3};
  t.bytes = std::string(12, '\1');
  write_safetensors(folder / "a.safetensors", {t});
  t.type = NamedTensor::Type::I32;
  write_safetensors(folder / "b.safetensors", {t});
  CHECK(differences(folder / "a.safetensors", folder / "b.safetensors", 1)
            .find("x is F32 [3] and I32 [3]") == 0);
}

TEST_CASE("files become others and back, and differ in nothing") {
  const TemporaryFolder folder;
  ParameterCollection pc, again;
  for (ParameterCollection* c : {&pc, &again}) {
    c->add_parameters({3, 4}, "W");
    auto sub = c->add_subcollection("sub");
    sub.add_parameters({2, 3, 4}, "cube");
  }
  const std::string model = folder / "m.dynet", tensors = folder / "m.safetensors",
                    back = folder / "back.dynet";
  save(model, pc);
  write_tensors(tensors, read_tensors(model));
  write_tensors(back, read_tensors(tensors));
  for (const std::string& other : {tensors, back})
    CHECK(differences(model, other, 0) == "2 arrays are the same, 0 differ\n");
  for (Parameter p : again.parameters_list()) p.zero();
  load(back, again);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(as_vector(again.parameters_list()[i].values()) ==
          as_vector(pc.parameters_list()[i].values()));
  CHECK(inspected(tensors).find(": safetensors\n  W  F32 [3,4]  48 bytes") != std::string::npos);
  CHECK_THROWS_AS(write_tensors(folder / "m.txt", read_tensors(tensors)), FileError);

  pc.parameters_list()[0].stored().data[0] += 1;
  pc.add_parameters({1}, "more");
  save(folder / "n.dynet", pc);
  const std::string text = differences(model, folder / "n.dynet", 2);
  CHECK(text.find("W differs in 1 of 12 values, by 1") != std::string::npos);
  CHECK(text.find("more is in " + (folder / "n.dynet") + " only") != std::string::npos);
}

TEST_CASE("word vectors become arrays, a model and vectors again") {
  const TemporaryFolder folder;
  const std::string text = folder / "v.txt", binary = folder / "v.bin",
                    arrays = folder / "v.safetensors", model = folder / "v.dynet", back = folder / "back.vec";
  write_file(text, "the 1 2\n. . 3 4\nthe 5 6\n");
  write_tensors(arrays, read_tensors(text));
  CHECK_THROWS_AS(write_tensors(binary, read_tensors(arrays)), ArgumentError);  // a word with a space
  write_tensors(model, read_tensors(arrays));
  Dict words;
  ParameterCollection pc;
  const LookupParameter table = pc.add_lookup_parameters(2, {2}, "vectors");
  load(model, pc, words);
  CHECK(words.get_words() == std::vector<std::string>{"the", ". ."});
  CHECK(table_values(table) == std::vector<float>{1, 2, 3, 4});

  write_file(text, "2 2\nthe 1 2\ncat 3 4\n");
  write_tensors(arrays, read_tensors(text));
  write_tensors(binary, read_tensors(arrays));
  write_tensors(back, read_tensors(binary));
  CHECK(read_file(back) == read_file(text));
  CHECK(inspected(binary).find(
            ": binary word vectors\n  vectors  F32 [2,2]  16 bytes  norm 5.47723") !=
        std::string::npos);
  CHECK(message_of<FileError>([&] {
          write_tensors(back, read_tensors(model));
        }).find("an array `vectors` and the bytes of as many `words`") != std::string::npos);
}

TEST_CASE("tables stay tables in model files") {
  const TemporaryFolder folder;
  ParameterCollection one, two;
  for (ParameterCollection* pc : {&one, &two}) {
    pc->add_lookup_parameters(3, {2, 2}, "E");
    pc->add_parameters({2}, "b");
  }
  save(folder / "m.dynet", one);
  write_tensors(folder / "n.dynet", read_tensors(folder / "m.dynet"));
  load(folder / "n.dynet", two);
  CHECK(table_values(one.lookup_parameters_list()[0]) ==
        table_values(two.lookup_parameters_list()[0]));
}

}  // namespace inspect_test
