#include "dynet-like/layers/transformer/feed_forward.h"

#include <cmath>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/matrix.h"

namespace dynet {
namespace {

Expression gelu(const Expression& x, SourceLocation at) {
  const Expression share = erf(LocatedExpression(x, at) * std::sqrt(0.5f), at);
  return cmult(LocatedExpression(x, at) * 0.5f, LocatedExpression(share, at) + 1.0f, at);
}

}  // namespace

FeedForward::FeedForward(ParameterCollection& model, const Settings& settings)
    : LayerBase(model, "feed-forward", {settings.size, settings.hidden}), settings_(settings) {
  const auto [size, hidden, activation, bias] = settings;
  up_ = Linear(collection_, {size, hidden, bias});
  down_ = Linear(collection_, {hidden, size, bias});
  if (activation == Activation::swiglu) gate_ = Linear(collection_, {size, hidden, bias});
}

void FeedForward::list_parts(Parts& parts) { parts.add(up_, down_, gate_); }

Expression FeedForward::apply(const Expression& x, SourceLocation at) const {
  Expression hidden = up_.apply(x, at);
  switch (settings_.activation) {
    case Activation::relu:
      hidden = rectify(hidden, at);
      break;
    case Activation::gelu:
      hidden = gelu(hidden, at);
      break;
    case Activation::swiglu:
      hidden = cmult(silu(gate_.apply(x, at), 1.0f, at), hidden, at);
  }
  return down_.apply(nn_detail::dropped(hidden, dropout_, at), at);
}

void FeedForward::set_dropout(float rate) { dropout_ = nn_detail::checked_rate(rate); }

}  // namespace dynet
