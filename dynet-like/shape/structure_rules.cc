#include "dynet-like/shape/structure_rules.h"

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
  for (std::size_t k = 2; k < 4; ++k)
    if (*xs[k] != Dim({tags}))
      broken(std::string(k == 2 ? "the start" : "the stop") + " scores must be " +
             to_string(Dim({tags})) + ", got " + to_string(*xs[k]));
  return Dim({1}, emissions.bd);
}

Dim span_trees(const Dim& spans) {
  if (spans.rank() > 3 || spans.rows() != spans.cols())
    broken("the scores of spans must be {n,n} or {n,n,labels}, got " + to_string(spans));
  if (spans[2] == 0) broken("there must be a label, got scores of spans " + to_string(spans));
  return Dim({1}, spans.bd);
}

Dim dependencies(Dims xs) {
  const Dim& arcs = *xs[0];
  if (arcs.rank() > 2 || arcs.rows() == 0 || arcs.rows() != arcs.cols())
    broken("the arcs of n words must be {n+1,n+1}, got " + to_string(arcs));
  return Dim({1}, arcs.bd);
}

}  // namespace dynet::shape
