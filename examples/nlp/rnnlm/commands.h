#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model.h"
#include "sample.h"
#include "train.h"

namespace rnnlm {

struct TrainCommand {
  std::string train, dev, test, model;
  std::string format = "auto", level = "word", split, loss = "full", optimizer = "adam";
  bool resume = false;
  DataSettings data;
  ModelSettings model_settings;
  TrainSettings settings;
  nlp::TrainLimits limits{6, 3, 0};
  std::vector<std::string> given;  ///< names of the options on the command line
};

struct EvalCommand {
  std::string model, data;
  std::string format;  ///< empty: as in training
  std::string part = "all";
};

struct ScoreCommand {
  std::string model;
  std::string input = "-";
  std::string output = "-";
};

struct SampleCommand {
  std::string model, prefix;
  std::string output = "-";
  std::size_t count = 10;
  std::uint64_t seed = 1;
  SampleSettings settings;
};

/// Trains, then evaluates the best model on dev and test data, if there are any. The results go to
/// standard output, the progress to standard error.
void run_train(const TrainCommand& command);
/// Perplexities of a saved model.
void run_eval(const EvalCommand& command);
/// For each line its log-probability, its number of tokens with the end, and its perplexity.
void run_score(const ScoreCommand& command);
/// Sentences drawn from a saved model, one a line.
void run_sample(const SampleCommand& command);

}  // namespace rnnlm
