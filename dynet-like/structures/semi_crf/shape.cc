#include "dynet-like/structures/semi_crf/shape.h"

#include "dynet-like/shape/broken.h"

namespace dynet::shape {

Dim segments(Dims xs) {
  const Dim &scores = *xs[0], &transitions = *xs[1];
  need_rank(scores, 2, "the scores");
  const unsigned labels = transitions.rows();
  if (transitions.rank() > 2 || transitions.cols() != labels || transitions.bd != 1 || labels == 0)
    broken("the transitions must be a square matrix without a batch, got " +
           to_string(transitions));
  if (scores.rows() == 0 || scores.rows() % labels != 0)
    broken("the scores must have the rows of " + std::to_string(labels) +
           " labels for each length, got " + to_string(scores));
  need_ends(xs, labels);
  return Dim({1}, scores.bd);
}

}  // namespace dynet::shape
