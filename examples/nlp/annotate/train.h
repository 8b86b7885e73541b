#pragma once

#include <boost/serialization/base_object.hpp>
#include <memory>
#include <ostream>
#include <string>

#include "examples/nlp/annotate/model.h"
#include "examples/nlp/annotate/pipeline.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/train_command.h"

namespace annotate {

struct TrainSettings : nlp::TrainSettings {
  Stage stage = Stage::kAll;  ///< that is trained
  float hide = 0.15f;         ///< least probability that the vector of a word is hidden

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& boost::serialization::base_object<nlp::TrainSettings>(*this) & stage& hide;
  }
  void check() const;  ///< see nlp::Checked
};

/// The command `train` with the model's description and the training settings.
struct TrainCommand : nlp::TrainCommand {
  TrainCommand();
  void add_options(CLI::App& app) override;
  void add_settings(nlp::Options& options) override;
  void run() override;

  Description description;
  TrainSettings settings;
  std::string vectors_file;
  nlp::WordVectors vectors;    ///< of that file; empty if there is none
  std::string from;            ///< path of a model whose other stages are kept
  std::shared_ptr<Model> old;  ///< that model
};

/// Trains a new model or resumes a run, see nlp::run_epochs. The LAS of the dev text selects the
/// best model.
void train(const TrainCommand& command, const nlp::Parts<Treebank>& data, std::ostream& out);

}  // namespace annotate
