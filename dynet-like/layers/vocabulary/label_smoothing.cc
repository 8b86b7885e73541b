#include "dynet-like/layers/vocabulary/label_smoothing.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/layers/vocabulary/choice.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/softmax.h"

namespace dynet {

Expression label_smoothed_loss(const Expression& scores, const std::vector<unsigned>& classes,
                               float smoothing, SourceLocation at) {
  if (!(smoothing >= 0 && smoothing <= 1))
    nn_detail::fail("label_smoothed_loss",
                    "smoothing must be between 0 and 1, got " + std::to_string(smoothing), at);
  const Dim d = scores.dim(at);
  if (d.batch_size() != d.rows())
    throw ShapeError("label_smoothed_loss: scores must be a vector, got " + to_string(d) +
                         "\n  at " + to_string(at),
                     at);
  if (smoothing == 0) return nn_detail::choice_loss(scores, classes, at);
  const Expression logs = log_softmax(scores, at);
  const Expression right = LocatedExpression(pick(logs, classes, 0, at), at) * (smoothing - 1);
  return LocatedExpression(right, at) - LocatedExpression(mean_elems(logs, at), at) * smoothing;
}

Expression label_smoothed_loss(const Expression& scores, unsigned v, float smoothing,
                               SourceLocation at) {
  return label_smoothed_loss(scores, std::vector<unsigned>{v}, smoothing, at);
}

}  // namespace dynet
