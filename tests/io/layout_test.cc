// Metadata of model files, and whole files that go through formats of arrays and come back.

#include "dynet-like/io/layout.h"

#include "dynet-like/io/contents.h"
#include "dynet-like/io/safetensors.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace layout_test {

using namespace dynet;

namespace {

const std::string kText = "{\n  \"made\": \"by a test\x1b\"\n}\n";

std::string refused(const std::string& path, const std::vector<NamedTensor>& tensors) {
  return message_of<FileError>([&] { write_tensors(path, tensors); });
}

NamedTensor* find(std::vector<NamedTensor>& tensors, const std::string& name) {
  for (NamedTensor& t : tensors)
    if (t.name == name) return &t;
  FAIL("no array " << name);
  return nullptr;
}

}  // namespace

TEST_CASE("metadata are passed over by load, and returned") {
  const TemporaryFolder folder;
  const Run run(1);
  run.save_to(folder / "with", {.metadata = kText});
  run.save_to(folder / "without");
  CHECK(read_metadata(folder / "with") == kText);
  CHECK(read_metadata(folder / "without").empty());
  for (const char* name : {"with", "without"}) {
    Run again(2);
    again.load_from(folder / name);
    CHECK(again.state() == run.state());
  }
  int number = 0;
  CHECK_SAYS(FileError, load(folder / "with", number), "holds 4 things");

  std::string bytes = read_file(folder / "with");
  bytes[bytes.find("by a test")] = 'B';
  write_file(folder / "with", bytes);
  CHECK_THROWS_AS(read_metadata(folder / "with"), FileError);
}

TEST_CASE("a model file goes through arrays and comes back with every bit") {
  const TemporaryFolder folder;
  Run run(1);
  run.model.b.set_updated(false);
  run.model.pc.set_weight_decay_lambda(0.25f);
  run.save_to(folder / "m", {.metadata = kText});
  const std::string tensors = folder / "m.safetensors", back = folder / "back.dynet";
  const std::string same = read_file(folder / "m");
  write_contents(tensors, read_contents(folder / "m"));
  write_contents(back, read_contents(tensors));
  CHECK((read_file(back) == same));
  CHECK(read_contents(tensors).metadata == std::map<std::string, std::string>{{"model", kText}});

  // Values that another program has changed are in the file then.
  FileContents contents = read_contents(tensors);
  find(contents.tensors, "W")->bytes.replace(0, 4, std::string(4, '\0'));
  write_contents(back, contents);
  Run again(2);
  again.load_from(back);
  CHECK(as_vector(again.model.w.values())[0] == 0.0f);
  CHECK(as_vector(again.model.w.values())[1] == as_vector(run.model.w.values())[1]);
  CHECK_FALSE(again.model.b.is_updated());
}

TEST_CASE("word vectors become arrays, a model and vectors again") {
  const TemporaryFolder folder;
  const std::string text = folder / "v.txt", binary = folder / "v.bin",
                    arrays = folder / "v.safetensors", model = folder / "v.dynet",
                    back = folder / "back.vec";
  write_file(text, "the 1 2\nthe 5 6\n. . 3 4\n");
  write_tensors(arrays, read_tensors(text));
  CHECK_THROWS_AS(write_tensors(binary, read_tensors(arrays)),
                  ArgumentError);  // a word with a space
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
  CHECK_SAYS(FileError, write_tensors(back, read_tensors(model)),
             "an array `vectors` and the bytes of as many `words`");
}

TEST_CASE("arrays that a format cannot hold, and reads behind the end of a file") {
  const TemporaryFolder folder;
  NamedTensor t;
  t.name = "vectors";
  t.shape = {1, 2};
  t.bytes = std::string(8, '\0');
  NamedTensor words;
  words.name = "words";
  words.type = NamedTensor::Type::U8;
  words.shape = {2};
  words.bytes = "a\n";
  write_tensors(folder / "m.vec", {t, words});
  CHECK_SAYS(FileError, write_tensors(folder / "m.dynet", {words}),
             "words holds U8, which are no floats");
  t.shape = std::vector<std::uint64_t>(8, 1);
  t.bytes.resize(4);
  write_safetensors(folder / "m.safetensors", {t});
  ParameterCollection pc;
  CHECK_SAYS(FileError, load_safetensors(folder / "m.safetensors", pc), "vectors has 8 sizes");
  const InputFile in(folder / "m.vec");
  CHECK_SAYS(FileError, in.read(in.size() - 1, 2), "the file is cut short");
  CHECK_THROWS_AS(in.read(~std::uint64_t{0}, 2), FileError);
}

