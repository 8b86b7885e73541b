#include "commands.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/text.h"
#include "kingjames.h"
#include "model_file.h"

namespace tagger {

using namespace nlp;

namespace {

/// What a user gets without choosing: nothing but word vectors. Running text has few kinds of
/// words and many of each, and its words come without case, so a smaller model and fewer epochs do.
void fill_in_defaults(Format format, const TrainCommand& command, TrainRequest& request) {
  const bool running_text = is_running_text(format);
  const auto given = [&](const char* option) {
    return std::find(command.given.begin(), command.given.end(), option) != command.given.end();
  };
  std::string features = command.features;
  if (!given("--features")) features = running_text ? "word:64" : "word:128";
  request.model.features = parse_features(features);
  if (!running_text) return;
  if (!given("--hidden")) request.model.hidden = 64;
  if (!given("--dropout")) request.model.dropout = 0.2f;
  if (!given("--decay")) request.settings.decay = 0.6f;
  if (!given("--epochs")) request.limits.epochs = 4;
}

/// A verse or sentence as it was, what the model saw, and what it made of it.
void show_sentence(const Sentence& sentence, const std::vector<std::string>& predicted,
                   TagKind kind, std::ostream& out) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) right += predicted[i] == sentence.tags[i];
  out << '\n';
  if (!sentence.name.empty()) out << join(split_words(sentence.name), " ") << ' ';
  out << '(' << right << " of " << predicted.size() << " words right)\n";
  if (kind == TagKind::kMarks) {
    out << "  before:   " << join(sentence.words, " ") << '\n'
        << "  restored: " << restore(sentence.words, predicted) << '\n'
        << "  original: " << restore(sentence.words, sentence.tags) << '\n';
    return;
  }
  out << " ";
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    out << ' ' << sentence.words[i] << '|' << predicted[i];
    if (predicted[i] != sentence.tags[i]) out << "(not " << sentence.tags[i] << ')';
  }
  out << '\n';
}

/// Shows sentences of a readable length from all over the corpus.
void show_sentences(Model& model, const Corpus& corpus, std::size_t count, std::ostream& out) {
  std::vector<const Sentence*> readable;
  for (const Sentence& sentence : corpus) {
    if (sentence.words.size() >= 8 && sentence.words.size() <= 30) readable.push_back(&sentence);
  }
  if (readable.empty()) {
    for (const Sentence& sentence : corpus) readable.push_back(&sentence);
  }
  count = std::min(count, readable.size());
  dynet::ComputationGraph graph;
  for (std::size_t i = 0; i < count; ++i) {
    const Sentence& sentence = *readable[i * readable.size() / count];
    show_sentence(sentence, model.tag(graph, sentence.words), model.description().kind, out);
  }
  out.flush();
}

/// A test or dev file next to a training file is read the way that one was.
Corpus read_like(const std::string& path, const DataSettings& data) {
  return read_corpus(path, {data.format, data.column}).corpus;
}

std::string tagged_line(Model& model, dynet::ComputationGraph& graph, const std::string& line,
                        bool as_tags) {
  const bool restoring = model.description().kind == TagKind::kMarks;
  const std::vector<std::string> words = restoring ? annotate(line).words : split_words(line);
  const std::vector<std::string> tags = model.tag(graph, words);
  if (restoring && !as_tags) return restore(words, tags);
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += ' ';
    result += words[i] + "|" + tags[i];
  }
  return result;
}

}  // namespace

void run_train(const TrainCommand& command) {
  DataSettings data;
  data.format = format_from_name(command.format);
  data.column = command.column;
  if (!command.split.empty()) {
    if (!command.dev.empty() || !command.test.empty()) {
      throw UserError("--split cuts --train into three parts, so --dev and --test cannot be given");
    }
    data.split = parse_split(command.split);
  }
  ReadResult read = read_corpus(command.train, {data.format, data.column});
  data.format = read.format;

  Corpus train_corpus, dev_corpus, test_corpus;
  if (data.split.empty()) {
    train_corpus = std::move(read.corpus);
    if (!command.dev.empty()) dev_corpus = read_like(command.dev, data);
    if (!command.test.empty()) test_corpus = read_like(command.test, data);
  } else {
    train_corpus = take_part(read.corpus, data.split, Part::kTrain);
    dev_corpus = take_part(read.corpus, data.split, Part::kDev);
    test_corpus = take_part(read.corpus, data.split, Part::kTest);
    if (train_corpus.empty()) throw UserError(command.train + " is too short to be split");
  }

  TrainRequest request;
  request.data = data;
  request.model = command.model_settings;
  request.settings = command.settings;
  request.limits = command.limits;
  fill_in_defaults(data.format, command, request);
  request.resume = command.resume;
  request.given = command.given;
  request.files = train_files(command.model);
  train(request, train_corpus, dev_corpus, std::cout);
  const std::unique_ptr<Model> best = load_model(request.files.model);
  if (!dev_corpus.empty()) evaluate(*best, dev_corpus, "dev").print(std::cout);
  if (!test_corpus.empty()) evaluate(*best, test_corpus, "test").print(std::cout);
  std::cout << "saved in " << request.files.model << std::endl;
}

void run_eval(const EvalCommand& command) {
  const std::unique_ptr<Model> model = load_model(command.model);
  DataSettings data = model->description().data;
  if (!command.format.empty()) {
    data.format = format_from_name(command.format);
    data.column.clear();
  }
  if (!command.column.empty()) data.column = command.column;
  const Part part = part_from_name(command.part);
  if (part != Part::kAll && data.split.empty()) {
    throw UserError("--part " + command.part + " needs a model trained with --split");
  }
  const Corpus corpus = take_part(read_like(command.data, data), data.split, part);
  if (corpus.empty()) {
    throw UserError("the " + command.part + " part of " + command.data + " holds no sentence");
  }
  evaluate(*model, corpus, part == Part::kAll ? command.data : command.part).print(std::cout);
  if (command.show > 0) show_sentences(*model, corpus, command.show, std::cout);
}

void run_tag(const TagCommand& command) {
  const std::unique_ptr<Model> model = load_model(command.model);
  InputFile in(command.input);
  OutputFile out(command.output);
  dynet::ComputationGraph graph;
  std::string line;
  while (in.next(line)) out.write(tagged_line(*model, graph, line, command.tags));
  out.finish();
}

}  // namespace tagger
