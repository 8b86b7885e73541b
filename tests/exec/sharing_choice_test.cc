#include "dynet-like/exec/sharing_choice.h"

#include "tests/support/catch.h"

namespace sharing_choice_test {

using dynet::SharingChoice;

namespace {

/// How many of `graphs` graphs are shared out, where both passes together take so long a node.
unsigned shared_of(SharingChoice& choice, unsigned graphs, double alone, double shared) {
  unsigned count = 0;
  for (unsigned g = 0; g < graphs; ++g) {
    const bool shares = choice.begin_graph();
    count += shares;
    choice.note(SharingChoice::Pass::forward, (shares ? shared : alone) / 3);
    choice.note(SharingChoice::Pass::backward, (shares ? shared : alone) * 2 / 3);
  }
  return count;
}

constexpr auto kTrial = static_cast<unsigned>(SharingChoice::kTrial),
               kPeriod = static_cast<unsigned>(SharingChoice::kPeriod);

}  // namespace

TEST_CASE("the first graphs are shared out, then as many are not") {
  SharingChoice choice;
  CHECK(shared_of(choice, kTrial, 1, 1) == kTrial);
  CHECK(shared_of(choice, kTrial, 1, 1) == 0);
}

TEST_CASE("graphs are shared out where that is faster, and only there") {
  SharingChoice gain, loss, same;
  CHECK(shared_of(gain, kPeriod, 1, 0.6) == kPeriod - kTrial);
  CHECK(shared_of(loss, kPeriod, 1, 1.2) == kTrial);
  CHECK(shared_of(same, kPeriod, 1, 0.99) == kTrial);
  CHECK(gain.gains());
  CHECK(!loss.gains());
}

TEST_CASE("what is faster is looked at again") {
  SharingChoice choice;
  shared_of(choice, kPeriod, 1, 1.2);
  CHECK(shared_of(choice, kPeriod, 1, 0.6) == kPeriod - kTrial);
  CHECK(shared_of(choice, kPeriod, 1, 1.2) <= 2 * kTrial);
}

TEST_CASE("graphs without a backward pass count as well as others") {
  SharingChoice choice;
  for (unsigned g = 0; g < 2 * kTrial; ++g)
    choice.note(SharingChoice::Pass::forward, choice.begin_graph() ? 0.5 : 1.0);
  CHECK(choice.begin_graph());
}

}  // namespace sharing_choice_test
