// What progress looks like, with a clock of the test's own.

#include "examples/nlp/common/progress.h"

#include <sstream>
#include <string>

#include "tests/support/catch.h"

namespace progress_test {

using namespace nlp;

namespace {

Step halfway() {
  Step step;
  step.label = "epoch 2";
  step.unit = "words";
  step.done = 5000;
  step.total = 10000;
  step.seconds = 2;
  return step;
}

struct Fixture {
  std::ostringstream out;
  double now = 100;
  std::size_t columns = 70;
  Progress::Output output(bool terminal) {
    Progress::Output result;
    result.stream = &out;
    result.terminal = terminal;
    result.columns = [this] { return columns; };
    result.clock = [this] { return now; };
    return result;
  }
};

}  // namespace

TEST_CASE("Numbers and durations as people write them") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1000) == "1,000");
  CHECK(with_commas(1234567) == "1,234,567");
  CHECK(duration(0) == "0.0 s");
  CHECK(duration(9.94) == "9.9 s");
  CHECK(duration(9.96) == "10 s");
  CHECK(duration(59.4) == "59 s");
  CHECK(duration(59.6) == "1:00");
  CHECK(duration(65) == "1:05");
  CHECK(duration(7389) == "2:03:09");
  CHECK(duration(-1) == "0.0 s");
}

TEST_CASE("Rate and time left") {
  Step step = halfway();
  CHECK(rate(step) == Approx(2500));
  CHECK(seconds_left(step) == Approx(2));
  step.done_before = 4000;  // a resumed run counts only what it did itself
  CHECK(rate(step) == Approx(500));
  CHECK(seconds_left(step) == Approx(10));
  step.done = step.total;
  CHECK(seconds_left(step) == 0);
  step.seconds = 0;
  CHECK(rate(step) == 0);
}

TEST_CASE("The bar fits the terminal") {
  Step step = halfway();
  step.note = "loss 0.5";
  CHECK(bar_line(step, 76) ==
        "epoch 2 [############............] 50 %  2,500 words/s, 2.0 s left, loss 0.5");
  CHECK(bar_line(step, 200).size() < 100);
  for (std::size_t columns = 0; columns < 120; ++columns) {
    CHECK(bar_line(step, columns).size() <= columns);
  }
  CHECK(bar_line(step, 12) == "epoch 2  50 ");
  step.done = 20000;  // more than there is: never past the end
  CHECK(bar_line(step, 70).find("100 %") != std::string::npos);
}

TEST_CASE("Plain lines") {
  CHECK(plain_line(halfway()) ==
        "epoch 2: 50 % (5,000 of 10,000 words), 2,500 words/s, 2.0 s left");
  Step step = halfway();
  step.seconds = 0;
  CHECK(plain_line(step) == "epoch 2: 50 % (5,000 of 10,000 words)");
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
  CHECK(draws <= 12);
  CHECK(draws >= 9);
}

TEST_CASE("The bar follows the width of the terminal") {
  Fixture fixture;
  Progress progress(fixture.output(true), "epoch 1", "words", 1000);
  for (const std::size_t columns : {70, 30, 100}) {
    fixture.columns = columns;
    fixture.out.str("");
    fixture.now += 1;
    progress.update(500);
    const std::string line = fixture.out.str();
    const std::size_t shown = line.size() - std::string("\r\x1b[K").size();
    CHECK(shown <= columns);
    CHECK(shown > std::min<std::size_t>(columns, 70) - 10);
  }
}

TEST_CASE("Nothing to do and nothing to show") {
  Fixture fixture;
  { Progress progress(fixture.output(false), "empty", "words", 0); }
  CHECK(fixture.out.str().empty());
  Progress silent(Progress::Output(), "silent", "words", 10);
  silent.update(5);
  silent.finish();
}

}  // namespace progress_test
