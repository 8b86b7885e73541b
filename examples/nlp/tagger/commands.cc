#include "commands.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/run_files.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text.h"
#include "kingjames.h"
#include "model_file.h"

namespace tagger {

using namespace nlp;

namespace {

/// What a user gets without choosing: nothing but word vectors. Running text has few kinds of
/// words and many of each, and its words come without case, so a smaller model and fewer epochs do.
void fill_in_defaults(TrainCommand& command) {
  const bool running_text = is_running_text(command.data.format);
  std::string features = command.features;
  if (!command.was_given("--features")) features = running_text ? "word:64" : "word:128";
  command.model_settings.features = parse_features(features);
  if (!running_text) return;
  if (!command.was_given("--hidden")) command.model_settings.hidden = 64;
  if (!command.was_given("--dropout")) command.model_settings.dropout = 0.2f;
  if (!command.was_given("--decay")) command.settings.decay = 0.6f;
  if (!command.was_given("--epochs")) command.limits.epochs = 4;
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
  const auto readable = [](const Sentence& s) {
    return s.words.size() >= 8 && s.words.size() <= 30;
  };
  dynet::ComputationGraph graph;
  for (const std::size_t place : some_places(corpus, count, readable)) {
    const Sentence& sentence = corpus[place];
    show_sentence(sentence, model.tag(graph, sentence.words), model.description().kind, out);
  }
  out.flush();
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

void run_train(TrainCommand command) {
  prepare_run(command, kProgram);
  command.data.format = format_from_name(command.format);
  command.data.column = command.column;
  command.data.split = parse_split(command.split, command);
  const auto data = read_parts(command, command.data.split, [&](const std::string& path) {
    ReadResult read = read_corpus(path, {command.data.format, command.data.column});
    command.data.format = read.format;  // dev and test are read the way the training data was
    return std::move(read.corpus);
  });
  fill_in_defaults(command);
  train(command, data.train, data.dev, std::cout);
  report_run(command, data, *load_model(command.model, command.device), evaluate, std::cout);
}

void run_eval(const EvalCommand& command) {
  prepare_report(command, command.data);
  const std::unique_ptr<Model> model = load_model(command.model, command.device);
  DataSettings data = model->description().data;
  if (!command.format.empty()) {
    data.format = format_from_name(command.format);
    data.column.clear();
  }
  if (!command.column.empty()) data.column = command.column;
  const Corpus corpus =
      read_part(command.data, command.part, data.split, [&](const std::string& path) {
        return read_corpus(path, {data.format, data.column}).corpus;
      });
  evaluate(*model, corpus, command.part == "all" ? command.data : command.part).print(std::cout);
  if (command.show > 0) show_sentences(*model, corpus, command.show, std::cout);
}

void run_tag(const TagCommand& command) {
  OutputFile out({"--output", command.output}, files_read(command, {"--input", command.input}));
  const std::unique_ptr<Model> model = load_model(command.model, command.device);
  InputFile in(command.input);
  dynet::ComputationGraph graph;
  std::string line;
  while (in.next(line)) out.write(tagged_line(*model, graph, line, command.tags));
  out.finish();
}

}  // namespace tagger
