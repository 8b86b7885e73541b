#include "examples/nlp/annotate/commands.h"

#include <iostream>

#include "examples/nlp/annotate/pipeline.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/score_options.h"

namespace annotate {

using namespace nlp;

namespace {

const Names<Given> kGiven = {
    {Given::kText, "text"}, {Given::kWords, "words"}, {Given::kTags, "tags"}};

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "A treebank in CoNLL-U");
    app.add_option(
           "--from", from_,
           "What is given: text, words (sentences, tokens and words are right) or tags (and "
           "UPOS, XPOS, FEATS and LEMMA, too)")
        ->check(named(kGiven));
    begin_group(app, kOutputOptions);
    scores_.add_json(app);
  }

 private:
  void evaluate(Model& model) override {
    const Given given = value_of(kGiven, from_, "--from");
    const Report report = annotate::evaluate(model, read_treebank(source()), data_, given);
    if (scores_.json)
      std::cout << json_line(
                       scores_json(Model::kProgram, report.name, report.counts(), report.figures()))
                << '\n';
    else
      report.print(std::cout);
    std::cout.flush();
  }

  std::string from_ = "text";
  ScoreOptions scores_;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }

}  // namespace annotate
