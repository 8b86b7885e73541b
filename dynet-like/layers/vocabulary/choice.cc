#include "dynet-like/layers/vocabulary/choice.h"

#include "dynet-like/base/random.h"
#include "dynet-like/layers/search/draw.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/softmax.h"

namespace dynet::nn_detail {

unsigned need_words(const char* who, const Expression& rep, const std::vector<unsigned>& words,
                    SourceLocation at) {
  const unsigned batch = rep.dim(at).batch_elems();
  if (words.empty() || (batch > 1 && words.size() != batch))
    fail(who,
         "needs a word for each of the " + std::to_string(batch) + " batch elements, got " +
             std::to_string(words.size()),
         at);
  return batch;
}

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
  const std::vector<double> weights(p.begin(), p.end());
  const double u = RandomStream(next_random_key(scores)).uniform(0);
  const std::size_t drawn = draw_by_weight(weights, u);
  if (drawn == p.size()) fail(who, "no word has a probability", at);
  return static_cast<unsigned>(drawn);
}

}  // namespace dynet::nn_detail
