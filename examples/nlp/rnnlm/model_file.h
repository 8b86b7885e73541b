#pragma once

#include <memory>
#include <string>

#include "examples/nlp/common/model_file.h"
#include "model.h"
#include "train.h"

namespace rnnlm {

/// What files of this program say first that they are of.
inline constexpr const char* kProgram = "rnnlm";

/// With a trainer of the kind that the settings name.
using Checkpoint = nlp::Checkpoint<Model, TrainSettings, dynet::Trainer>;

/// A trainer of that kind, before its first update.
std::unique_ptr<dynet::Trainer> make_trainer(const TrainSettings& settings,
                                             dynet::ParameterCollection& parameters);

/// A model file holds all that the commands need: settings, vocabulary, n-grams, weights. Saving
/// replaces the file at once or leaves it as it was. All of these throw dynet::FileError or
/// UserError, with the name of the file.
void save_model(const std::string& path, const Model& model);
std::unique_ptr<Model> load_model(const std::string& path, dynet::Device* device = &dynet::kCpu);

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint,
                     const dynet::SaveOptions& how = program::save_options());
Checkpoint load_checkpoint(const std::string& path);

}  // namespace rnnlm
