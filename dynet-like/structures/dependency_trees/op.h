#pragma once

#include <span>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/structures/dependency_trees/attributes.h"

// Distributions over the dependency trees of a sentence: each of the words 1..n has a head, which
// is another word or the root 0, and from the root there is a way to every word. The score of a
// tree is the sum of those of its arcs, arcs[head, dependent], and its probability e^score / Z,
// where Z is the sum over all trees that the rules allow. The arcs are {n+1, n+1}, from row to
// column; column 0 and the diagonal are not read and get no gradient. They may have a batch size,
// of which each element is a sentence. Minus infinity forbids an arc. Sentences of different
// lengths run in one batch; of length zero there is one tree, without arcs and with score 0. Where
// all is forbidden log Z is minus infinity, and marginals, entropy and gradients are zero.
//
// Projective trees are summed up by the algorithm of Eisner (1996, 2000) in time O(n^3), inside and
// outside. The others by the matrix-tree theorem (Tutte 1984; Koo et al., McDonald and Satta, Smith
// and Smith 2007) in O(n^3), by an elimination that subtracts nothing (Grassmann, Taksar, Heyman
// 1985), so that scores of +-1e4 lose no digits to cancellation. With `single_root` a tree has one
// word at the root, which is a rule of its own for both kinds.
//
// Errors: ShapeError for arcs that are not {n+1, n+1}. See structures/dependency_trees/dependency_decoding.h for the best
// trees and for samples.

namespace dynet {

/// log Z: {1}. Its gradient is the probability of each arc.
Expression dependency_log_partition(const Expression& arcs, DependencyRules rules = {},
                                    SourceLocation at = SourceLocation::current());

/// The log-probability of the tree in which word i + 1 has the head heads[i], 0 for the root: {1},
/// never above zero, and minus infinity, with gradient zero, for heads that are no tree or that the
/// rules forbid. Heads are n, or n for each batch element one after the other. Errors:
/// ArgumentError for another number of them, IndexError for a head above n.
Expression dependency_log_prob(const Expression& arcs, std::span<const unsigned> heads,
                               DependencyRules rules = {},
                               SourceLocation at = SourceLocation::current());

/// The probability of each arc: {n+1, n+1}. Columns 1..n have the sum one, column 0 is zero.
Expression dependency_marginals(const Expression& arcs, DependencyRules rules = {},
                                SourceLocation at = SourceLocation::current());

/// The entropy of the distribution over trees, in nats: {1}, never below zero.
Expression dependency_entropy(const Expression& arcs, DependencyRules rules = {},
                              SourceLocation at = SourceLocation::current());

}  // namespace dynet
