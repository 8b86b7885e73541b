// Trains, scores and runs a BiLSTM tagger. `tagger --help` and `tagger train --help` say how.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "commands.h"
#include "text.h"

namespace {

using tagger::EvalCommand;
using tagger::TagCommand;
using tagger::TrainCommand;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

const char* const kFormats =
    "conllu, pipe (word|TAG), columns (a word and its tag), bible (verses as printed by the "
    "Debian package bible-kjv) or text (both restore case and punctuation); guessed by default";

/// A number from `low` to `high`; CLI::Range lets "nan" and, for unsigned numbers, "-1" pass.
struct Between : CLI::Validator {
  Between(double low, double high)
      : CLI::Validator(
            [low, high](std::string& text) -> std::string {
              char* end = nullptr;
              const double value = std::strtod(text.c_str(), &end);
              if (end != text.c_str() && *end == '\0' && value >= low && value <= high) return "";
              std::ostringstream message;
              message << tagger::quoted(text) << " is no number from " << low << " to " << high;
              return message.str();
            },
            "") {}
};

void add_train(CLI::App& app, TrainCommand& command) {
  app.add_option("--train", command.train, "Training data")->required();
  app.add_option("--dev", command.dev, "Data that decide which epoch is best and when to stop");
  app.add_option("--test", command.test, "Data to score the best model on in the end");
  app.add_option("--split", command.split,
                 "Cut the training data in three instead, say 90/5/5 for train/dev/test");
  app.add_option("--format", command.format, kFormats);
  app.add_option("--column", command.column,
                 "Column of the tag: a number from 1, or a CoNLL-U name such as XPOS");
  app.add_option("--model,-m", command.model,
                 "File for the best model; MODEL.checkpoint holds what --resume needs")
      ->required();
  app.add_flag("--resume", command.resume, "Go on with the run that MODEL.checkpoint holds");

  tagger::ModelSettings& model = command.model_settings;
  app.add_option(
      "--features", command.features,
      "Views of a word that have vectors, with their sizes: word, lower, shape, "
      "prefixN, suffixN, as in word:128,suffix3:32; default word:128, for bible and text word:64");
  app.add_option("--hidden", model.hidden, "LSTM size in each direction; for bible and text 64")
      ->check(Between(1, 4096));
  app.add_option("--layers", model.layers, "LSTM layers")->check(Between(1, 16));
  app.add_option("--mlp", model.mlp, "Size of a tanh layer before the tags, 0 for none")
      ->check(Between(0, 4096));
  app.add_option("--dropout", model.dropout,
                 "Dropout of what goes into and comes out of the LSTMs; for bible and text 0.2")
      ->check(Between(0.0, 0.95));

  tagger::TrainSettings& settings = command.settings;
  app.add_option("--unknown", settings.unknown,
                 "A word seen n times is hidden in training with probability U / (U + n)")
      ->check(Between(0.0, 1000.0));
  app.add_option("--batch", settings.batch, "Sentences per update")->check(Between(1, 100000));
  app.add_option("--learning-rate", settings.learning_rate, "Of Adam, at the start")
      ->check(Between(1e-9, 10.0));
  app.add_option("--decay", settings.decay,
                 "What an epoch multiplies the learning rate by; for bible and text 0.6")
      ->check(Between(1e-3, 1.0));
  app.add_option("--clip", settings.clip, "Largest gradient norm, 0 for any")
      ->check(Between(0.0, 1e9));
  app.add_option("--seed", settings.seed, "Of everything random")->check(Between(0, 1e19));
  app.add_option("--epochs", settings.epochs, "Most epochs; for bible and text 4")
      ->check(Between(1, 1000000));
  app.add_option("--patience", settings.patience,
                 "Stop after this many epochs without a better dev score, 0 for never")
      ->check(Between(0, 1000000));
  app.add_option("--max-seconds", settings.max_seconds, "Stop after this time, 0 for never")
      ->check(Between(0.0, 1e9));
}

void add_eval(CLI::App& app, EvalCommand& command) {
  app.add_option("--model,-m", command.model, "A model file")->required();
  app.add_option("--data,-d", command.data, "Tagged data")->required();
  app.add_option("--part", command.part,
                 "all, train, dev or test: the part of the data that the model's --split made");
  app.add_option("--show", command.show, "Show so many sentences before and after")
      ->check(Between(0, 1000000));
  app.add_option("--format", command.format, std::string(kFormats) + "; else as in training");
  app.add_option("--column", command.column, "Column of the tag; else as in training");
}

void add_tag(CLI::App& app, TagCommand& command) {
  app.add_option("--model,-m", command.model, "A model file")->required();
  app.add_option("--input,-i", command.input, "Sentences, one a line, words separated by spaces");
  app.add_option("--output,-o", command.output, "Where word|TAG lines or restored text go");
  app.add_flag("--tags", command.tags, "word|TAG lines even if the model restores text");
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int fail(int code, const std::string& message) {
  std::cerr << "tagger: " << one_line(message) << std::endl;
  return code;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Tags words with a BiLSTM: parts of speech, names, or the case and punctuation that a text "
      "has lost.");
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  TrainCommand train;
  EvalCommand eval;
  TagCommand tag;
  CLI::App* train_app = app.add_subcommand("train", "Train a tagger");
  CLI::App* eval_app = app.add_subcommand("eval", "Score a saved tagger");
  CLI::App* tag_app = app.add_subcommand("tag", "Tag new sentences");
  add_train(*train_app, train);
  add_eval(*eval_app, eval);
  add_tag(*tag_app, tag);

  const std::string first = argc > 1 ? argv[1] : "";
  const std::vector<std::string> known = {"train", "eval", "tag", "-h", "--help"};
  if (std::find(known.begin(), known.end(), first) == known.end()) {
    return fail(kWrongUsage,
                (first.empty() ? "no command" : "unknown command " + tagger::quoted(first)) +
                    ": expected train, eval or tag (tagger --help says more)");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return fail(kWrongUsage, std::string(error.what()) + " (tagger --help lists what there is)");
  }
  for (const CLI::Option* option : train_app->get_options()) {
    if (option->count() > 0) train.given.push_back(option->get_name());
  }
  if (train_app->parsed()) tagger::run_train(train);
  if (eval_app->parsed()) tagger::run_eval(eval);
  if (tag_app->parsed()) tagger::run_tag(tag);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(kFailed, "out of memory");
  } catch (const std::exception& error) {
    return fail(kFailed, error.what());
  } catch (...) {
    return fail(kFailed, "an unknown error");
  }
}
