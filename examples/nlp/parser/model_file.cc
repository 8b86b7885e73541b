#include "examples/nlp/parser/model_file.h"

#include <boost/serialization/map.hpp>
#include <boost/serialization/split_member.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <utility>

#include "examples/nlp/common/saved_kind.h"

namespace parser {

using namespace nlp;

namespace {

// They stand first in the files, so that one is not taken for the other.
const char* const kModelKind = "parser model 1";
const char* const kCheckpointKind = "parser checkpoint 1";

/// The weights have their place only once the description is read, so a file is read as one thing
/// that builds the model on the way.
template <typename Archive>
void write(Archive& archive, const Model& model) {
  archive << model.description() << model.parameters();
}

template <typename Archive>
std::unique_ptr<Model> read(Archive& archive) {
  Description description;
  archive >> description;
  auto model = std::make_unique<Model>(std::move(description), 0);
  archive >> model->parameters();
  return model;
}

struct ModelWriter {
  const Model& model;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive << std::string(kModelKind);
    write(archive, model);
  }
};

struct ModelReader {
  std::string path;
  std::unique_ptr<Model> model;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    read_kind(archive, path, kModelKind);
    model = read(archive);
  }
};

struct CheckpointWriter {
  const Checkpoint& checkpoint;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive << std::string(kCheckpointKind);
    write(archive, *checkpoint.model);
    archive << checkpoint.settings << checkpoint.state << *checkpoint.trainer;
  }
};

struct CheckpointReader {
  std::string path;
  Checkpoint checkpoint;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    read_kind(archive, path, kCheckpointKind);
    checkpoint.model = read(archive);
    checkpoint.trainer = std::make_unique<dynet::AdamTrainer>(checkpoint.model->parameters());
    archive >> checkpoint.settings >> checkpoint.state >> *checkpoint.trainer;
  }
};

}  // namespace

void save_model(const std::string& path, const Model& model) {
  dynet::save(path, ModelWriter{model});
}

std::unique_ptr<Model> load_model(const std::string& path) {
  ModelReader reader{path, nullptr};
  dynet::load(path, reader);
  return std::move(reader.model);
}

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  dynet::save(path, CheckpointWriter{checkpoint});
}

Checkpoint load_checkpoint(const std::string& path) {
  CheckpointReader reader{path, {}};
  dynet::load(path, reader);
  return std::move(reader.checkpoint);
}

}  // namespace parser
