#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/saved_kind.h"

// The files of a program with a `Model` that is made from a `Description` and a seed, and a
// `Checkpoint` of a model, its Adam trainer, settings and state. `kind` stands first in a file, so
// that one is not taken for another.

namespace nlp {

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

}  // namespace nlp
