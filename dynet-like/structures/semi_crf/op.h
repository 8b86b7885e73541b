#pragma once

#include <span>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/semi_crf/attributes.h"

// Semi-Markov conditional random fields: distributions over the segmentations of T words into
// segments of at most L words with one of K labels each (Sarawagi, Cohen 2004). The score of
// segments with labels y_i and lengths l_i that end at the words e_i is
//
//     start[y_1] + sum_i scores[(l_i - 1) K + y_i, e_i] + sum_(i > 1) transitions[y_(i-1), y_i]
//                + stop[y_m]
//
// and its probability is e^score / Z, where Z is the sum of e^score over all segmentations. Scores
// are {K*L,T}: the K rows of one length are consecutive, and L is the number of rows divided by K;
// scores of segments that would begin before the first word are not read. Transitions, from row to
// column, are {K,K}; start and stop {K}. Scores may have a batch size, with one sentence per batch
// element; the other operands have none. A score of minus infinity forbids its segment or
// transition. Sentences of different lengths run in one batch; for T = 0 there is one segmentation,
// with score 0. If all segmentations are forbidden, log Z is minus infinity, and marginals, entropy
// and gradients are zero.
//
// Time O(T K (K + L)). In addition to its operands and its result an operation stores 4 K T + T
// numbers, or 8 K T + T for marginals and entropy, independent of L.
//
// Errors: ShapeError. SemiCrf in structures/semi_crf/semi_crf.h is a layer with its own parameters.

namespace dynet {

/// log Z: {1}. Its gradient is the expected number of uses of each score.
Expression semi_crf_log_partition(const Expression& scores, const Expression& transitions,
                                  const Expression& start, const Expression& stop,
                                  SourceLocation at = SourceLocation::current());

/// The log-probability of segments whose lengths add up to T, one batch element after the other:
/// {1}, never above zero; minus infinity, with gradient zero, for forbidden segments. Errors:
/// IndexError for a label that is not below K; ArgumentError for a length that is not in 1 ... L,
/// and for lengths that do not add up to T.
Expression semi_crf_log_prob(const Expression& scores, const Expression& transitions,
                             const Expression& start, const Expression& stop,
                             std::span<const Segment> segments,
                             SourceLocation at = SourceLocation::current());

/// The probability of each segment, in the layout of the scores: {K*L,T}. The probabilities of all
/// segments that contain a word sum to one.
Expression semi_crf_marginals(const Expression& scores, const Expression& transitions,
                              const Expression& start, const Expression& stop,
                              SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over segmentations, in nats: {1}.
Expression semi_crf_entropy(const Expression& scores, const Expression& transitions,
                            const Expression& start, const Expression& stop,
                            SourceLocation at = SourceLocation::current());

}  // namespace dynet
