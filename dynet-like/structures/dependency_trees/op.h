#pragma once

#include <span>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/dependency_trees/attributes.h"

// Distributions over the dependency trees of a sentence: each of the words 1..n has a head, which
// is another word or the root 0, and every word is reachable from the root. The score of a tree is
// the sum of the scores arcs[head, dependent] of its arcs, and its probability is e^score / Z,
// where Z is the sum of e^score over all trees that the rules allow. `arcs` is {n+1, n+1}, from row
// to column; column 0 and the diagonal are not read and get no gradient. `arcs` may have a batch
// size, with one sentence per batch element. A score of minus infinity forbids its arc. Sentences
// of different lengths run in one batch; for n = 0 there is one tree, without arcs and with score
// 0. If all trees are forbidden, log Z is minus infinity, and marginals, entropy and gradients are
// zero.
//
// Projective trees are summed by the algorithm of Eisner (1996, 2000), inside and outside, in time
// O(n^3). Non-projective trees are summed by the matrix-tree theorem (Tutte 1984; Koo et al.,
// McDonald and Satta, Smith and Smith 2007) in O(n^3), with an elimination without subtractions
// (Grassmann, Taksar, Heyman 1985), so that scores of +-1e4 lose no digits to cancellation. With
// `single_root`, exactly one word has the root as its head; both algorithms have a variant for it.
//
// Errors: ShapeError for arcs that are not {n+1, n+1}.
// structures/dependency_trees/dependency_decoding.h has the best trees and samples.

namespace dynet {

/// log Z: {1}. Its gradient is the probability of each arc.
Expression dependency_log_partition(const Expression& arcs, DependencyRules rules = {},
                                    SourceLocation at = SourceLocation::current());

/// The log-probability of the tree in which word i + 1 has the head heads[i], 0 for the root: {1},
/// never above zero; minus infinity, with gradient zero, for heads that are no tree or that the
/// rules forbid. `heads` has n elements for each batch element, one batch element after the other.
/// Errors: ArgumentError for another number of heads, IndexError for a head above n.
Expression dependency_log_prob(const Expression& arcs, std::span<const unsigned> heads,
                               DependencyRules rules = {},
                               SourceLocation at = SourceLocation::current());

/// The probability of each arc: {n+1, n+1}. Columns 1..n sum to one, column 0 is zero.
Expression dependency_marginals(const Expression& arcs, DependencyRules rules = {},
                                SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over trees, in nats: {1}, never below zero.
Expression dependency_entropy(const Expression& arcs, DependencyRules rules = {},
                              SourceLocation at = SourceLocation::current());

}  // namespace dynet
