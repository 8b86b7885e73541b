#include "dynet-like/structures/crf/shape.h"

#include "dynet-like/shape/broken.h"

namespace dynet::shape {

Dim chain(Dims xs) {
  const Dim &emissions = *xs[0], &transitions = *xs[1];
  need_rank(emissions, 2, "the emissions");
  const unsigned tags = emissions.rows(), length = emissions.cols();
  if (tags == 0) broken("there must be a tag, got emissions " + to_string(emissions));
  const bool shared = transitions.rank() <= 2;
  if (transitions.rank() > 3 || transitions[0] != tags || transitions[1] != tags ||
      transitions.bd != 1 || (!shared && transitions[2] + 1 != length))
    broken("the transitions must be " + to_string(Dim({tags, tags})) +
           ", or that for each of the " + std::to_string(length > 0 ? length - 1 : 0) +
           " steps, got " + to_string(transitions));
  need_ends(xs, tags);
  return Dim({1}, emissions.bd);
}

}  // namespace dynet::shape
