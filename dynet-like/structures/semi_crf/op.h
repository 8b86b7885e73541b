#pragma once

#include <span>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/semi_crf/attributes.h"

// Semi-Markov conditional random fields: distributions over the ways to cut T words into segments
// of at most L words and to give each one of K labels (Sarawagi, Cohen 2004). The score of segments
// with labels y_i and lengths l_i that end at the words e_i is
//
//     start[y_1] + sum_i scores[(l_i - 1) K + y_i, e_i] + sum_(i > 1) transitions[y_(i-1), y_i]
//                + stop[y_m]
//
// and its probability e^score / Z, where Z is the sum over all ways. Scores are {K*L,T}: rows of
// one length follow each other, and L is the number of rows by K; what would begin before the first
// word is not looked at. Transitions, from row to column, are {K,K}; start and stop {K}. Scores may
// have a batch size, of which each element is a sentence; the others have none. Minus infinity
// forbids. Sentences of different lengths run in one batch; of no words there is one way, with
// score 0. Where all is forbidden log Z is minus infinity, and marginals, entropy and gradients are
// zero.
//
// Time O(T K (K + L)); besides what it is given and what it returns an operation keeps 4 K T + T
// numbers, for marginals and entropy 8 K T + T, whatever L.
//
// Errors: ShapeError. See SemiCrf in structures/semi_crf/semi_crf.h for a layer with parameters of its own.

namespace dynet {

/// log Z: {1}. Its gradient is the probability of each use of a score.
Expression semi_crf_log_partition(const Expression& scores, const Expression& transitions,
                                  const Expression& start, const Expression& stop,
                                  SourceLocation at = SourceLocation::current());

/// The log-probability of segments whose lengths add up to T, those of each batch element one after
/// the other: {1}, never above zero, and minus infinity, with gradient zero, for what is forbidden.
/// Errors: IndexError for a label that is not below K; ArgumentError for a length that is not in
/// 1 ... L, and for other sums.
Expression semi_crf_log_prob(const Expression& scores, const Expression& transitions,
                             const Expression& start, const Expression& stop,
                             std::span<const Segment> segments,
                             SourceLocation at = SourceLocation::current());

/// The probability of each segment, at the place of its score: {K*L,T}. Those of the segments that
/// a word is in add up to one.
Expression semi_crf_marginals(const Expression& scores, const Expression& transitions,
                              const Expression& start, const Expression& stop,
                              SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over all ways, in nats: {1}.
Expression semi_crf_entropy(const Expression& scores, const Expression& transitions,
                            const Expression& start, const Expression& stop,
                            SourceLocation at = SourceLocation::current());

}  // namespace dynet
