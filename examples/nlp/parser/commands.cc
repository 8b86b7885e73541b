#include "examples/nlp/parser/commands.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/parser/model_file.h"

namespace parser {

using namespace nlp;

namespace {

Report evaluate(Model& model, const Treebank& sentences, const std::string& name) {
  return score(model, sentences, parse_all(model, sentences, kTogether, name).trees, name);
}

/// "32 together: 1,234 sentences/s, 41.2 batches and 1,066 nodes a sentence"
void print_work(const Parsed& parsed, std::size_t together, std::ostream& out) {
  const auto sentences = static_cast<double>(parsed.trees.size());
  const auto each = [&](std::size_t count) { return static_cast<double>(count) / sentences; };
  const double per_second = sentences / std::max(parsed.seconds, 1e-6);
  out << (together == 1 ? "one at a time" : std::to_string(together) + " together") << ": "
      << with_commas(static_cast<std::size_t>(std::llround(per_second))) << " sentences/s, "
      << fixed(each(parsed.batches), 1) << " batches and " << fixed(each(parsed.nodes), 1)
      << " nodes a sentence\n";
}

/// Parses once more, each sentence alone, and says how that differs.
void compare(Model& model, const Treebank& sentences, const Parsed& parsed, std::ostream& out) {
  const Parsed alone = parse_all(model, sentences, 1, "one at a time");
  print_work(alone, 1, out);
  std::size_t different = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    different += alone.trees[i].heads != parsed.trees[i].heads ||
                 alone.trees[i].labels != parsed.trees[i].labels;
  }
  out << "sentences with another tree when parsed alone: " << with_commas(different) << '\n';
}

/// Sentences of a readable length from all over the treebank, a word and its arc in each line.
void show_trees(const Treebank& sentences, const std::vector<Tree>& trees, std::size_t count,
                std::ostream& out) {
  std::vector<std::size_t> readable;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    if (sentences[i].size() >= 5 && sentences[i].size() <= 20) readable.push_back(i);
  }
  count = std::min(count, readable.size());
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t at = readable[k * readable.size() / count];
    const Sentence& sentence = sentences[at];
    const auto arc = [&](const Tree& tree, std::size_t i) {
      const unsigned head = tree.heads[i];
      return tree.labels[i] + " of " + (head == 0 ? "the root" : sentence.words[head - 1]);
    };
    out << '\n';
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      const std::string predicted = arc(trees[at], i);
      const std::string right = arc(sentence.tree, i);
      out << padded(std::to_string(i + 1), 4) << ' ' << sentence.words[i] << ": " << predicted
          << (predicted == right ? "" : " (not " + right + ")") << '\n';
    }
  }
}

}  // namespace

void run_train(const TrainCommand& command) {
  const Treebank train_sentences = read_conllu(command.train, Trees::kRead);
  Treebank dev_sentences, test_sentences;
  if (!command.dev.empty()) dev_sentences = read_conllu(command.dev, Trees::kRead);
  if (!command.test.empty()) test_sentences = read_conllu(command.test, Trees::kRead);

  TrainRequest request;
  request.model = command.model_settings;
  request.settings = command.settings;
  request.limits = command.limits;
  request.resume = command.resume;
  request.given = command.given;
  request.files = train_files(command.model);
  train(request, train_sentences, dev_sentences, std::cout);
  const std::unique_ptr<Model> best = load_model(request.files.model);
  if (!dev_sentences.empty()) evaluate(*best, dev_sentences, "dev").print(std::cout);
  if (!test_sentences.empty()) evaluate(*best, test_sentences, "test").print(std::cout);
  std::cout << "saved in " << request.files.model << std::endl;
}

void run_eval(const EvalCommand& command) {
  const std::unique_ptr<Model> model = load_model(command.model);
  const Treebank sentences = read_conllu(command.data, Trees::kRead);
  const Parsed parsed = parse_all(*model, sentences, command.together, command.data);
  score(*model, sentences, parsed.trees, command.data).print(std::cout);
  print_work(parsed, command.together, std::cout);
  if (command.compare) compare(*model, sentences, parsed, std::cout);
  if (command.show > 0) show_trees(sentences, parsed.trees, command.show, std::cout);
  std::cout.flush();
}

void run_parse(const ParseCommand& command) {
  const std::unique_ptr<Model> model = load_model(command.model);
  const Treebank sentences = read_conllu(command.input, Trees::kIgnored);
  OutputFile out(command.output);
  const Parsed parsed = parse_all(*model, sentences, command.together, "parse");
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    for (const std::string& line : lines_with(sentences[i], parsed.trees[i])) out.write(line);
    out.write("");
  }
  out.finish();
}

}  // namespace parser
