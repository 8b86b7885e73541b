// DyNet's text is written as a whole or not at all, too.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "dynet-like/compat/text_file.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace dynet_text_test {

using namespace dynet;

TEST_CASE("a saver that fails leaves the old text") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Model one(1), two(2);
  TextFileSaver(path).save(one.pc);
  const std::string before = read_file(path);
  {
    const TextFileSaver nothing_saved(path);
    CHECK(read_file(path) == before);
  }
  CHECK_THROWS_AS(TextFileSaver(path).save(two.w, "no#name"), ArgumentError);
  CHECK(read_file(path) == before);
  TextFileSaver saver(path);
  {
    const FileSizeLimit full(100);
    CHECK_SAYS(FileError, saver.save(two.pc), "cannot write: File too large");
  }
  CHECK(read_file(path) == before);
  CHECK(folder.names() == std::vector<std::string>{"m"});
  saver.save(two.pc);  // goes on in place of the file
  CHECK(read_file(path) != before);
  CHECK(read_file(path).size() == before.size());
}

TEST_CASE("TextFileSaver appends an object as a whole or not at all") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Model model(1);
  TextFileSaver saver(path);
  saver.save(model.w);
  const std::string before = read_file(path);
  for (const rlim_t more : {0u, 1u, 20u, 60u}) {
    const FileSizeLimit full(before.size() + more);
    CHECK_SAYS(FileError, saver.save(model.e), "writing failed");
    CHECK(read_file(path) == before);
    CHECK_THROWS_AS(TextFileSaver(path, true).save(model.e), FileError);
    CHECK(read_file(path) == before);
  }
  CHECK_THROWS_AS(saver.save(model.e, "two words"), ArgumentError);
  CHECK(read_file(path) == before);
  saver.save(model.e);
  Model other(2);
  TextFileLoader(path).populate(other.w);
  TextFileLoader(path).populate(other.e);
  CHECK(as_vector(other.w.values()) == as_vector(model.w.values()));
  CHECK(table_values(other.e) == table_values(model.e));
}

TEST_CASE("text goes into devices and pipes as into any stream, and through links") {
  const TemporaryFolder folder;
  Model model(1);
  TextFileSaver("/dev/null").save(model.pc);
  if (std::ofstream("/dev/full").good())
    CHECK_THROWS_AS(TextFileSaver("/dev/full").save(model.pc), FileError);
  std::filesystem::create_symlink("real", folder / "link");
  TextFileSaver saver(folder / "link");
  saver.save(model.w);
  saver.save(model.e);
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_text_tensors(folder / "real").size() == 2);
}

TEST_CASE("a text that holds something else is refused where it is") {
  const TemporaryFolder folder;
  Model model(1);
  TextFileSaver(folder / "m").save(model.pc);
  // A gradient that the model has is dropped where the file has none.
  plant(model.w, std::vector<float>(12, 1.0f));
  plant_row(model.e, 1, {1, 2});
  TextFileLoader(folder / "m").populate(model.pc);
  CHECK(as_vector(model.w.gradients()) == std::vector<float>(12, 0.0f));
  CHECK(model.e.row_gradient(1) == std::vector<float>{0, 0});
  plant_whole(model.e, std::vector<float>(12, 1.0f));
  TextFileSaver(folder / "g").save(model.pc);
  Model other(2);
  TextFileLoader(folder / "g").populate(other.pc);
  CHECK(other.e.row_gradient(5) == std::vector<float>{1, 1});
  NamedTensor integers;
  integers.name = "i\x1b";
  integers.type = NamedTensor::Type::I32;
  integers.shape = {0};
  CHECK_SAYS(FileError, write_text_tensors(folder / "x", {integers}),
             "i\\u{1b} holds I32, which are no floats");
  CHECK_FALSE(std::filesystem::exists(folder / "x"));
}

}  // namespace dynet_text_test
