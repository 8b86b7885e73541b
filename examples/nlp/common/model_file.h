#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/saved_kind.h"
#include "examples/nlp/common/training.h"
#include "tools/program/new_files.h"

// The files of a program with a `Model` that is made from a `Description` and a seed. What a file
// holds, say "tagger model 1", stands first in it, so that one is not taken for another. All
// functions throw dynet::FileError or UserError, with the name of the file; saving replaces it at
// once or leaves it as it was.

namespace nlp {

/// Everything a training run needs to go on.
template <class Model, class TrainSettings, class Trainer = dynet::AdamTrainer>
struct Checkpoint {
  std::unique_ptr<Model> model;
  std::unique_ptr<Trainer> trainer;  ///< of the model's parameters
  TrainSettings settings;
  TrainState state;
};

/// A trainer before its first update.
template <class Trainer, class TrainSettings>
std::unique_ptr<Trainer> make_trainer(const dynet::ParameterCollection& parameters,
                                      const TrainSettings& settings) {
  auto trainer = std::make_unique<Trainer>(parameters, settings.learning_rate);
  trainer->clipping_enabled = settings.clip > 0;
  trainer->clip_threshold = settings.clip;
  return trainer;
}

/// What a run begins with: what its checkpoint holds, which `load` reads and which must have begun
/// as `wanted` says, by `begun(checkpoint)`; or, if it is new, the model and the trainer that
/// `make` puts into it. Either computes on the device that the run names.
template <class Checkpoint, class Request, class Load, class Begun, class Make>
Checkpoint begin_run(const Request& request, std::uint64_t data_mark, const OptionValues& wanted,
                     Load load, Begun begun, Make make) {
  Checkpoint now;
  if (request.resume) {
    now = load(request.checkpoint());
    require_same(request, begun(now), wanted);
    require_same_data(request, now.state.data_mark, data_mark);
  } else {
    now.settings = request.settings;
    now.state.data_mark = data_mark;
    make(now);
  }
  now.model->set_device(request.device);
  return now;
}

/// The weights have their place only once the description is read, so a file is read as one thing
/// that builds the model on the way.
template <class Model>
struct ModelWriter {
  const std::string kind;
  const Model& model;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive << kind << model.description() << model.parameters();
  }
};

template <class Model, class Description>
struct ModelReader {
  std::string path, kind;
  std::unique_ptr<Model> model;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    read_kind(archive, path, kind.c_str());
    Description description;
    archive >> description;
    model = std::make_unique<Model>(std::move(description), 0);
    archive >> model->parameters();
  }
};

template <class Checkpoint>
struct CheckpointWriter {
  const std::string kind;
  const Checkpoint& checkpoint;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    ModelWriter<std::remove_reference_t<decltype(*checkpoint.model)>>{kind, *checkpoint.model}
        .serialize(archive, version);
    archive << checkpoint.settings << checkpoint.state << *checkpoint.trainer;
  }
};

template <class Checkpoint, class Description>
struct CheckpointReader {
  std::string path, kind;
  Checkpoint checkpoint;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    ModelReader<std::remove_reference_t<decltype(*checkpoint.model)>, Description> reader{
        path, kind, nullptr};
    reader.serialize(archive, version);
    checkpoint.model = std::move(reader.model);
    checkpoint.trainer = std::make_unique<dynet::AdamTrainer>(checkpoint.model->parameters());
    archive >> checkpoint.settings >> checkpoint.state >> *checkpoint.trainer;
  }
};

template <class Model>
void save_model_file(const std::string& path, const std::string& program, const Model& model) {
  dynet::save(path, program::save_options(), ModelWriter<Model>{model_kind(program), model});
}
template <class Model, class Description>
std::unique_ptr<Model> load_model_file(const std::string& path, const std::string& program,
                                       dynet::Device* device) {
  ModelReader<Model, Description> reader{path, model_kind(program), nullptr};
  dynet::load(path, reader);
  reader.model->set_device(device);
  return std::move(reader.model);
}
template <class Checkpoint>
void save_checkpoint_file(const std::string& path, const std::string& program,
                          const Checkpoint& checkpoint, const dynet::SaveOptions& how) {
  dynet::save(path, how, CheckpointWriter<Checkpoint>{checkpoint_kind(program), checkpoint});
}
template <class Checkpoint, class Description>
Checkpoint load_checkpoint_file(const std::string& path, const std::string& program) {
  CheckpointReader<Checkpoint, Description> reader{path, checkpoint_kind(program), {}};
  dynet::load(path, reader);
  return std::move(reader.checkpoint);
}

}  // namespace nlp
