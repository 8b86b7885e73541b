#include "dynet-like/io/dict.h"

#include "tests/support/prelude.h"

namespace dict_test {

using namespace dynet;

TEST_CASE("a dictionary numbers words in the order of appearance") {
  Dict d;
  CHECK(d.size() == 0);
  CHECK(d.convert("the") == 0);
  CHECK(d.convert(std::string("cat")) == 1);
  CHECK(d.convert("the") == 0);
  CHECK(d.convert("") == 2);
  CHECK(d.size() == 3);
  CHECK(d.contains("cat"));
  CHECK_FALSE(d.contains("dog"));
  CHECK(d.size() == 3);
  CHECK(d.convert(1) == "cat");
  CHECK(d.get_words() == std::vector<std::string>{"the", "cat", ""});
  CHECK_THROWS_AS(d.convert(3), IndexError);
  CHECK_THROWS_AS(d.convert(-1), IndexError);
  const Dict& fixed = d;
  CHECK(fixed.convert("cat") == 1);
  CHECK_THROWS_AS(fixed.convert("dog"), ArgumentError);
}

TEST_CASE("a frozen dictionary knows no new words") {
  Dict d;
  d.convert("a");
  CHECK_THROWS_AS(d.set_unk("<unk>"), ArgumentError);
  CHECK_FALSE(d.is_frozen());
  d.freeze();
  CHECK(d.is_frozen());
  CHECK(d.get_unk_id() == -1);
  CHECK_THROWS_AS(d.convert("b"), ArgumentError);
  CHECK(d.size() == 1);
  d.set_unk("<unk>");
  CHECK(d.get_unk_id() == 1);
  CHECK(d.convert("b") == 1);
  CHECK(d.convert("a") == 0);
  CHECK(d.size() == 2);
  CHECK_THROWS_AS(d.set_unk("other"), ArgumentError);

  Dict known({"a", "<unk>", "b"});
  known.freeze();
  known.set_unk("<unk>");
  CHECK(known.get_unk_id() == 1);
  CHECK(known.size() == 3);
  known.clear();
  CHECK(known.size() == 0);
  CHECK_FALSE(known.is_frozen());
  CHECK(known.get_unk_id() == -1);
  CHECK(known.convert("new") == 0);
  CHECK_THROWS_AS(Dict({"a", "b", "a"}), ArgumentError);
}

TEST_CASE("sentences become numbers") {
  Dict d, t;
  CHECK(read_sentence("the cat  saw\tthe dog \n", d) == std::vector<int>{0, 1, 2, 0, 3});
  CHECK(read_sentence("", d).empty());
  CHECK(read_sentence(" \t", d).empty());
  CHECK(read_sentence("the\vcat\fsaw\rdog", d) == std::vector<int>{0, 1, 2, 3});
  std::vector<int> source, target;
  read_sentence_pair("the dog ||| le chien", source, d, target, t);
  CHECK(source == std::vector<int>{0, 3});
  CHECK(target == std::vector<int>{0, 1});
  CHECK_THROWS_AS(read_sentence_pair("the dog", source, d, target, t), ArgumentError);
  CHECK_THROWS_AS(read_sentence_pair("a ||| b ||| c", source, d, target, t), ArgumentError);
  CHECK(source.size() == 2);
  CHECK(d.size() == 4);
}

}  // namespace dict_test
