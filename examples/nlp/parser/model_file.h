#pragma once

#include <memory>
#include <string>

#include "dynet-like/dynet.h"
#include "examples/nlp/parser/model.h"
#include "examples/nlp/parser/train.h"

namespace parser {

/// Everything a training run needs to go on.
struct Checkpoint {
  std::unique_ptr<Model> model;
  std::unique_ptr<dynet::AdamTrainer> trainer;  ///< of the model's parameters
  TrainSettings settings;
  nlp::TrainState state;
};

/// A model file holds all that eval and parse need: settings, dictionaries, weights. Saving
/// replaces the file at once or leaves it as it was. All of these throw dynet::FileError or
/// UserError, with the name of the file.
void save_model(const std::string& path, const Model& model);
std::unique_ptr<Model> load_model(const std::string& path);

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);
Checkpoint load_checkpoint(const std::string& path);

}  // namespace parser
