#pragma once

#include <span>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/ctc/attributes.h"

// Connectionist temporal classification (Graves, Fernandez, Gomez, Schmidhuber 2006): S labels are
// aligned with T frames, S <= T, by summing over all alignments. An alignment assigns one of V
// symbols, one of which is the blank, to each frame; its labels are the symbols after removing
// first repeats, then blanks. Its score is sum_t log_probs[symbol_t, t].
//
// log_probs is {V,T}, usually the log_softmax of a network's output; it may have a batch size, with
// one utterance per batch element. `labels` are either a span, with the labels of all batch
// elements one after the other and equally many for each, or a list for each batch element.
// Utterances of different lengths, with any number of labels, run in one batch. A log-probability
// of minus infinity forbids its symbol. If no alignment is possible, for example with fewer frames
// than labels and repeats among them, the loss is infinity, or zero with `zero_infinity`;
// alignment, entropy and gradients are zero.
//
// The sum over the alignments of all labels is the product of the frames' sums, which is one if
// columns are probabilities; so there is no log-partition, and -ctc_loss is the log-probability.
//
// Errors: ShapeError for more than two dimensions; IndexError for a blank or a label that is not
// below V; ArgumentError for a blank among the labels, and for labels that do not fit the batch
// size. structures/ctc/ctc_decoding.h has decoders.

namespace dynet {

/// Minus the log of the sum of e^score over the alignments of `labels`: {1}; not negative, up to
/// rounding, if columns are probabilities. Its gradient is minus the probability of each symbol at
/// each frame, given the labels; after log_softmax this equals the gradient of
/// torch.nn.functional.ctc_loss.
Expression ctc_loss(const Expression& log_probs, std::span<const unsigned> labels,
                    const CtcSettings& settings = {},
                    SourceLocation at = SourceLocation::current());
Expression ctc_loss(const Expression& log_probs, std::span<const std::vector<unsigned>> labels,
                    const CtcSettings& settings = {},
                    SourceLocation at = SourceLocation::current());

/// The probability of each symbol at each frame, given `labels`: {V,T}; each column sums to one.
Expression ctc_alignment(const Expression& log_probs, std::span<const unsigned> labels,
                         const CtcSettings& settings = {},
                         SourceLocation at = SourceLocation::current());
Expression ctc_alignment(const Expression& log_probs, std::span<const std::vector<unsigned>> labels,
                         const CtcSettings& settings = {},
                         SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over the alignments of `labels`, in nats: {1}. As a bonus in the
/// objective it keeps alignments from collapsing to a few peaks (Liu, Jin, Zhang 2018).
Expression ctc_entropy(const Expression& log_probs, std::span<const unsigned> labels,
                       const CtcSettings& settings = {},
                       SourceLocation at = SourceLocation::current());
Expression ctc_entropy(const Expression& log_probs, std::span<const std::vector<unsigned>> labels,
                       const CtcSettings& settings = {},
                       SourceLocation at = SourceLocation::current());

}  // namespace dynet
