#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "examples/nlp/common/device.h"
#include "examples/nlp/parser/model.h"
#include "examples/nlp/parser/train.h"

namespace parser {

using TrainCommand = TrainRequest;

struct EvalCommand : nlp::SavedModel {
  std::string data;
  std::size_t together = kTogether;
  bool compare = false;
  std::size_t show = 0;
};

struct ParseCommand : nlp::SavedModel {
  std::string input = "-";
  std::string output = "-";
  std::size_t together = kTogether;
};

/// Trains, then scores the best model on the test sentences, if there are any. The results go to
/// standard output, the progress to standard error.
void run_train(const TrainCommand& command);
/// Scores a saved model, and says how fast it is.
void run_eval(const EvalCommand& command);
/// Gives CoNLL-U sentences new trees.
void run_parse(const ParseCommand& command);

}  // namespace parser
