#pragma once

#include <cstdint>
#include <string>

#include "examples/nlp/common/device.h"
#include "model.h"
#include "sample.h"
#include "train.h"

namespace rnnlm {

struct TrainCommand : TrainRequest {
  TrainCommand() { limits = {6, 3, 0}; }
  std::string format = "auto", level = "word", split, loss = "full", optimizer = "adam";
};

struct EvalCommand : nlp::SavedModel {
  std::string data;
  std::string format;  ///< empty: as in training
  std::string part = "all";
};

struct ScoreCommand : nlp::SavedModel {
  std::string input = "-";
  std::string output = "-";
};

struct SampleCommand : nlp::SavedModel {
  std::string prefix;
  std::string output = "-";
  std::size_t count = 10;
  std::uint64_t seed = 1;
  SampleSettings settings;
};

/// Trains, then evaluates the best model on dev and test data, if there are any. The results go to
/// standard output, the progress to standard error.
void run_train(TrainCommand command);
/// Perplexities of a saved model.
void run_eval(const EvalCommand& command);
/// For each line its log-probability, its number of tokens with the end, and its perplexity.
void run_score(const ScoreCommand& command);
/// Sentences drawn from a saved model, one a line.
void run_sample(const SampleCommand& command);

}  // namespace rnnlm
