#include "dynet-like/io/contents.h"

#include "dynet-like/io/safetensors.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace contents_test {

using namespace dynet;

TEST_CASE("word vectors become arrays, a model and vectors again") {
  const TemporaryFolder folder;
  const std::string text = folder / "v.txt", binary = folder / "v.bin",
                    arrays = folder / "v.safetensors", model = folder / "v.dynet",
                    back = folder / "back.vec";
  write_file(text, "the 1 2\n. . 3 4\nthe 5 6\n");
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

}  // namespace contents_test
