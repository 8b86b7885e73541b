#pragma once

#include <vector>

#include "dynet-like/layers/recurrent/lstm.h"

namespace dynet {

/// A word from its characters (Ling et al. 2015): two LSTMs read their embeddings, one from the
/// first to the last and one backwards; their last outputs, concatenated, stand for the word.
class C2WBuilder {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    /// As in the constructor.
    unsigned vocab_size = 0, layers = 1, input_dim = 0, hidden_dim = 0;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& vocab_size& layers& input_dim& hidden_dim;
    }
  };

  /// `vocab_size` characters with embeddings {input_dim}; words are {hidden_dim}, half of each
  /// LSTM. Throws ArgumentError unless that is even and there is a layer.
  C2WBuilder(unsigned vocab_size, unsigned layers, unsigned input_dim, unsigned hidden_dim,
             ParameterCollection& model)
      : C2WBuilder(model, {vocab_size, layers, input_dim, hidden_dim}) {}
  C2WBuilder(ParameterCollection& model, const Settings& s);
  Settings settings() const { return settings_; }

  /// Puts the parameters into the graph; without `update` they get no gradient. After an error
  /// there is no graph until the next call.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// The word of these characters. Throws ArgumentError for none, IndexError for one that is not
  /// below `vocab_size`.
  Expression compose(const std::vector<unsigned>& characters,
                     SourceLocation at = SourceLocation::current());
  /// Dropout of both LSTMs, see RNNBuilder; one mask for each word.
  void set_dropout(float d) { set_dropout(d, d); }
  void set_dropout(float d, float d_h);
  void disable_dropout() { set_dropout(0, 0); }
  ParameterCollection get_parameter_collection() const { return collection_; }

 private:
  Settings settings_;
  ParameterCollection collection_;

 public:
  LookupParameter p_lookup;  ///< of the characters
  /// Forward, backward.
  LSTMBuilder fc2w_rnn, rc2w_rnn;

 private:
  Expression in_graph_;  // any node
  bool update_ = true;
};

}  // namespace dynet
