#pragma once

#include <span>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/ctc/attributes.h"

// Connectionist temporal classification (Graves, Fernandez, Gomez, Schmidhuber 2006): T frames are
// given S labels, S <= T, without saying which frame belongs to which label. An alignment gives
// each frame one of V symbols, of which one is the blank; without repeats, and then without blanks,
// it is the labels. Its score is sum_t log_probs[symbol_t, t].
//
// log_probs is {V,T}, in general the log_softmax of what a network says; it may have a batch size,
// of which each element is an utterance. `labels` are those of the only element, or as many for
// each element one after the other; or a list for each element. Utterances of different lengths,
// with any number of labels, run in one batch. Minus infinity forbids. Where no alignment is
// possible, as with fewer frames than labels and repeats among them, the loss is infinity, or zero
// if the settings say so, and alignment, entropy and gradients are zero.
//
// The sum over the alignments of all labels is the product of the frames' sums, one if columns are
// probabilities; so there is no log-partition, and -ctc_loss is the log-probability.
//
// Errors: ShapeError for more than a matrix; IndexError for a blank or a label that is not below V;
// ArgumentError for a blank among the labels, and for labels of another number of elements. See
// structures/ctc/ctc_decoding.h for finding labels.

namespace dynet {

/// Minus the log of the sum of e^score over the alignments of `labels`: {1}, never negative where
/// columns are probabilities, but for rounding. Its gradient is minus the probability of each
/// symbol at each frame, the labels given: with log_softmax before it that is what
/// torch.nn.functional's ctc_loss gives.
Expression ctc_loss(const Expression& log_probs, std::span<const unsigned> labels,
                    const CtcSettings& settings = {},
                    SourceLocation at = SourceLocation::current());
Expression ctc_loss(const Expression& log_probs, std::span<const std::vector<unsigned>> labels,
                    const CtcSettings& settings = {},
                    SourceLocation at = SourceLocation::current());

/// The probability of each symbol at each frame, `labels` given: {V,T}, columns with the sum one.
Expression ctc_alignment(const Expression& log_probs, std::span<const unsigned> labels,
                         const CtcSettings& settings = {},
                         SourceLocation at = SourceLocation::current());
Expression ctc_alignment(const Expression& log_probs, std::span<const std::vector<unsigned>> labels,
                         const CtcSettings& settings = {},
                         SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over the alignments of `labels`, in nats: {1}. Added to what is
/// to be large it keeps alignments from collapsing to a few peaks (Liu, Jin, Zhang 2018).
Expression ctc_entropy(const Expression& log_probs, std::span<const unsigned> labels,
                       const CtcSettings& settings = {},
                       SourceLocation at = SourceLocation::current());
Expression ctc_entropy(const Expression& log_probs, std::span<const std::vector<unsigned>> labels,
                       const CtcSettings& settings = {},
                       SourceLocation at = SourceLocation::current());

}  // namespace dynet
