#pragma once

#include <boost/serialization/version.hpp>
#include <ostream>

#include "examples/nlp/common/names.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"
#include "examples/nlp/treelstm/model.h"

namespace treelstm {

/// Nodes whose accuracy on the dev trees selects the best epoch: roots, or all nodes.
enum class Select { kRoot, kNodes };
inline const nlp::Names<Select> kSelects = {{Select::kRoot, "root"}, {Select::kNodes, "nodes"}};

/// Training settings, which must be equal in a resumed run.
struct TrainSettings : nlp::TrainSettings {
  float weight_decay = 1e-5f;  ///< see Model::set_weight_decay
  Select select = Select::kRoot;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& batch& learning_rate& decay& clip& weight_decay& unknown& seed;
    if (version > 0) archive& select& parts;
  }
  void check() const;  ///< see nlp::Checked
};

/// The command `train` with the model's description and the training settings.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand();
  void add_settings(nlp::Options& options) override;
  void run() override;

  Description description;  ///< the labels are those of --labels
  TrainSettings settings;
};

/// Trains a new model or resumes a run, see nlp::run_epochs. The description of the command
/// has the labels of the data.
void train(const TrainCommand& command, const nlp::Parts<Treebank>& data, std::ostream& out);

}  // namespace treelstm

BOOST_CLASS_VERSION(treelstm::TrainSettings, 1)
