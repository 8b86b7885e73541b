#include "examples/nlp/translate/commands.h"

#include <iostream>

#include "examples/nlp/common/json.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/score_options.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/translate/attention_picture.h"
#include "examples/nlp/translate/model.h"

namespace translate {

using namespace nlp;

namespace {

void add_search(CLI::App& app, SearchSettings& search) {
  app.add_option("--beam", search.beam, "Hypotheses that are kept of each text")
      ->transform(InRange(1, 1000))
      ->capture_default_str();
  app.add_option("--length-penalty", search.alpha,
                 "Log-probabilities are divided by length to this power")
      ->transform(InRange(0.0, 10.0))
      ->capture_default_str();
}

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "Pairs, as in training");
    app.add_option("--part", part_,
                   "all, train, dev or test: the part of the data that the model's --split made")
        ->check(named(kParts));
    add_search(app, search_);
    begin_group(app, kOutputOptions);
    app.add_option("--show", show_, "Show so many texts and their translations")
        ->transform(InRange(0, 1000000));
    app.add_option("--show-attention", picture_,
                   "SVG picture of what the translations that are shown looked at; of an LSTM")
        ->type_name("FILE");
    scores_.add_json(app, {"--show"});
  }

 private:
  void evaluate(Model& model) override {
    const Description& d = model.description();
    if (!picture_.empty() && (d.network.kind == Kind::kTransformer || show_ == 0))
      throw UserError(show_ == 0 ? "--show-attention needs --show"
                                 : "--show-attention needs a model of --network lstm");
    const auto read = [&](const TextSource& file) { return read_pairs(file, d.format); };
    const Corpus corpus = read_part(source(), part_, d.split, read);
    const Report report =
        translate::evaluate(model, corpus, part_ == "all" ? data_ : part_, search_);
    print_scores(report, Model::kProgram, scores_, std::cout);
    dynet::ComputationGraph graph;
    std::vector<Look> looks;
    for (const std::size_t at : some_places(corpus, show_, [](const Pair&) { return true; })) {
      const auto answers = model.translate(graph, {&corpus[at].source, 1}, search_)[0];
      std::cout << '\n'
                << corpus[at].source << "\n  right:      " << corpus[at].target
                << "\n  translated: " << (answers.empty() ? "" : answers[0].text) << '\n';
      if (!answers.empty())
        looks.push_back(
            {model.source_tokens(corpus[at].source), answers[0].tokens, answers[0].attention});
    }
    std::cout.flush();
    if (picture_.empty()) return;
    OutputFile file({"--show-attention", picture_}, files_read(saved_, {"--data", data_}));
    file.write(attention_picture(looks));
    file.finish();
  }

  std::string part_ = "all";
  SearchSettings search_;
  ScoreOptions scores_;
  std::size_t show_ = 0;
  std::string picture_;
};

class Translate : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "Texts, one a line");
    add_search(app, search_);
    add_output(app, "Where translations go");
    app.add_option("--nbest", search_.n,
                   "So many translations of each text, in lines with their score, a tab and the "
                   "translation")
        ->transform(InRange(1, 1000));
    app.add_flag("--json", json_, "Print a JSON object a line");
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    const bool several = search_.n > 1;
    if (search_.n > search_.beam)
      throw UserError("--nbest must not exceed --beam, got " + std::to_string(search_.n) + " and " +
                      std::to_string(search_.beam));
    InputFile in(source());
    PlainText plain;
    const auto check = [&](const std::string& line) { plain.check(line, in); };
    write_for_lines(
        model, in, out, check,
        [&](Model& mine, dynet::ComputationGraph& graph, const std::string& line,
            std::size_t number) -> std::string {
          const std::vector<std::string> words = split_words(line);
          if (words.empty()) return json_ ? json_line({{"text", line}}) : std::string();
          require_readable(words.size(), number, in.name());
          const std::string text = join(words, " ");
          const auto answers = mine.translate(graph, {&text, 1}, search_)[0];
          if (json_) {
            Json translations = Json::array();
            for (const Answer& answer : answers)
              translations.push_back({{"text", answer.text}, {"score", answer.score}});
            return json_line({{"text", line}, {"translations", translations}});
          }
          std::vector<std::string> lines;
          for (const Answer& answer : answers)
            lines.push_back((several ? fixed(answer.score, 4) + "\t" : "") + answer.text);
          return join(lines, "\n");
        });
  }

  SearchSettings search_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }
std::unique_ptr<Command> translate_command() { return std::make_unique<Translate>(); }

}  // namespace translate
