#include "examples/nlp/parser/model_file.h"

#include <boost/serialization/map.hpp>
#include <boost/serialization/split_member.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

namespace parser {
void save_model(const std::string& path, const Model& model) {
  nlp::save_model_file(path, kProgram, model);
}
std::unique_ptr<Model> load_model(const std::string& path, dynet::Device* device) {
  return nlp::load_model_file<Model, Description>(path, kProgram, device);
}
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint,
                     const dynet::SaveOptions& how) {
  nlp::save_checkpoint_file(path, kProgram, checkpoint, how);
}
Checkpoint load_checkpoint(const std::string& path) {
  return nlp::load_checkpoint_file<Checkpoint, Description>(path, kProgram);
}

}  // namespace parser
