#include "examples/nlp/treelstm/model_file.h"

#include <boost/serialization/array.hpp>
#include <boost/serialization/split_member.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <utility>

#include "examples/nlp/common/model_file.h"

namespace treelstm {

using namespace nlp;

namespace {

// They stand first in the files, so that one is not taken for the other.
const char* const kModelKind = "treelstm model 1";
const char* const kCheckpointKind = "treelstm checkpoint 1";

}  // namespace

void save_model(const std::string& path, const Model& model) {
  dynet::save(path, ModelWriter<Model>{kModelKind, model});
}

std::unique_ptr<Model> load_model(const std::string& path) {
  ModelReader<Model, Description> reader{path, kModelKind, nullptr};
  dynet::load(path, reader);
  return std::move(reader.model);
}

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  dynet::save(path, CheckpointWriter<Checkpoint>{kCheckpointKind, checkpoint});
}

Checkpoint load_checkpoint(const std::string& path) {
  CheckpointReader<Checkpoint, Description> reader{path, kCheckpointKind, {}};
  dynet::load(path, reader);
  return std::move(reader.checkpoint);
}

}  // namespace treelstm
