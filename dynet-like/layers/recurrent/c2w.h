#pragma once

#include <vector>

#include "dynet-like/layers/recurrent/lstm.h"

namespace dynet {

/// A word vector from characters (Ling et al. 2015): two LSTMs read the character embeddings, one
/// forward and one backward; the word vector is the concatenation of their last outputs.
class C2WBuilder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    /// Arguments as in the constructor.
    unsigned vocab_size = 0, layers = 1, input_dim = 0, hidden_dim = 0;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& vocab_size& layers& input_dim& hidden_dim;
    }
  };

  /// `vocab_size` characters with embeddings {input_dim}; word vectors are {hidden_dim}, one half
  /// from each LSTM. Throws ArgumentError unless `hidden_dim` is even and `layers` is above zero.
  C2WBuilder(unsigned vocab_size, unsigned layers, unsigned input_dim, unsigned hidden_dim,
             ParameterCollection& model)
      : C2WBuilder(model, {vocab_size, layers, input_dim, hidden_dim}) {}
  C2WBuilder(ParameterCollection& model, const Settings& s);
  Settings settings() const { return settings_; }

  /// Adds the parameters to the graph; without `update` they get no gradient. After an exception
  /// there is no graph until the next call.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// The vector of a word with these characters. Throws ArgumentError for no characters, IndexError
  /// for a character that is not below `vocab_size`.
  Expression compose(const std::vector<unsigned>& characters,
                     SourceLocation at = SourceLocation::current());
  /// Dropout of both LSTMs, see RNNBuilder; each word has its own masks.
  void set_dropout(float d) { set_dropout(d, d); }
  void set_dropout(float d, float d_h);
  void disable_dropout() { set_dropout(0, 0); }
  ParameterCollection get_parameter_collection() const { return collection_; }

 private:
  Settings settings_;
  ParameterCollection collection_;

 public:
  LookupParameter p_lookup;  ///< embeddings of the characters
  /// Forward LSTM, backward LSTM.
  LSTMBuilder fc2w_rnn, rc2w_rnn;

 private:
  Expression in_graph_;  // any node
  bool update_ = true;
};

}  // namespace dynet
