#pragma once

#include <span>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/crf/attributes.h"

// Linear-chain conditional random fields: distributions over the sequences of T tags out of K. The
// score of a sequence y is
//
//     start[y_1] + sum_t emissions[y_t, t] + sum_(t > 1) transitions[y_(t-1), y_t] + stop[y_T]
//
// and its probability e^score / Z, where Z is the sum over all sequences (Lafferty, McCallum,
// Pereira 2001). Emissions are {K,T}; transitions, from row to column, {K,K}, or {K,K,T-1} for
// scores of each position; start and stop {K}. Emissions may have a batch size, of which each
// element is a sequence; the others have none. Minus infinity forbids. Sequences of different
// lengths run in one batch; a sequence of length zero is the only one, with score 0. Where all is
// forbidden log Z is minus infinity, and marginals, entropy and gradients are zero.
//
// Errors: ShapeError. See ChainCrf in structures/crf/chain_crf.h for a layer with parameters of its own.

namespace dynet {

/// log Z: {1}. Its gradient is the probability of each use of a score.
Expression crf_log_partition(const Expression& emissions, const Expression& transitions,
                             const Expression& start, const Expression& stop,
                             SourceLocation at = SourceLocation::current());

/// The log-probability of `tags`, which has T elements, or T for each batch element one after the
/// other: {1}, never above zero. The sum over all sequences that agree with the other tags where
/// one is kAnyTag. Minus infinity, with gradient zero, for what is forbidden. Errors: IndexError
/// for a tag that is not below K.
Expression crf_log_prob(const Expression& emissions, const Expression& transitions,
                        const Expression& start, const Expression& stop,
                        std::span<const unsigned> tags,
                        SourceLocation at = SourceLocation::current());

/// The probability of each tag at each position: {K,T}, columns with the sum one.
Expression crf_marginals(const Expression& emissions, const Expression& transitions,
                         const Expression& start, const Expression& stop,
                         SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over sequences, in nats: {1}.
Expression crf_entropy(const Expression& emissions, const Expression& transitions,
                       const Expression& start, const Expression& stop,
                       SourceLocation at = SourceLocation::current());

}  // namespace dynet
