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
// and its probability is e^score / Z, where Z is the sum of e^score over all sequences (Lafferty,
// McCallum, Pereira 2001). Emissions are {K,T}; transitions, from row to column, {K,K}, or
// {K,K,T-1} with scores for each position; start and stop {K}. Emissions may have a batch size,
// with one sequence per batch element; the other operands have none. A score of minus infinity
// forbids its tag or transition. Sequences of different lengths run in one batch; for T = 0 the
// empty sequence is the only one, with score 0. If all sequences are forbidden, log Z is minus
// infinity, and marginals, entropy and gradients are zero.
//
// Errors: ShapeError. ChainCrf in structures/crf/chain_crf.h is a layer with its own parameters.

namespace dynet {

/// log Z: {1}. Its gradient is the expected number of uses of each score.
Expression crf_log_partition(const Expression& emissions, const Expression& transitions,
                             const Expression& start, const Expression& stop,
                             SourceLocation at = SourceLocation::current());

/// The log-probability of `tags`: {1}, never above zero. `tags` has T elements for each batch
/// element, one batch element after the other. With kAnyTag for some tags, the value is that of all
/// sequences that agree with the known tags. Forbidden sequences give minus infinity, with gradient
/// zero. Errors: IndexError for a tag that is not below K.
Expression crf_log_prob(const Expression& emissions, const Expression& transitions,
                        const Expression& start, const Expression& stop,
                        std::span<const unsigned> tags,
                        SourceLocation at = SourceLocation::current());

/// The probability of each tag at each position: {K,T}; each column sums to one.
Expression crf_marginals(const Expression& emissions, const Expression& transitions,
                         const Expression& start, const Expression& stop,
                         SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over sequences, in nats: {1}.
Expression crf_entropy(const Expression& emissions, const Expression& transitions,
                       const Expression& start, const Expression& stop,
                       SourceLocation at = SourceLocation::current());

}  // namespace dynet
