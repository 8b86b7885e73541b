#include "dynet-like/structures/dependency_trees/shape.h"

#include "dynet-like/shape/broken.h"

namespace dynet::shape {

Dim dependencies(Dims xs) {
  const Dim& arcs = *xs[0];
  if (arcs.rank() > 2 || arcs.rows() == 0 || arcs.rows() != arcs.cols())
    broken("the arcs of n words must be {n+1,n+1}, got " + to_string(arcs));
  return Dim({1}, arcs.bd);
}

}  // namespace dynet::shape
