#include "model_file.h"

#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <utility>

#include "examples/nlp/common/model_file.h"

namespace rnnlm {
namespace {

/// Calls action(trainer) with the trainer's own type.
template <typename Action>
void with_type(Optimizer optimizer, dynet::Trainer& trainer, Action action) {
  if (optimizer == Optimizer::kAdam) {
    action(dynamic_cast<dynet::AdamTrainer&>(trainer));
  } else {
    action(dynamic_cast<dynet::SimpleSGDTrainer&>(trainer));
  }
}

struct CheckpointWriter {
  const Checkpoint& checkpoint;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    nlp::ModelWriter<Model>{nlp::checkpoint_kind(kProgram), *checkpoint.model}.serialize(archive,
                                                                                         version);
    archive << checkpoint.settings << checkpoint.state;
    with_type(checkpoint.settings.optimizer, *checkpoint.trainer,
              [&](const auto& trainer) { archive << trainer; });
  }
};

struct CheckpointReader {
  std::string path;
  Checkpoint checkpoint;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    nlp::ModelReader<Model, Description> reader{path, nlp::checkpoint_kind(kProgram), nullptr};
    reader.serialize(archive, version);
    checkpoint.model = std::move(reader.model);
    archive >> checkpoint.settings >> checkpoint.state;
    checkpoint.trainer = make_trainer(checkpoint.settings, checkpoint.model->parameters());
    with_type(checkpoint.settings.optimizer, *checkpoint.trainer,
              [&](auto& trainer) { archive >> trainer; });
  }
};

}  // namespace

std::unique_ptr<dynet::Trainer> make_trainer(const TrainSettings& settings,
                                             dynet::ParameterCollection& parameters) {
  if (settings.optimizer == Optimizer::kAdam) {
    return nlp::make_trainer<dynet::AdamTrainer>(parameters, settings);
  }
  return nlp::make_trainer<dynet::SimpleSGDTrainer>(parameters, settings);
}

void save_model(const std::string& path, const Model& model) {
  nlp::save_model_file(path, kProgram, model);
}

std::unique_ptr<Model> load_model(const std::string& path, dynet::Device* device) {
  return nlp::load_model_file<Model, Description>(path, kProgram, device);
}

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint,
                     const dynet::SaveOptions& how) {
  dynet::save(path, how, CheckpointWriter{checkpoint});
}

Checkpoint load_checkpoint(const std::string& path) {
  CheckpointReader reader{path, {}};
  dynet::load(path, reader);
  return std::move(reader.checkpoint);
}

}  // namespace rnnlm
