#pragma once

#include <string>
#include <vector>

#include "dynet-like/io/dict.h"
#include "dynet-like/layers/transformer/linear.h"

// Words that a decoder may copy from what it reads (See, Liu, Manning 2017, "Get to the point:
// summarization with pointer-generator networks"; Gu et al. 2016). A word w has the probability
//
//     p(w) = g p_v(w) + (1 - g) sum of a_i over all i with source_i = w
//
// with p_v = softmax(scores) over the vocabulary, a = softmax(attention) over the positions of the
// source, and g = logistic(gate). Words of the source that the vocabulary does not have get the
// numbers behind it: the vocabulary of `words` words is extended for this source. p_v is zero for
// them, and the copied part for words that are not in the source; a word that is in neither has the
// log-probability minus infinity, and there all gradients are zero.
//
// Everything is in logarithms and without overflow, whatever the operands: gate {1}, scores
// {words}, attention {n}, which may be minus infinity where nothing is to be copied. Batch sizes
// are equal or one.

namespace dynet {

/// A source in numbers of a vocabulary extended by its own words.
struct ExtendedSource {
  std::vector<unsigned> numbers;    ///< of its words
  std::vector<std::string> others;  ///< word `words + k` of the vocabulary is others[k]
};

/// The words that the dictionary knows get its numbers; the others, in order of their first
/// appearance, those behind it. Throws ArgumentError unless the dictionary is frozen.
ExtendedSource extend_vocabulary(const Dict& words, const std::vector<std::string>& source,
                                 SourceLocation at = SourceLocation::current());

/// log p(target): {1}, of each batch element its own. `sources`: the numbers of one source for all
/// batch elements, or one for each of them; a source shorter than `attention` is padded: positions
/// behind it are not attended to. `targets` likewise, and several targets of one batch element give
/// a batch. Throws ArgumentError for other numbers of them and for a source that is empty or longer
/// than `attention`, ShapeError for other shapes.
Expression copy_log_prob(const Expression& gate, const Expression& scores,
                         const Expression& attention,
                         const std::vector<std::vector<unsigned>>& sources,
                         const std::vector<unsigned>& targets,
                         SourceLocation at = SourceLocation::current());

/// log p of all words of the vocabulary, and of `others` behind it: {words + others}, for one
/// source that all batch elements share, as the hypotheses of a beam do. Throws ArgumentError for a
/// source of another length than `attention`, and for numbers beyond `words + others`.
Expression copy_log_distribution(const Expression& gate, const Expression& scores,
                                 const Expression& attention, const std::vector<unsigned>& source,
                                 unsigned others, SourceLocation at = SourceLocation::current());

/// How much each position of a source was attended to so far (Tu et al. 2016; See et al. 2017):
///
///     c_t = a_1 + ... + a_{t-1},   loss_t = sum_i min(a_t,i, c_t,i)
///
/// A value: a copy goes its own way. The first step is at zero, where the loss is zero too.
class Coverage {
 public:
  /// Coverage of a source of `positions` positions. Throws ArgumentError for none.
  Coverage(ComputationGraph& cg, unsigned positions, SourceLocation at = SourceLocation::current());
  /// c_t {positions}, for attention to read.
  const Expression& vector() const { return sum_; }
  /// loss_t {1} of the weights a_t {positions}, or a batch of them, which are added. Throws
  /// ShapeError for another size.
  Expression add(const Expression& weights, SourceLocation at = SourceLocation::current());

 private:
  Expression sum_;
};

/// The gate of a pointer-generator network:
///
///     gate = w' x + b
///
/// where x {size} is what a decoder knows: its state, what attention gave, and its input, one under
/// another.
///
/// `new_graph` comes first; without it `apply` throws ArgumentError. After an error the layer is as
/// before.
class CopyGate {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned size = 0;  ///< of x

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& size;
    }
  };

  /// Throws ArgumentError for a size of zero.
  CopyGate(ParameterCollection& model, const Settings& settings);
  /// Without parameters, to be assigned to.
  CopyGate() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// gate {1}. Throws ShapeError for another size.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Collection of the parameters: w and b.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  ParameterCollection collection_;
  Settings settings_;
  Linear linear_;
};

}  // namespace dynet
