#pragma once

#include <string>
#include <vector>

#include "dynet-like/layers/transformer/linear.h"

// Copy mechanism: a decoder copies words of its source (See, Liu, Manning 2017, "Get to the point:
// summarization with pointer-generator networks"; Gu et al. 2016). A word w has the probability
//
//     p(w) = g p_v(w) + (1 - g) sum of a_i over all i with source_i = w
//
// with p_v = softmax(scores) over the vocabulary, a = softmax(attention) over the positions of the
// source, and g = logistic(gate). Source words outside the vocabulary get the numbers after it: the
// vocabulary of `words` words is extended for this source. p_v is zero for words outside the
// vocabulary, the copied part is zero for words outside the source; a word outside of both has the
// log-probability minus infinity, with zero gradients.
//
// All computations are in logarithms, without overflow for any operands: gate {1}, scores {words},
// attention {n}, which is minus infinity at positions that must not be copied. Batch sizes are
// equal or one.

namespace dynet {

class Dict;

/// Numbers of a source's words in a vocabulary extended by the source.
struct ExtendedSource {
  std::vector<unsigned> numbers;    ///< one for each word
  std::vector<std::string> others;  ///< words outside the vocabulary; others[k] is word `words + k`
};

/// Numbers the words of a source: words of the dictionary get their index; all other words get the
/// numbers after it, by their first occurrence. Throws ArgumentError unless the dictionary is
/// frozen.
ExtendedSource extend_vocabulary(const Dict& words, const std::vector<std::string>& source,
                                 SourceLocation at = SourceLocation::current());

/// log p(target) for each batch element: {1}. `sources` has the numbers of one source for all batch
/// elements, or of one source for each; positions after the end of a source that is shorter than
/// `attention` are masked. `targets` has one target or one for each batch element; several targets
/// of a single batch element give a batch. Throws ArgumentError for other numbers of sources or
/// targets and for a source that is empty or longer than `attention`, ShapeError for other shapes.
Expression copy_log_prob(const Expression& gate, const Expression& scores,
                         const Expression& attention,
                         const std::vector<std::vector<unsigned>>& sources,
                         const std::vector<unsigned>& targets,
                         SourceLocation at = SourceLocation::current());

/// log p of all words of the vocabulary and of the `others` words after it: {words + others}, for
/// one source that all batch elements share, for example the hypotheses of a beam. Throws
/// ArgumentError if the length of the source differs from that of `attention`, and for numbers that
/// are not below `words + others`.
Expression copy_log_distribution(const Expression& gate, const Expression& scores,
                                 const Expression& attention, const std::vector<unsigned>& source,
                                 unsigned others, SourceLocation at = SourceLocation::current());

/// Coverage: the sum of attention to each position so far (Tu et al. 2016; See et al. 2017),
///
///     c_t = a_1 + ... + a_{t-1},   loss_t = sum_i min(a_t,i, c_t,i)
///
/// A value type: copies are independent. In the first step c and the loss are zero.
class Coverage {
 public:
  /// Coverage of a source with `positions` positions. Throws ArgumentError for zero positions.
  Coverage(ComputationGraph& cg, unsigned positions, SourceLocation at = SourceLocation::current());
  /// c_t {positions}, an input of attention.
  const Expression& vector() const { return sum_; }
  /// loss_t {1} for the weights a_t {positions}, or a batch of weights; then adds them to c. Throws
  /// ShapeError for another size.
  Expression add(const Expression& weights, SourceLocation at = SourceLocation::current());

 private:
  Expression sum_;
};

/// The gate of a pointer-generator network:
///
///     gate = w' x + b
///
/// where x {size} is the concatenation of the decoder's state, the attention's output, and the
/// decoder's input.
///
/// Parameters: w and b.
class CopyGate : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned size = 0;  ///< of x

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& size;
    }
  };

  /// Throws ArgumentError for a size of zero.
  CopyGate(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  CopyGate() = default;

  /// gate {1}. Throws ShapeError for another size.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  Settings settings_;
  Linear linear_;
};

}  // namespace dynet
