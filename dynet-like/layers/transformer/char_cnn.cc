#include "dynet-like/layers/transformer/char_cnn.h"

#include <algorithm>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/ops/selection.h"

namespace dynet {
namespace {

constexpr float kGateBias = -2.0f;

void check(const CharCnn::Settings& s) {
  if (s.characters == 0 || s.character_size == 0 || s.filters == 0)
    throw ArgumentError("CharCnn: needs characters, vectors and filters above zero, got " +
                        std::to_string(s.characters) + ", " + std::to_string(s.character_size) +
                        " and " + std::to_string(s.filters));
  if (s.widths.empty() || std::count(s.widths.begin(), s.widths.end(), 0u) > 0)
    throw ArgumentError("CharCnn: needs widths of filters, all above zero");
}

}  // namespace

CharCnn::CharCnn(ParameterCollection& model, const Settings& settings) : settings_(settings) {
  check(settings);
  const unsigned filters = settings.filters, size = settings.output();
  collection_ = model.add_subcollection("char-cnn");
  table_ = collection_.add_lookup_parameters(settings.characters, {settings.character_size});
  for (const unsigned width : settings.widths) {
    Filters& f = filters_.emplace_back();
    for (unsigned k = 0; k < width; ++k)
      f.matrices.push_back(collection_.add_parameters({filters, settings.character_size}));
    f.bias = collection_.add_parameters({filters}, ParameterInitConst(0.0f));
  }
  for (unsigned l = 0; l < settings.highways; ++l) {
    Highway& h = highways_.emplace_back();
    h.change = Linear(collection_, {size, size});
    h.gate = Linear(collection_, {size, size});
    h.gate.get_parameter_collection().parameters_list().back().set_value(
        std::vector<float>(size, kGateBias));
  }
}

void CharCnn::list_parts(Parts& parts) {
  for (Filters& f : filters_) {
    parts.add(f.bias);
    for (Weight& matrix : f.matrices) parts.add(matrix);
  }
  for (Highway& h : highways_) parts.add(h.change, h.gate);
}

// All windows of a word are one batch, with one product for each position in the window.
Expression CharCnn::convolve(const Filters& filters, const std::vector<unsigned>& word,
                             SourceLocation at) const {
  const std::size_t width = filters.matrices.size(), length = word.size();
  const std::size_t windows = length < width ? 1 : length - width + 1;
  std::vector<Expression> terms = {filters.bias};
  for (std::size_t k = 0; k < std::min(width, length); ++k) {
    const IndexArgument characters(word.begin() + static_cast<std::ptrdiff_t>(k),
                                   word.begin() + static_cast<std::ptrdiff_t>(k + windows));
    terms.push_back(filters.matrices[k]);
    terms.push_back(update() ? lookup(graph(), table_, characters, at)
                             : const_lookup(graph(), table_, characters, at));
  }
  const Expression all = affine_transform(terms, at);
  if (windows == 1) return all;
  const Dim columns({settings_.filters, static_cast<unsigned>(windows)});
  return max_dim(reshape(all, columns, at), 1, at);
}

Expression CharCnn::apply(const std::vector<unsigned>& word, SourceLocation at) const {
  need_graph("apply", at);
  if (word.empty()) nn_detail::fail("apply", "a word needs a character", at);
  std::vector<Expression> parts;
  for (const Filters& filters : filters_) parts.push_back(convolve(filters, word, at));
  Expression y = tanh(parts.size() == 1 ? parts[0] : concatenate(parts, 0, at), at);
  for (const Highway& h : highways_) {
    const Expression change = rectify(h.change.apply(y, at), at);
    const Expression gate = logistic(h.gate.apply(y, at), at);
    y = sum({y, cmult(gate, LocatedExpression(change, at) - y, at)}, at);
  }
  return nn_detail::dropped(y, dropout_, at);
}

void CharCnn::set_dropout(float rate) { dropout_ = nn_detail::checked_rate(rate); }

}  // namespace dynet
