#include "commands.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "evaluate.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text.h"
#include "model_file.h"

namespace rnnlm {

using namespace nlp;

namespace {

/// What a user gets without choosing.
void fill_in_defaults(const TrainCommand& command, TrainRequest& request) {
  const auto given = [&](const char* option) {
    return std::find(command.given.begin(), command.given.end(), option) != command.given.end();
  };
  if (request.data.read.level == Level::kChar) {
    if (!given("--min-count")) request.data.min_count = 1;
    if (!given("--ngram")) request.data.ngram = 5;
    if (!given("--word")) request.model.word = 32;
    if (!given("--dropout")) request.model.dropout = 0.1f;
  }
  if (request.settings.optimizer == Optimizer::kSgd && !given("--learning-rate")) {
    request.settings.learning_rate = 1.0f;
  }
}

/// A test or dev file next to a training file is read the way that one was.
Corpus read_like(const std::string& path, ReadOptions options) {
  return read_corpus(path, options);
}

}  // namespace

void run_train(const TrainCommand& command) {
  TrainRequest request;
  request.data = command.data;
  request.data.read.format = format_from_name(command.format);
  request.data.read.level = level_from_name(command.level);
  request.model = command.model_settings;
  request.model.loss = loss_from_name(command.loss);
  request.settings = command.settings;
  request.settings.optimizer = optimizer_from_name(command.optimizer);
  request.limits = command.limits;
  request.resume = command.resume;
  request.given = command.given;
  request.files = train_files(command.model);
  fill_in_defaults(command, request);
  if (!command.split.empty()) {
    if (!command.dev.empty() || !command.test.empty()) {
      throw UserError("--split cuts --train into three parts, so --dev and --test cannot be given");
    }
    request.data.split = parse_split(command.split);
  }

  Corpus train_corpus = read_corpus(command.train, request.data.read);
  Corpus dev_corpus, test_corpus;
  const Split& split = request.data.split;
  if (split.empty()) {
    if (!command.dev.empty()) dev_corpus = read_like(command.dev, request.data.read);
    if (!command.test.empty()) test_corpus = read_like(command.test, request.data.read);
  } else {
    dev_corpus = take_part(train_corpus, split, Part::kDev);
    test_corpus = take_part(train_corpus, split, Part::kTest);
    train_corpus = take_part(train_corpus, split, Part::kTrain);
    if (train_corpus.empty()) throw UserError(command.train + " is too short to be split");
  }

  train(request, train_corpus, dev_corpus, std::cout);
  const std::unique_ptr<Model> best = load_model(request.files.model);
  if (!dev_corpus.empty()) evaluate(*best, dev_corpus, "dev").print(std::cout);
  if (!test_corpus.empty()) evaluate(*best, test_corpus, "test").print(std::cout);
  std::cout << "saved in " << request.files.model << std::endl;
}

void run_eval(const EvalCommand& command) {
  const std::unique_ptr<Model> model = load_model(command.model);
  DataSettings data = model->description().data;
  if (!command.format.empty()) data.read.format = format_from_name(command.format);
  const Part part = part_from_name(command.part);
  if (part != Part::kAll && data.split.empty()) {
    throw UserError("--part " + command.part + " needs a model trained with --split");
  }
  const Corpus corpus = take_part(read_like(command.data, data.read), data.split, part);
  if (corpus.empty()) {
    throw UserError("the " + command.part + " part of " + command.data + " holds no sentence");
  }
  evaluate(*model, corpus, part == Part::kAll ? command.data : command.part).print(std::cout);
}

void run_score(const ScoreCommand& command) {
  const std::unique_ptr<Model> model = load_model(command.model);
  InputFile in(command.input);
  OutputFile out(command.output);
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
  const std::unique_ptr<Model> model = load_model(command.model);
  const ReadOptions& read = model->description().data.read;
  const Vocabulary& vocabulary = model->vocabulary();
  const Sentence prefix = read_sentence(command.prefix, read);
  const Ids begin = vocabulary.encode(prefix);
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] == Vocabulary::kUnknown) {
      throw UserError("--prefix: the model does not know " + nlp::quoted(prefix.tokens[i]));
    }
  }
  OutputFile out(command.output);
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
