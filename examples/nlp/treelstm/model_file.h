#pragma once

#include <memory>
#include <string>

#include "examples/nlp/common/model_file.h"
#include "examples/nlp/treelstm/model.h"
#include "examples/nlp/treelstm/train.h"

namespace treelstm {

/// What files of this program say first that they are of.
inline constexpr const char* kProgram = "treelstm";

using Checkpoint = nlp::Checkpoint<Model, TrainSettings>;

/// A model file holds all that eval and classify need: settings, words, weights. Saving replaces
/// the file at once or leaves it as it was. All of these throw dynet::FileError or UserError, with
/// the name of the file.
void save_model(const std::string& path, const Model& model);
std::unique_ptr<Model> load_model(const std::string& path, dynet::Device* device = &dynet::kCpu);

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint,
                     const dynet::SaveOptions& how = program::save_options());
Checkpoint load_checkpoint(const std::string& path);

}  // namespace treelstm
