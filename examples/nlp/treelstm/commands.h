#pragma once

#include <cstddef>
#include <string>

#include "examples/nlp/common/device.h"
#include "examples/nlp/treelstm/model.h"
#include "examples/nlp/treelstm/train.h"

namespace treelstm {

struct TrainCommand : TrainRequest {
  TrainCommand() { limits = {15, 4, 0}; }
};

struct EvalCommand : nlp::SavedModel {
  std::string data;
  bool confusion = false;
  std::size_t show = 0;
};

struct ClassifyCommand : nlp::SavedModel {
  std::string input = "-";
  std::string output = "-";
  std::string format = "auto";
  std::string shape = "balanced";
  bool trees = false;
};

/// Trains, then scores the best model on the test trees, if there are any. The results go to
/// standard output, the progress to standard error.
void run_train(const TrainCommand& command);
/// Scores a saved model.
void run_eval(const EvalCommand& command);
/// Labels trees or sentences, one a line: the label, its name, the probabilities of all labels, and
/// the words or the labelled tree, with tabs between them. A blank line stays one.
void run_classify(const ClassifyCommand& command);

}  // namespace treelstm
