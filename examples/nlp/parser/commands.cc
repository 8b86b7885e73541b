#include "examples/nlp/parser/commands.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/split.h"
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
  out.flush();  // what is known is shown before the progress of this
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
  const auto readable = [](const Sentence& s) { return s.size() >= 5 && s.size() <= 20; };
  for (const std::size_t at : some_places(sentences, count, readable)) {
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
  prepare_run(command, kProgram);
  const auto data = read_parts(
      command, Split(), [](const std::string& path) { return read_conllu(path, Trees::kRead); });
  train(command, data.train, data.dev, std::cout);
  report_run(command, data, *load_model(command.model, command.device), evaluate, std::cout);
}

void run_eval(const EvalCommand& command) {
  prepare_report(command, command.data);
  const std::unique_ptr<Model> model = load_model(command.model, command.device);
  const Treebank sentences = read_conllu(command.data, Trees::kRead);
  const Parsed parsed = parse_all(*model, sentences, command.together, command.data);
  score(*model, sentences, parsed.trees, command.data).print(std::cout);
  print_work(parsed, command.together, std::cout);
  if (command.compare) compare(*model, sentences, parsed, std::cout);
  if (command.show > 0) show_trees(sentences, parsed.trees, command.show, std::cout);
  std::cout.flush();
}

void run_parse(const ParseCommand& command) {
  OutputFile out({"--output", command.output}, files_read(command, {"--input", command.input}));
  const std::unique_ptr<Model> model = load_model(command.model, command.device);
  const Treebank sentences = read_conllu(command.input, Trees::kIgnored);
  const Parsed parsed = parse_all(*model, sentences, command.together, "parse");
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    for (const std::string& line : lines_with(sentences[i], parsed.trees[i])) out.write(line);
    out.write("");
  }
  out.finish();
}

}  // namespace parser
