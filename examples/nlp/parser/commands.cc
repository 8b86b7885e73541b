#include "examples/nlp/parser/commands.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

#include "examples/nlp/common/conll18.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/score_options.h"
#include "examples/nlp/common/sentence_input.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/parser/model.h"
#include "examples/nlp/parser/output.h"
#include "examples/nlp/tagger/model.h"

namespace parser {

using namespace nlp;

namespace {

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

/// Parses each sentence alone, and prints the differences.
void compare(Model& model, const Treebank& sentences, const Parsed& parsed, std::ostream& out) {
  out.flush();  // shows earlier output before the progress bar
  const Parsed alone = parse_all(model, sentences, {1}, "one at a time");
  print_work(alone, 1, out);
  std::size_t different = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    different += alone.trees[i].heads != parsed.trees[i].heads ||
                 alone.trees[i].labels != parsed.trees[i].labels;
  }
  out << "sentences with another tree when parsed alone: " << with_commas(different) << '\n';
}

/// Shows sentences of moderate length, evenly spaced over the treebank, one word and arc per line.
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

/// Adds --together.
void add_together(CLI::App& app, std::size_t& together) {
  app.add_option("--together", together, "Sentences that are parsed in step, in one graph")
      ->transform(InRange(1, 100000));
}

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_together(app, options_.together);
    add_data(app, "CoNLL-U sentences with their trees");
    begin_group(app, kOutputOptions);
    app.add_flag("--compare", compare_, "Parse once more, one sentence at a time, and compare");
    app.add_option("--show", show_, "Show so many sentences and their arcs")
        ->transform(InRange(0, 1000000));
    scores_.add_labels(app, "labels of arcs");
    scores_.add_json(app, {"--compare", "--show"});
  }

 private:
  void evaluate(Model& model) override {
    const Treebank sentences = read_conllu(source(), Trees::kRead);
    report_unknown(model, sentences, source().name());
    const Parsed parsed = parse_all(model, sentences, options_, data_);
    print_scores(score(model, sentences, parsed.trees, data_), Model::kProgram, scores_, std::cout);
    if (scores_.json) return;
    print_work(parsed, options_.together, std::cout);
    if (compare_) compare(model, sentences, parsed, std::cout);
    if (show_ > 0) show_trees(sentences, parsed.trees, show_, std::cout);
    std::cout.flush();
  }

  ParseOptions options_;
  bool compare_ = false;
  ScoreOptions scores_;
  std::size_t show_ = 0;
};

class Parse : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_together(app, options_.together);
    add_input(app, "Sentences; of CoNLL-U the trees are ignored");
    app.add_option("--input-format", input_format_,
                   std::string(kInputFormatHelp) + "; all but conllu need --tagger")
        ->check(named(kInputFormats));
    app.add_option("--tagger", tagger_, "A model of the tagger: the tags that it gives are used")
        ->type_name("FILE");
    add_output(app, "Where the sentences with new trees go, as CoNLL-U");
    app.add_flag("--probabilities", options_.probabilities,
                 "Write how probable each arc is: Prob in MISC, in JSON probability");
    app.add_flag("--json", json_, "Print a JSON object for each sentence, one a line")
        ->excludes(add_html(app));
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    const InputFormat format = value_of(kInputFormats, input_format_, "input format");
    if (format != InputFormat::kConllu && tagger_.empty())
      throw UserError("--input-format " + input_format_ +
                      " has no tags: --tagger MODEL gives them");
    const std::unique_ptr<tagger::Model> tagger = load_tagger();
    dynet::ComputationGraph graph;  // graph of the tagger
    Unknown unknown(model, source().name());
    Treebank waiting;
    const auto write = [&] {
      if (unknown.words_in_vain() > kMostInVain) unknown.report();
      if (unknown.words_in_vain() > 0 || waiting.empty()) return;
      write_trees(model, std::exchange(waiting, {}), out);
    };
    try {
      for_pieces(
          source(), format,
          [&](const InputSentence& found) {
            if (found.rows.size() == 0) return;
            waiting.push_back(tagger ? tagged(*tagger, graph, found.rows)
                                     : sentence_of(found.rows, Trees::kIgnored));
            unknown.add(waiting.back());
            if (waiting.size() >= kGroups * options_.together * model.threads()) write();
          },
          write);
    } catch (const LineError&) {
      write();  // lines before the error
      throw;
    }
    unknown.report();
    write();
  }

  void write_trees(Model& model, const Treebank& sentences, OutputFile& out) const {
    const Parsed parsed = parse_all(model, sentences, options_, "");
    for (std::size_t i = 0; i < sentences.size(); ++i)
      for (const std::string& line : output_lines(sentences[i], parsed.trees[i], json_))
        out.write(line);
  }

  /// Null if the input has tags.
  std::unique_ptr<tagger::Model> load_tagger() const {
    if (tagger_.empty()) return nullptr;
    auto tagger =
        load_model<tagger::Model>({tagger_, saved_.device, 1, saved_.allow_not_finite, saved_.map});
    if (tagger->description().kind != tagger::TagKind::kPlain)
      throw UserError(tagger_ + " gives no parts of speech, but " +
                      in_quotes(tagger->description().tags[0]) + " and the like");
    return tagger;
  }

  Sentence tagged(tagger::Model& tagger, dynet::ComputationGraph& graph,
                  const conllu::Sentence& rows) const {
    Sentence sentence = untagged(rows);
    set_tags(sentence, tagger.tag(graph, {&sentence.words})[0].tags);
    return sentence;
  }

  /// Sentences are buffered until there are `kGroups` groups per thread, since groups of similar
  /// length are parsed faster, or until the next read would block. While all tags are unknown, up
  /// to kMostInVain words are buffered until a known tag.
  static constexpr std::size_t kGroups = 16, kMostInVain = 1000;

  std::string input_format_ = "conllu", tagger_;
  ParseOptions options_;
  bool json_ = false;
};

class Score : public Command {
 public:
  void add_options(CLI::App& app) override {
    app.add_option("--gold", gold_, "CoNLL-U with the right trees")->type_name("FILE")->required();
    app.add_option("--system", system_, "The same text, with those of a parser")
        ->type_name("FILE")
        ->required();
  }

  void run() override {
    print(conll18_scores(conllu::read(gold_), conllu::read(system_)), std::cout);
    std::cout.flush();
  }

 private:
  std::string gold_, system_;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }
std::unique_ptr<Command> score_command() { return std::make_unique<Score>(); }
std::unique_ptr<Command> parse_command() { return std::make_unique<Parse>(); }

}  // namespace parser
