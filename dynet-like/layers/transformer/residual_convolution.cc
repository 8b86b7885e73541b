#include "dynet-like/layers/transformer/residual_convolution.h"

#include <cmath>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/convolution.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/normalization.h"

namespace dynet {
namespace {

void require_channels(const Expression& x, unsigned channels, SourceLocation at) {
  const Dim d = x.dim(at);
  if (d.ndims() > 3 || d[2] != channels)
    throw ShapeError("apply: reads images of " + std::to_string(channels) +
                     " channels, {height,width,channels}, got " + to_string(d) + "\n  at " +
                     to_string(at));
}

}  // namespace

ImageNorm::ImageNorm(ParameterCollection& model, const Settings& settings) : settings_(settings) {
  const auto [channels, epsilon, gain] = settings;
  if (channels == 0) throw ArgumentError("ImageNorm: needs a channel");
  if (!(epsilon >= 0) || !std::isfinite(epsilon))
    throw ArgumentError("ImageNorm: epsilon must be finite and not below zero, got " +
                        std::to_string(epsilon));
  collection_ = model.add_subcollection("image-norm");
  gain_ = collection_.add_parameters({1, 1, channels}, ParameterInitConst(gain));
  bias_ = collection_.add_parameters({1, 1, channels}, ParameterInitConst(0.0f));
}

void ImageNorm::list_parts(Parts& parts) { parts.add(gain_, bias_); }

Expression ImageNorm::apply(const Expression& x, SourceLocation at) const {
  need_graph("apply", at);
  require_channels(x, settings_.channels, at);
  // Gain and bias are expanded to one image; the cost does not grow with the batch.
  const Expression ones = constant(*x.pg, x.dim(at).single_batch(), 1.0f, {}, at);
  const Expression gain = cmult(ones, gain_, at), bias = cmult(ones, bias_, at);
  return layer_norm(x, gain, bias, settings_.epsilon, at);
}

ResidualConvolution::ResidualConvolution(ParameterCollection& model, const Settings& settings)
    : settings_(settings) {
  const auto [channels, window, epsilon] = settings;
  if (channels == 0 || window == 0)
    throw ArgumentError("ResidualConvolution: needs channels and a window above zero, got " +
                        std::to_string(channels) + " and " + std::to_string(window));
  ParameterCollection empty;
  const ImageNorm refuses(empty, {channels, epsilon});  // throws before the model is changed
  collection_ = model.add_subcollection("residual-convolution");
  const float variance =
      2 / (static_cast<float>(window) * static_cast<float>(window) * static_cast<float>(channels));
  for (Weight& filter : filters_)
    filter = collection_.add_parameters({window, window, channels, channels},
                                        ParameterInitNormal(0, variance));
  norms_[0] = ImageNorm(collection_, {channels, epsilon});
  norms_[1] = ImageNorm(collection_, {channels, epsilon, 0.0f});
}

void ResidualConvolution::list_parts(Parts& parts) {
  parts.add(filters_[0], norms_[0], filters_[1], norms_[1]);
}

Expression ResidualConvolution::apply(const Expression& x, SourceLocation at) const {
  need_graph("apply", at);
  require_channels(x, settings_.channels, at);
  const auto convolved = [&](unsigned k, const Expression& image) {
    return norms_[k].apply(conv2d(image, filters_[k], {1, 1}, false, at), at);
  };
  const Expression inner = rectify(convolved(0, x), at);
  const Expression outer = convolved(1, nn_detail::dropped(inner, dropout_, at));
  return rectify(LocatedExpression(x, at) + outer, at);
}

void ResidualConvolution::set_dropout(float rate) { dropout_ = nn_detail::checked_rate(rate); }

}  // namespace dynet