TEST_CASE("a collection alone needs no layout") {
  const TemporaryFolder folder;
  const Run run(1);
  save(folder / "m", run.model.pc);
  for (const NamedTensor& t : read_contents(folder / "m").tensors) CHECK(t.name != kLayout);
  std::vector<NamedTensor> tensors = read_tensors(folder / "m");
  CHECK(take_layout(tensors).empty());
  CHECK(tensors.size() == 3);
}

TEST_CASE("arrays of several objects of one kind have numbered names") {
  const TemporaryFolder folder;
  const std::string path = folder / "m", tensors = folder / "m.safetensors",
                    back = folder / "back.dynet";
  ParameterCollection one, two, three;
  std::vector<Parameter> w;
  for (ParameterCollection* pc : {&one, &two, &three}) w.push_back(pc->add_parameters({2}, "w"));
  LookupParameter e = one.add_lookup_parameters(3, {2}, "e");
  MomentumSGDTrainer m(one), n(two);
  for (const Parameter& p : w) plant(p, {1, 2});
  m.update(), n.update();
  const auto names = [](const std::string& file) {
    std::set<std::string> all;
    for (const NamedTensor& x : read_contents(file).tensors) CHECK(all.insert(x.name).second);
    all.erase(kLayout);
    return all;
  };
  const auto check = [&](const std::set<std::string>& expected) {
    CHECK(names(path) == expected);
    write_contents(tensors, read_contents(path));
    CHECK(names(tensors) == expected);
    write_contents(back, read_contents(tensors));
    CHECK((read_file(back) == read_file(path)));
  };
  save(path, one, m, two, n, three);
  check({"w", "e", "MomentumSGDTrainer/w", "ParameterCollection.2/w", "MomentumSGDTrainer.2/w",
         "ParameterCollection.3/w"});
  save(path, w[0], w[1], w[2], e, e);
  check({"w", "Parameter.2/w", "Parameter.3/w", "LookupParameter.2/e", "e"});
}

TEST_CASE("arrays that are not those of the layout are refused") {
  const TemporaryFolder folder;
  const Run run(1);
  run.save_to(folder / "m");
  const std::string out = folder / "out.dynet";
  const std::vector<NamedTensor> good = read_contents(folder / "m").tensors;
  write_tensors(out, good);
  CHECK((read_file(out) == read_file(folder / "m")));

  std::vector<NamedTensor> bad = good;
  bad.erase(bad.begin());
  CHECK_THAT(refused(out, bad), Catch::Contains("the array " + good[0].name + " is missing"));
  bad = good;
  bad.push_back(good[0]);
  bad.back().name = "more";
  CHECK_THAT(refused(out, bad), Catch::Contains("the array more is none of this model's"));
  bad = good;
  find(bad, "W")->shape = {4, 3};
  CHECK_THAT(refused(out, bad), Catch::Contains("the array W has another shape than it had"));
  bad = good;
  find(bad, "layer/E")->shape = {12};
  CHECK_THAT(refused(out, bad), Catch::Contains("layer/E has another shape"));

  // A layout of any other bytes, and one with any byte missing at its end.
  bad = good;
  NamedTensor& layout = *find(bad, kLayout);
  const std::string bytes = layout.bytes;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    layout.bytes = bytes.substr(0, n);
    layout.shape = {n};
    if (n > 0) CHECK_FALSE(refused(out, bad).empty());
  }
  layout.bytes = bytes + "x";
  CHECK_THAT(refused(out, bad), Catch::Contains("is no layout of a model file"));
  CHECK((read_file(out) == read_file(folder / "m")));
}

}  // namespace layout_test
