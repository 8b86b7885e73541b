#pragma once

#include <string>
#include <vector>

#include "corpus.h"
#include "examples/nlp/common/device.h"
#include "model.h"
#include "train.h"

namespace tagger {

struct TrainCommand : TrainRequest {
  std::string format = "auto", column, split, features;
};

struct EvalCommand : nlp::SavedModel {
  std::string data;
  std::string format, column;  ///< empty: as in training
  std::string part = "all";
  std::size_t show = 0;
};

struct TagCommand : nlp::SavedModel {
  std::string input = "-";
  std::string output = "-";
  bool tags = false;
};

/// Trains, then scores the best model on the test data, if there are any. The results go to
/// standard output, the progress to standard error.
void run_train(TrainCommand command);
/// Scores a saved model.
void run_eval(const EvalCommand& command);
/// Tags sentences, one a line: `word|TAG`, or the restored text if the model restores text.
void run_tag(const TagCommand& command);

}  // namespace tagger
