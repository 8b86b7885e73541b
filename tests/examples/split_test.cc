// One file cut in three.

#include "examples/nlp/common/split.h"

#include <array>
#include <vector>

#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

namespace split_test {

using namespace nlp;

TEST_CASE("A split depends on the place in the file alone") {
  const Split split = parse_split("90/5/5");
  std::array<std::size_t, 3> counts{0, 0, 0};
  std::vector<std::size_t> corpus(31102);
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    corpus[i] = i;
    const Part part = part_of(i, split);
    counts[part == Part::kTrain ? 0 : part == Part::kDev ? 1 : 2]++;
  }
  CHECK(counts[0] > 27800);
  CHECK(counts[1] > 1450);
  CHECK(counts[2] > 1450);
  CHECK(take_part(corpus, split, Part::kDev).size() == counts[1]);
  CHECK(take_part(corpus, split, Part::kAll).size() == corpus.size());
  CHECK(part_of(7, parse_split("1/0/0")) == Part::kTrain);

  CHECK(contains(error_from([&] { parse_split("90/10"); }), "found '90/10'"));
  CHECK(contains(error_from([&] { parse_split("a/b/c"); }), "not 'a'"));
  CHECK(contains(error_from([&] { parse_split("0/5/5"); }), "must not be 0"));
  CHECK(contains(error_from([&] { part_from_name("half"); }), "unknown part 'half'"));
}

}  // namespace split_test
