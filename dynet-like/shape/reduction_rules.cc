#include "dynet-like/shape/reduction_rules.h"

#include "dynet-like/shape/broken.h"

namespace dynet::shape {
namespace {

void need_lists(const Dim& x, std::size_t lists) {
  if (lists != 1 && lists != x.bd)
    broken("needs one list, or one for each of the " + std::to_string(x.bd) +
               " batch elements, got " + std::to_string(lists),
           Kind::argument);
}

}  // namespace

DimensionBits bit_of(const Dim& x, unsigned d) {
  need_dimension(x, d);
  return 1u << d;
}

Dim ones_at(const Dim& x, DimensionBits bits) {
  Dim r = x;
  for (unsigned d = 0; d < r.nd; ++d)
    if (bits >> d & 1) r.d[d] = 1;
  if (bits & kBatchBit) r.bd = 1;
  return r;
}

Dim without(const Dim& x, DimensionBits bits) {
  for (unsigned d = 0; d < kMaxTensorDim; ++d)
    if (bits >> d & 1) need_dimension(x, d);
  Dim r;
  for (unsigned d = 0; d < x.nd; ++d)
    if (!(bits >> d & 1)) r.d[r.nd++] = x.d[d];
  if (r.nd == 0) r.d[r.nd++] = 1;
  r.bd = bits & kBatchBit ? 1 : x.bd;
  return r;
}

std::size_t reduced_elements(const Dim& x, DimensionBits bits) {
  std::size_t n = bits & kBatchBit ? x.bd : 1;
  for (unsigned d = 0; d < x.nd; ++d)
    if (bits >> d & 1) n *= x.d[d];
  return n;
}

void need_elements(const Dim& x, DimensionBits bits, const char* what) {
  if (reduced_elements(x, bits) == 0)
    broken("the " + std::string(what) + " of no elements is not defined, got " + to_string(x));
}

Dim chosen_elements(const Dim& x, std::size_t lists, unsigned largest) {
  need_rank(x, 1, "the scores");
  need_lists(x, lists);
  need_below(largest, x.rows(), "index", "scores");
  return Dim({1}, x.bd);
}

Dim classes_along(const Dim& x, unsigned d, std::size_t lists, std::size_t classes,
                  unsigned largest) {
  need_rank(x, 2, "the scores");
  if (d > 1) broken("the dimension must be 0 or 1, got " + std::to_string(d), Kind::index);
  need_lists(x, lists);
  if (classes != x[1 - d])
    broken("needs one class for each of the " + std::to_string(x[1 - d]) +
               (d == 0 ? " columns" : " rows") + ", got " + std::to_string(classes),
           Kind::argument);
  if (classes) need_index(x, d, largest, "class");
  return Dim({x[1 - d]}, x.bd);
}

}  // namespace dynet::shape
