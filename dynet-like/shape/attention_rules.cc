#include "dynet-like/shape/attention_rules.h"

#include <algorithm>

#include "dynet-like/shape/broken.h"

namespace dynet::shape {

Dim attention(Dims xs, std::size_t heads, std::size_t key_heads) {
  const Dim &q = *xs[0], &k = *xs[1], &v = *xs[2];
  if (heads == 0 || key_heads == 0 || heads % key_heads != 0)
    broken("needs heads of queries that heads of keys divide" + two(heads, key_heads),
           Kind::argument);
  constexpr const char* kWho[] = {"the queries", "the keys", "the values"};
  for (std::size_t x = 0; x < 3; ++x) {
    need_rank(*xs[x], 2, kWho[x]);
    const std::size_t parts = x == 0 ? heads : key_heads;
    if (xs[x]->rows() % parts != 0)
      broken(std::string(kWho[x]) + " must have the rows of " + std::to_string(parts) +
             " heads, got " + to_string(*xs[x]));
  }
  if (q.rows() / heads != k.rows() / key_heads)
    broken("heads of queries and of keys must have the same size" +
           two(q.rows() / heads, k.rows() / key_heads));
  if (k.cols() != v.cols())
    broken("there must be as many keys as values" + two(k.cols(), v.cols()));
  unsigned batch = 1;
  for (const Dim* x : xs) batch = std::max(batch, x->bd);
  for (const Dim* x : xs)
    if (x->bd != 1 && x->bd != batch)
      broken("batch sizes must be equal, or one" + two(x->bd, batch));
  if (xs.size() > 3 && (xs[3]->rank() > 2 || xs[3]->rows() % 2 == 0 || xs[3]->cols() != heads))
    broken("the biases must be {2*r+1," + std::to_string(heads) + "}, got " + to_string(*xs[3]));
  return Dim({static_cast<unsigned>(v.rows() / key_heads * heads), q.cols()}, batch);
}

}  // namespace dynet::shape
