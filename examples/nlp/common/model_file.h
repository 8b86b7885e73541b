#pragma once

#include <boost/serialization/array.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/split_member.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "dynet-like/dynet.h"
#include "dynet-like/io/save.h"
#include "examples/nlp/common/check.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/saved_kind.h"
#include "examples/nlp/common/training.h"
#include "tools/program/new_files.h"

// Files of a program with a `Model` that is constructed from its `Description` and a seed, and
// whose `kProgram` is the name of the program. A file starts with its kind, such as "tagger model
// 1", to detect files of other kinds. All functions throw dynet::FileError or UserError with the
// name of the file; saving is atomic.

namespace nlp {

/// State needed to resume a training run.
template <class M, class Settings>
struct Checkpoint {
  using Model = M;

  std::unique_ptr<Model> model;
  std::unique_ptr<dynet::Trainer> trainer;  ///< trainer of the model's parameters
  Settings settings;
  TrainState state;
};

/// A trainer before its first update.
inline std::unique_ptr<dynet::Trainer> make_trainer(const dynet::ParameterCollection& parameters,
                                                    const TrainSettings& settings) {
  std::unique_ptr<dynet::Trainer> trainer;
  if (settings.optimizer == Optimizer::kAdam) {
    trainer = std::make_unique<dynet::AdamTrainer>(parameters, settings.learning_rate);
  } else {
    trainer = std::make_unique<dynet::SimpleSGDTrainer>(parameters, settings.learning_rate);
  }
  trainer->clipping_enabled = settings.clip > 0;
  trainer->clip_threshold = settings.clip;
  return trainer;
}

/// Saves or loads the trainer as its own type.
template <typename Archive>
void serialize_trainer(Archive& archive, Optimizer optimizer, dynet::Trainer& trainer) {
  if (optimizer == Optimizer::kAdam) {
    archive& dynamic_cast<dynet::AdamTrainer&>(trainer);
  } else {
    archive& dynamic_cast<dynet::SimpleSGDTrainer&>(trainer);
  }
}

/// Contents of a model file. The description is read before the weights, because the model that
/// stores the weights is constructed from it.
template <class Model>
struct ModelWriter {
  const std::string kind;
  const Model& model;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive << kind << model.description() << model.parameters();
  }
};

template <class Model>
struct ModelReader {
  std::string path, kind;
  std::unique_ptr<Model> model;
  /// Modifies fields of the description that do not affect the shapes of weights.
  std::function<void(typename Model::Description&)> adapt = {};

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    read_kind(archive, path, kind.c_str());
    using Description = typename Model::Description;
    static_assert(Checked<Description>, "a Description needs a check() of its own, see Checked");
    read_checked(path, [&] {
      Description description;
      archive >> description;
      description.check();
      if (adapt) adapt(description);
      Start start(0);
      start.most_numbers = dynet::numbers_in_collections(archive);
      start.loads = true;
      model = std::make_unique<Model>(std::move(description), start);
    });
    archive >> model->parameters();
  }
};

/// Contents of a checkpoint: a model, and the settings, state and trainer of its training.
template <class Checkpoint>
struct CheckpointWriter {
  const std::string kind;
  const Checkpoint& checkpoint;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    ModelWriter<typename Checkpoint::Model>{kind, *checkpoint.model}.serialize(archive, version);
    archive << checkpoint.settings << checkpoint.state;
    serialize_trainer(archive, checkpoint.settings.optimizer, *checkpoint.trainer);
  }
};

template <class Checkpoint>
struct CheckpointReader {
  std::string path, kind;
  Checkpoint checkpoint;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    ModelReader<typename Checkpoint::Model> reader{path, kind, nullptr};
    reader.serialize(archive, version);
    checkpoint.model = std::move(reader.model);
    using Settings = decltype(checkpoint.settings);
    static_assert(Checked<Settings>, "the settings need a check() of their own, see Checked");
    read_checked(path, [&] {
      archive >> checkpoint.settings >> checkpoint.state;
      checkpoint.settings.check();
      checkpoint.state.check();
    });
    checkpoint.trainer = make_trainer(checkpoint.model->parameters(), checkpoint.settings);
    serialize_trainer(archive, checkpoint.settings.optimizer, *checkpoint.trainer);
  }
};

/// `about`: metadata of the file, see About.
template <class Model>
void save_model(const std::string& path, const Model& model, const std::string& about = "") {
  dynet::SaveOptions how = program::save_options();
  how.metadata = about;
  dynet::save(path, how, ModelWriter<Model>{model_kind(Model::kProgram), model});
}
/// Throws UserError with the name of the array for weights that are not finite, unless they are
/// allowed.
template <class Model>
std::unique_ptr<Model> load_model(
    const SavedModel& saved, const std::function<void(typename Model::Description&)>& adapt = {}) {
  ModelReader<Model> reader{saved.model, model_kind(Model::kProgram), nullptr, adapt};
  dynet::load(saved.model, dynet::LoadOptions{.map = saved.map}, reader);
  if (!saved.allow_not_finite) require_finite(saved.model, reader.model->parameters());
  reader.model->set_device(saved.device);
  return std::move(reader.model);
}
template <class Model>
std::unique_ptr<Model> load_model(
    const std::string& path, dynet::Device* device = &dynet::kCpu,
    const std::function<void(typename Model::Description&)>& adapt = {}) {
  return load_model<Model>({.model = path, .device = device}, adapt);
}
template <class Checkpoint>
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint,
                     const dynet::SaveOptions& how = program::save_options()) {
  dynet::save(
      path, how,
      CheckpointWriter<Checkpoint>{checkpoint_kind(Checkpoint::Model::kProgram), checkpoint});
}
template <class Checkpoint>
Checkpoint load_checkpoint(const std::string& path) {
  CheckpointReader<Checkpoint> reader{path, checkpoint_kind(Checkpoint::Model::kProgram), {}};
  dynet::load(path, reader);
  require_finite(path, reader.checkpoint.model->parameters());
  return std::move(reader.checkpoint);
}

}  // namespace nlp
