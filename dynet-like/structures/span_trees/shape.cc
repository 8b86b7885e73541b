#include "dynet-like/structures/span_trees/shape.h"

#include "dynet-like/shape/broken.h"

namespace dynet::shape {

Dim span_trees(const Dim& spans) {
  if (spans.rank() > 3 || spans.rows() != spans.cols())
    broken("the scores of spans must be {n,n} or {n,n,labels}, got " + to_string(spans));
  if (spans[2] == 0) broken("there must be a label, got scores of spans " + to_string(spans));
  return Dim({1}, spans.bd);
}

}  // namespace dynet::shape
