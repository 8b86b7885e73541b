#include "dynet-like/layers/transformer/norms.h"

#include <cmath>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/normalization.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/ops/selection.h"

namespace dynet {
namespace {

void check(const char* who, unsigned size, float epsilon, bool zero_is_fine) {
  if (size == 0) throw ArgumentError(std::string(who) + ": needs a size above zero");
  if (!(epsilon > 0 || (zero_is_fine && epsilon == 0)) || !std::isfinite(epsilon))
    throw ArgumentError(std::string(who) + ": epsilon must be finite and " +
                        (zero_is_fine ? "not below" : "above") + " zero, got " +
                        std::to_string(epsilon));
}

// The columns of x as batch elements, so that operations normalize each by itself.
Expression columns(const Expression& x, unsigned size, SourceLocation at) {
  const Dim d = x.dim(at);
  if (d.rows() != size)
    throw ShapeError("apply: normalizes columns of size " + std::to_string(size) + ", got " +
                     to_string(d) + "\n  at " + to_string(at));
  return reshape(x, Dim({size}, static_cast<unsigned>(d.size() / size)), at);
}

}  // namespace

LayerNorm::LayerNorm(ParameterCollection& model, const Settings& settings) : settings_(settings) {
  check("LayerNorm", settings.size, settings.epsilon, true);
  collection_ = model.add_subcollection("layer-norm");
  gain_ = collection_.add_parameters({settings.size}, ParameterInitConst(1.0f));
  bias_ = settings.bias
              ? Weight(collection_.add_parameters({settings.size}, ParameterInitConst(0.0f)))
              : Weight(Dim({settings.size}));
}

void LayerNorm::list_parts(Parts& parts) { parts.add(gain_, bias_); }

Expression LayerNorm::apply(const Expression& x, SourceLocation at) const {
  need_graph("apply", at);
  const Expression y =
      layer_norm(columns(x, settings_.size, at), gain_, bias_, settings_.epsilon, at);
  return reshape(y, x.dim(at), at);
}

RMSNorm::RMSNorm(ParameterCollection& model, const Settings& settings) : settings_(settings) {
  check("RMSNorm", settings.size, settings.epsilon, false);
  collection_ = model.add_subcollection("rms-norm");
  gain_ = collection_.add_parameters({settings.size}, ParameterInitConst(1.0f));
}

void RMSNorm::list_parts(Parts& parts) { parts.add(gain_); }

Expression RMSNorm::apply(const Expression& x, SourceLocation at) const {
  need_graph("apply", at);
  const Expression each = columns(x, settings_.size, at);
  const Expression mean_square =
      LocatedExpression(squared_norm(each, at), at) / static_cast<float>(settings_.size);
  const Expression length = sqrt(LocatedExpression(mean_square, at) + settings_.epsilon, at);
  return reshape(cmult(cdiv(each, length, at), gain_, at), x.dim(at), at);
}

}  // namespace dynet
