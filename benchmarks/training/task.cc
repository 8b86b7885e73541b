#include "benchmarks/training/task.h"

#include <stdexcept>
#include <string_view>

namespace bench {

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"tree-LSTM, group 1", "tree", "trees", 1, 1, 20.0, 9.9, 22, 18, 24, false},
      {"tree-LSTM, group 64", "tree", "trees", 64, 64, 20.0, 16.1, 44, 38, 48, false},
      {"BiLSTM tagger, group 1", "tagger", "words", 1, 1, 0.45, 299, 1130, 850, 1200, false},
      {"BiLSTM tagger, group 64", "tagger", "words", 64, 64, 0.45, 400, 1810, 1250, 1850, false},
      {"tagger of columns, group 1", "columns", "words", 1, 1, 0.45, 299, 1130, 850, 1200, false},
      {"tagger of columns, group 64", "columns", "words", 64, 64, 0.45, 400, 1810, 1250, 1850,
       false},
      {"LSTM LM, minibatch 1", "lm", "words", 1, 1, 16.5, 7.1, 40, 22, 36, true},
      {"LSTM LM, minibatch 16", "lm", "words", 16, 1, 16.5, 23, 73, 48, 66, true},
      {"LSTM LM, minibatch 64", "lm", "words", 64, 1, 16.5, 35, 76, 55, 70, true},
  };
  return kRows;
}

std::unique_ptr<Task> make_task(const Row& row, const std::string& folder) {
  const std::string_view task = row.task;
  if (task == "tree") return make_tree_lstm(sentiment_trees(folder));
  if (task == "tagger") return make_tagger(tagged_text(folder));
  if (task == "columns") return make_tagger(tagged_text(folder), 50, true);
  if (task == "lm") return make_language_model(plain_text(folder), row.group);
  throw std::logic_error("no such task");
}

}  // namespace bench
