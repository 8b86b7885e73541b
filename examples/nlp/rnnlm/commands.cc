#include "commands.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>

#include "evaluate.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/score_options.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text.h"
#include "model.h"
#include "sample.h"

namespace rnnlm {

using namespace nlp;

namespace {

constexpr const char* kSamplingOptions = "Sampling";

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "Sentences");
    app.add_option("--part", part_,
                   "all, train, dev or test: the part of the data that the model's --split made")
        ->check(named(kParts));
    app.add_option("--format", format_, std::string(kFormatHelp) + "; else as in training")
        ->check(named(kFormats));
    scores_.add_json(app);
  }

 private:
  void evaluate(Model& model) override {
    DataSettings data = model.description().data;
    if (!format_.empty()) data.read.format = format_from_name(format_);
    const auto read = [&](const TextSource& file) { return read_corpus(file, data.read); };
    const Corpus corpus = read_part(source(), part_, data.split, read);
    const Report report = rnnlm::evaluate(model, corpus, part_ == "all" ? data_ : part_);
    print_scores(report, Model::kProgram, scores_, std::cout);
  }

  std::string format_;  ///< empty: format of the training data
  std::string part_ = "all";
  ScoreOptions scores_;
};

class Score : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "Sentences, one a line");
    add_output(app, "Where log-probability, number of tokens and perplexity of each line go");
    app.add_flag("--json", json_, "Print a JSON object a line");
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    InputFile in(source());
    PlainText plain;
    const ReadOptions& read = model.description().data.read;
    write_for_lines(
        model, in, out, [&](const std::string& line) { plain.check(line, in); },
        [&](Model& mine, dynet::ComputationGraph& /*graph*/, const std::string& line,
            std::size_t /*number*/) { return score(mine, line, read); });
  }

  std::string score(Model& model, const std::string& line, const ReadOptions& read) const {
    const Sentence sentence = read_sentence(line, read);
    const double loss = sentence_losses(model, {model.vocabulary().encode(sentence)})[0];
    const std::size_t tokens = sentence.tokens.size() + 1;
    const double perplexity = std::exp(loss / static_cast<double>(tokens));
    if (json_) {
      return json_line({{"text", line},
                        {"log_probability", -loss},
                        {"tokens", tokens},
                        {"perplexity", perplexity}});
    }
    return fixed(-loss, 4) + "\t" + std::to_string(tokens) + "\t" + fixed(perplexity, 2);
  }

  bool json_ = false;
};

class Sample : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    begin_group(app, kSamplingOptions);
    app.add_option("--count,-n", count_, "Sentences")->transform(InRange(0, 1e9));
    app.add_option("--prefix", prefix_, "What every sentence begins with");
    app.add_option("--temperature", settings_.temperature,
                   "Below 1 the likely becomes likelier; 0 always takes the likeliest")
        ->transform(InRange(0.0, 100.0));
    app.add_option("--longest", settings_.longest, "Most tokens of a sentence")
        ->transform(InRange(1, 1000000));
    app.add_option("--seed", seed_, "Of the draws")->transform(InRange(0, 1e19));
    add_output(app, "Where the sentences go");
    app.add_flag("--json", json_, "Print a JSON object a line");
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    const ReadOptions& read = model.description().data.read;
    const Vocabulary& vocabulary = model.vocabulary();
    const Sentence prefix = read_sentence(prefix_, read);
    const Ids begin = vocabulary.encode(prefix);
    for (std::size_t i = 0; i < begin.size(); ++i) {
      if (begin[i] == Vocabulary::kUnknown) {
        throw UserError("--prefix: the model does not know " + in_quotes(prefix.tokens[i]));
      }
    }
    const std::size_t most = lines_together(model);
    for (std::size_t first = 0; first < count_; first += most) {
      write_shared(
          model, std::min(most, count_ - first), out,
          [&](Model& mine, dynet::ComputationGraph& /*graph*/, std::size_t i) {
            Random random(derived_seed(seed_, first + i));
            std::vector<std::string> tokens;
            for (const unsigned id : sample_sentence(mine, begin, settings_, random))
              tokens.push_back(vocabulary.token(id));
            const std::string text = text_of(tokens, read);
            return std::vector{json_ ? json_line({{"text", text}, {"tokens", tokens}}) : text};
          });
    }
  }

  std::string prefix_;
  std::size_t count_ = 10;
  std::uint64_t seed_ = 1;
  SampleSettings settings_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }
std::unique_ptr<Command> score_command() { return std::make_unique<Score>(); }
std::unique_ptr<Command> sample_command() { return std::make_unique<Sample>(); }

}  // namespace rnnlm
