#include "dynet-like/structures/ctc/ctc_decoding.h"
#include "tests/ops/cases.h"
#include "tests/ops/naive_structures.h"

namespace dynet::test {
namespace {

using Labels = std::vector<std::vector<unsigned>>;

unsigned blank_of(const Dim& d, unsigned variant) { return variant % d.rows(); }

/// Labels for each batch element: with repeats, and as many as fit, or now and then more.
Labels some_labels(const Dim& d, unsigned variant, bool too_many) {
  Labels all(d.bd);
  const unsigned blank = blank_of(d, variant);
  for (unsigned e = 0; e < d.bd && d.rows() > 1; ++e) {
    const unsigned wanted = (variant * 5 + e * 3) % (d.cols() + (too_many ? 3 : 1));
    for (unsigned k = 0, frames = 0; k < wanted; ++k) {
      unsigned y = (k / 2 + variant + e) % (d.rows() - 1);
      y += y >= blank;
      frames += !all[e].empty() && all[e].back() == y ? 2 : 1;
      if (too_many || frames <= d.cols()) all[e].push_back(y);
      if (frames > d.cols() && !too_many) break;
    }
  }
  return all;
}

/// All alignments of these labels.
Lister alignments_of(bool too_many) {
  return [=](const Arrays& x, unsigned e) {
    const Dim& d = x[0].dim;
    const unsigned blank = blank_of(d, x.variant);
    const std::vector<unsigned> labels = some_labels(d, x.variant, too_many)[e];
    Listed all(d.batch_size());
    for (const std::vector<Segment>& frames : all_ways(d.rows(), 1, d.cols())) {
      const std::vector<unsigned> symbols = labels_of(frames);
      if (ctc_collapse(symbols, blank) != labels) continue;
      double score = 0;
      std::vector<std::size_t> places;
      for (unsigned t = 0; t < d.cols(); ++t) {
        score += x[0].at(symbols[t], t, e);
        places.push_back(std::size_t{t} * d.rows() + symbols[t]);
      }
      all.add(score, places);
    }
    all.end();
    return all;
  };
}

OpCase utterances(
    const std::string& name, bool too_many,
    const std::function<Expression(const Expression&, const Labels&, const CtcSettings&)>& build,
    const Reference& reference, bool zero_infinity = false) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    return std::vector{Dim({std::min(s.positive(), 40u), std::min(s.size(), 70u)}, s.full_batch())};
  };
  c.build = [=](const Operand& x) {
    const Dim d = x[0].dim();
    return build(x[0], some_labels(d, x.variant, too_many),
                 {.blank = blank_of(d, x.variant), .zero_infinity = zero_infinity});
  };
  c.reference = reference;
  c.float_tolerance = 1e-4;
  c.draws = 100;
  c.extremes = {-1e4, 1e4, 0, -kInfinity};
  c.bad = bad_shapes("{2,3,2}");
  return c;
}

}  // namespace

std::vector<OpCase> ctc_cases() {
  const auto loss = [](const auto&... x) { return ctc_loss(x...); };
  const auto alignment = [](const auto&... x) { return ctc_alignment(x...); };
  const auto entropy = [](const auto&... x) { return ctc_entropy(x...); };
  const auto losses = [](bool too_many, bool zero_infinity) {
    return of_elements([=](const Arrays& x, unsigned e) {
      const double log_z = alignments_of(too_many)(x, e).log_z();
      return zero_infinity && log_z == -kInfinity ? 0 : -log_z;
    });
  };
  return {utterances("ctc_loss", false, loss, losses(false, false)),
          utterances("ctc_loss, zero for infinity", true, loss, losses(true, true), true),
          utterances("ctc_alignment", true, alignment, marginals(alignments_of(true))),
          utterances("ctc_entropy", true, entropy, entropies(alignments_of(true)))};
}

DYNET_OP_TESTS("ctc", ctc_cases())

}  // namespace dynet::test
