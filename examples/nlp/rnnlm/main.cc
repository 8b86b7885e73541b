// Trains, evaluates and uses a language model. `rnnlm --help` and `rnnlm train --help` say how.

#include <string>

#include "commands.h"
#include "examples/nlp/common/command_line.h"

namespace {

using nlp::Between;
using rnnlm::EvalCommand;
using rnnlm::SampleCommand;
using rnnlm::ScoreCommand;
using rnnlm::TrainCommand;

const char* const kFormats =
    "text (one sentence a line) or bible (verses as printed by the Debian package bible-kjv); "
    "guessed by default";

void add_train(CLI::App& app, TrainCommand& command) {
  nlp::add_run(app, command, "Training data", "Data");
  app.add_option("--split", command.split,
                 "Cut the training data in three instead, say 90/5/5 for train/dev/test");
  app.add_option("--format", command.format, kFormats);
  app.add_option("--level", command.level, "What is predicted: word or char");
  app.add_flag("--lower", command.data.read.lower, "Lower-case all letters of the data");
  app.add_option("--min-count", command.data.min_count,
                 "Tokens that training has less often are unknown; for char 1")
      ->check(Between(1, 1000000));
  app.add_option("--ngram", command.data.ngram,
                 "Order of the n-gram model to compare with, 0 for none; for char 5")
      ->check(Between(0, 9));

  rnnlm::ModelSettings& model = command.model_settings;
  app.add_option("--word", model.word, "Size of a token's vector; for char 32")
      ->check(Between(1, 4096));
  app.add_option("--hidden", model.hidden, "LSTM size")->check(Between(1, 4096));
  app.add_option("--layers", model.layers, "LSTM layers")->check(Between(1, 16));
  app.add_option("--dropout", model.dropout,
                 "Dropout of what goes into each layer and comes out of the last; for char 0.1")
      ->check(Between(0.0, 0.95));
  app.add_option("--loss", command.loss,
                 "Softmax of training: full, or sampled for large vocabularies");
  app.add_option("--samples", model.samples, "Samples per minibatch of the sampled softmax")
      ->check(Between(1, 1000000));

  rnnlm::TrainSettings& settings = command.settings;
  app.add_option("--optimizer", command.optimizer, "adam or sgd");
  app.add_option("--batch-tokens", settings.tokens,
                 "Most tokens per update, with padding; a longer sentence goes alone")
      ->check(Between(1, 1e9));
  app.add_option("--truncate", settings.truncate, "Steps that gradients go back at most")
      ->check(Between(1, 1000000));
  nlp::add_updates(app, settings, command, "Sentences");
  app.get_option("--learning-rate")->description("At the start; for sgd 1");
}

void add_eval(CLI::App& app, EvalCommand& command) {
  nlp::add_model(app, command);
  app.add_option("--data,-d", command.data, "Sentences")->required();
  app.add_option("--part", command.part,
                 "all, train, dev or test: the part of the data that the model's --split made");
  app.add_option("--format", command.format, std::string(kFormats) + "; else as in training");
}

void add_score(CLI::App& app, ScoreCommand& command) {
  nlp::add_model(app, command);
  app.add_option("--input,-i", command.input, "Sentences, one a line");
  app.add_option("--output,-o", command.output,
                 "Where log-probability, number of tokens and perplexity of each line go");
}

void add_sample(CLI::App& app, SampleCommand& command) {
  nlp::add_model(app, command);
  app.add_option("--count,-n", command.count, "Sentences")->check(Between(0, 1e9));
  app.add_option("--prefix", command.prefix, "What every sentence begins with");
  app.add_option("--temperature", command.settings.temperature,
                 "Below 1 the likely becomes likelier; 0 always takes the likeliest")
      ->check(Between(0.0, 100.0));
  app.add_option("--longest", command.settings.longest, "Most tokens of a sentence")
      ->check(Between(1, 1000000));
  app.add_option("--seed", command.seed, "Of the draws")->check(Between(0, 1e19));
  app.add_option("--output,-o", command.output, "Where the sentences go");
}

}  // namespace

int main(int argc, char** argv) {
  TrainCommand train;
  EvalCommand eval;
  ScoreCommand score;
  SampleCommand sample;
  nlp::CommandLine line("rnnlm", "A language model of words or characters with an LSTM.");
  add_train(line.command("train", "Train a model", [&] { rnnlm::run_train(train); }), train);
  add_eval(line.command("eval", "Perplexity of a text", [&] { rnnlm::run_eval(eval); }), eval);
  add_score(line.command("score", "Log-probability of each line", [&] { rnnlm::run_score(score); }),
            score);
  add_sample(line.command("sample", "Draw sentences", [&] { rnnlm::run_sample(sample); }), sample);
  return line.run(argc, argv);
}
