#include "dynet-like/nn/choice.h"

#include "dynet-like/base/random.h"
#include "dynet-like/nn/support.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/softmax.h"

namespace dynet::nn_detail {

Expression choice_loss(const Expression& scores, const std::vector<unsigned>& choices,
                       SourceLocation at) {
  if (scores.dim(at).batch_elems() > 1 || choices.size() < 2)
    return pickneglogsoftmax(scores, choices, at);
  return -LocatedExpression(pick(log_softmax(scores, at), choices, 0, at), at);
}

unsigned draw(const char* who, const Expression& scores, SourceLocation at) {
  if (scores.dim(at).batch_elems() != 1)
    fail(who,
         "one vector at a time, got a batch of " + std::to_string(scores.dim(at).batch_elems()),
         at);
  const std::vector<float> p = as_vector(softmax(scores, 0, at).value(at));
  double total = 0;
  for (const float x : p) total += x;
  if (!(total > 0)) fail(who, "no word has a probability", at);
  double left = RandomStream(next_random_key(scores)).uniform(0) * total;
  unsigned last = 0;  // of those that can be drawn, for what rounding leaves over
  for (unsigned i = 0; i < p.size(); ++i) {
    if (!(p[i] > 0)) continue;
    last = i;
    left -= p[i];
    if (left < 0) break;
  }
  return last;
}

}  // namespace dynet::nn_detail
