#include "commands.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "evaluate.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/run_files.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text.h"
#include "model_file.h"

namespace rnnlm {

using namespace nlp;

namespace {

/// What a user gets without choosing.
void fill_in_defaults(TrainCommand& command) {
  if (command.data.read.level == Level::kChar) {
    if (!command.was_given("--min-count")) command.data.min_count = 1;
    if (!command.was_given("--ngram")) command.data.ngram = 5;
    if (!command.was_given("--word")) command.model_settings.word = 32;
    if (!command.was_given("--dropout")) command.model_settings.dropout = 0.1f;
  }
  if (command.settings.optimizer == Optimizer::kSgd && !command.was_given("--learning-rate")) {
    command.settings.learning_rate = 1.0f;
  }
}

}  // namespace

void run_train(TrainCommand command) {
  prepare_run(command, kProgram);
  ReadOptions& read = command.data.read;
  read.format = format_from_name(command.format);
  read.level = level_from_name(command.level);
  command.model_settings.loss = loss_from_name(command.loss);
  command.settings.optimizer = optimizer_from_name(command.optimizer);
  fill_in_defaults(command);
  command.data.split = parse_split(command.split, command);
  // Dev and test are read the way the training data was.
  const auto data = read_parts(command, command.data.split,
                               [&](const std::string& path) { return read_corpus(path, read); });
  train(command, data.train, data.dev, std::cout);
  report_run(command, data, *load_model(command.model, command.device), evaluate, std::cout);
}

void run_eval(const EvalCommand& command) {
  prepare_report(command, command.data);
  const std::unique_ptr<Model> model = load_model(command.model, command.device);
  DataSettings data = model->description().data;
  if (!command.format.empty()) data.read.format = format_from_name(command.format);
  const Corpus corpus =
      read_part(command.data, command.part, data.split,
                [&](const std::string& path) { return read_corpus(path, data.read); });
  evaluate(*model, corpus, command.part == "all" ? command.data : command.part).print(std::cout);
}

void run_score(const ScoreCommand& command) {
  OutputFile out({"--output", command.output}, files_read(command, {"--input", command.input}));
  const std::unique_ptr<Model> model = load_model(command.model, command.device);
  InputFile in(command.input);
  std::string line;
  while (in.next(line)) {
    const Sentence sentence = read_sentence(line, model->description().data.read);
    const double loss = sentence_losses(*model, {model->vocabulary().encode(sentence)})[0];
    const std::size_t tokens = sentence.tokens.size() + 1;
    const double perplexity = std::exp(loss / static_cast<double>(tokens));
    out.write(fixed(-loss, 4) + "\t" + std::to_string(tokens) + "\t" + fixed(perplexity, 2));
  }
  out.finish();
}

void run_sample(const SampleCommand& command) {
  OutputFile out({"--output", command.output}, files_read(command));
  const std::unique_ptr<Model> model = load_model(command.model, command.device);
  const ReadOptions& read = model->description().data.read;
  const Vocabulary& vocabulary = model->vocabulary();
  const Sentence prefix = read_sentence(command.prefix, read);
  const Ids begin = vocabulary.encode(prefix);
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] == Vocabulary::kUnknown) {
      throw UserError("--prefix: the model does not know " + nlp::quoted(prefix.tokens[i]));
    }
  }
  for (std::size_t i = 0; i < command.count; ++i) {
    Random random(derived_seed(command.seed, i));
    std::vector<std::string> tokens;
    for (unsigned id : sample_sentence(*model, begin, command.settings, random)) {
      tokens.push_back(vocabulary.token(id));
    }
    out.write(text_of(tokens, read));
  }
  out.finish();
}

}  // namespace rnnlm
