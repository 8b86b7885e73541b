// Lines of progress, with a clock of the test's own.

#include "examples/nlp/common/progress.h"

#include "tests/support/prelude.h"

namespace progress_test {

using namespace nlp;

struct Fixture {
  std::ostringstream out;
  double now = 100;
  std::size_t columns = 70;
  Progress::Output output(bool terminal) {
    return {&out, terminal, [this] { return columns; }, [this] { return now; }};
  }
};

TEST_CASE("Numbers and durations as people write them") {
  for (const auto& [number, text] :
       {std::pair(0u, "0"), {999u, "999"}, {1000u, "1,000"}, {1234567u, "1,234,567"}})
    CHECK(with_commas(number) == text);
  CHECK(duration(0) == "0.0 s");
  CHECK(duration(9.94) == "9.9 s");
  CHECK(duration(9.96) == "10 s");
  CHECK(duration(59.4) == "59 s");
  CHECK(duration(59.6) == "1:00");
  CHECK(duration(65) == "1:05");
  CHECK(duration(7389) == "2:03:09");
  CHECK(duration(-1) == "0.0 s");
}

TEST_CASE("In a pipe: a few lines, evenly spread") {
  Fixture fixture;
  {
    Progress progress(fixture.output(false), "epoch 1", "words", 1000);
    for (std::size_t done = 10; done <= 1000; done += 10) {
      fixture.now += 0.03125;
      progress.update(done, "loss 1");
    }
  }
  CHECK(fixture.out.str() ==
        "epoch 1: 25 % (250 of 1,000 words), 320 words/s, 2.3 s left, loss 1\n"
        "epoch 1: 50 % (500 of 1,000 words), 320 words/s, 1.6 s left, loss 1\n"
        "epoch 1: 75 % (750 of 1,000 words), 320 words/s, 0.8 s left, loss 1\n");
}

TEST_CASE("On a terminal: redrawn in place, not too often, and taken away") {
  Fixture fixture;
  {
    Progress progress(fixture.output(true), "epoch 1", "words", 1000);
    for (std::size_t done = 1; done <= 1000; ++done) {
      fixture.now += 0.001;
      progress.update(done);
    }
  }
  const std::string text = fixture.out.str();
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.substr(0, 1) == "\r");
  CHECK(text.substr(text.size() - 4) == "\r\x1b[K");
  std::size_t draws = 0;
  for (char c : text) draws += c == '\r' ? 1 : 0;
  CHECK(draws <= 5);
  CHECK(draws >= 4);
}

TEST_CASE("The line fits the terminal, also when that is resized") {
  Fixture fixture;
  Progress progress(fixture.output(true), "epoch 1", "words", 1000);
  for (const std::size_t columns : {70, 30, 0, 100}) {
    fixture.columns = columns;
    fixture.out.str("");
    fixture.now += 1;
    const double seconds = fixture.now - 100;
    progress.update(500, "loss 0.5");
    const std::string whole = "epoch 1: 50 % (500 of 1,000 words), " +
                              with_commas(static_cast<std::size_t>(std::llround(500 / seconds))) +
                              " words/s, " + duration(seconds) + " left, loss 0.5";
    CHECK(fixture.out.str() == "\r" + whole.substr(0, columns) + "\x1b[K");
  }
}

TEST_CASE("A resumed run counts only what it did itself, and nothing goes past the end") {
  Fixture fixture;
  Progress progress(fixture.output(true), "e", "words", 10000, 4000);
  fixture.now += 2;
  progress.update(5000);
  CHECK(fixture.out.str() == "\re: 50 % (5,000 of 10,000 words), 500 words/s, 10 s left\x1b[K");
  fixture.out.str("");
  fixture.now += 2;
  progress.update(20000);  // more than there is
  CHECK(fixture.out.str() ==
        "\re: 100 % (20,000 of 10,000 words), 4,000 words/s, 0.0 s left\x1b[K");
}

TEST_CASE("Nothing to do and nothing to show") {
  Fixture fixture;
  { Progress progress(fixture.output(false), "empty", "words", 0); }
  CHECK(fixture.out.str().empty());
  Progress silent(Progress::Output(), "silent", "words", 10);
  silent.update(5);
}

}  // namespace progress_test
