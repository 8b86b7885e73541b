#include "tests/layers/cells.h"

namespace label_smoothing_test {

using namespace dynet;
using naive::numbers;

TEST_CASE("label smoothing: the cross entropy to a smoothed distribution") {
  ParameterCollection model;
  const Parameter scores = model.add_parameters({5});
  naive::spread(model);
  const std::vector<float> others = numbers(5, 7);
  for (const float smoothing : {0.0f, 0.1f, 0.7f, 1.0f}) {
    CAPTURE(smoothing);
    ComputationGraph cg;
    const Expression x = concatenate_to_batch({parameter(cg, scores), input(cg, {5}, others)});
    const std::vector<unsigned> classes = {3, 0};
    const Expression losses = label_smoothed_loss(x, classes, smoothing);
    CHECK(losses.dim() == Dim({1}, 2));
    const std::vector<float> logs = as_vector(log_softmax(x).value());
    for (unsigned b = 0; b < 2; ++b) {
      double expected = 0;
      for (unsigned c = 0; c < 5; ++c)
        expected -= double(logs[b * 5 + c]) *
                    (double(smoothing) / 5 + (c == classes[b] ? 1 - double(smoothing) : 0.0));
      CHECK(as_vector(losses.value())[b] == Approx(expected).epsilon(1e-5));
    }
    // One class, several of one vector.
    const Expression one = label_smoothed_loss(parameter(cg, scores), 3, smoothing);
    CHECK(one.dim() == Dim({1}));
    CHECK(as_scalar(one.value()) == Approx(as_vector(losses.value())[0]));
    const Expression many = label_smoothed_loss(parameter(cg, scores), {1, 3, 4}, smoothing);
    CHECK(many.dim() == Dim({1}, 3));
    CHECK(as_vector(many.value())[1] == Approx(as_scalar(one.value())));
    check_slopes(sum_batches(losses) + sum_batches(many), 1);
  }
}

TEST_CASE("label smoothing: without it masked scores do no harm") {
  ComputationGraph cg;
  const Expression x = input(cg, {3}, {1, -INFINITY, 0});
  CHECK(as_vector(label_smoothed_loss(x, 0, 0).value()) ==
        as_vector(pickneglogsoftmax(x, 0u).value()));
  CHECK(as_scalar(label_smoothed_loss(x, 0, 0.1f).value()) == INFINITY);
}

TEST_CASE("label smoothing: what is wrong is said") {
  ComputationGraph cg;
  const Expression x = input(cg, {3}, {1, 2, 3});
  for (const float smoothing : {-0.1f, 1.1f, NAN})
    CHECK_THROWS_WITH(label_smoothed_loss(x, 0, smoothing), Catch::Contains("between 0 and 1"));
  CHECK_THROWS_AS(label_smoothed_loss(x, 3, 0.1f), IndexError);
  CHECK_THROWS_AS(label_smoothed_loss(input(cg, {2, 2}, {1, 2, 3, 4}), 1, 0.1f), ShapeError);
}

}  // namespace label_smoothing_test
