// Trains, scores and runs a BiLSTM tagger. `tagger --help` and `tagger train --help` say how.

#include <string>

#include "commands.h"
#include "examples/nlp/common/command_line.h"

namespace {

using tagger::EvalCommand;
using tagger::TagCommand;
using tagger::TrainCommand;

const char* const kFormats =
    "conllu, pipe (word|TAG), columns (a word and its tag), bible (verses as printed by the "
    "Debian package bible-kjv) or text (both restore case and punctuation); guessed by default";

void add_train(CLI::App& app, TrainCommand& command) {
  nlp::add_run(app, command, "Training data", "Data");
  app.add_option("--split", command.split,
                 "Cut the training data in three instead, say 90/5/5 for train/dev/test");
  app.add_option("--format", command.format, kFormats);
  app.add_option("--column", command.column,
                 "Column of the tag: a number from 1, or a CoNLL-U name such as XPOS");

  tagger::ModelSettings& model = command.model_settings;
  app.add_option(
      "--features", command.features,
      "Views of a word that have vectors, with their sizes: word, lower, shape, "
      "prefixN, suffixN, as in word:128,suffix3:32; default word:128, for bible and text word:64");
  app.add_option("--hidden", model.hidden, "LSTM size in each direction; for bible and text 64")
      ->check(nlp::Between(1, 4096));
  app.add_option("--layers", model.layers, "LSTM layers")->check(nlp::Between(1, 16));
  app.add_option("--mlp", model.mlp, "Size of a tanh layer before the tags, 0 for none")
      ->check(nlp::Between(0, 4096));
  app.add_option("--dropout", model.dropout,
                 "Dropout of what goes into and comes out of the LSTMs; for bible and text 0.2")
      ->check(nlp::Between(0.0, 0.95));

  tagger::TrainSettings& settings = command.settings;
  nlp::add_unknown(app, settings.unknown);
  nlp::add_updates(app, settings, command, "Sentences");
  app.get_option("--decay")->description(
      "What an epoch multiplies the learning rate by; for bible and text 0.6");
  app.get_option("--epochs")->description("Most epochs; for bible and text 4");
}

void add_eval(CLI::App& app, EvalCommand& command) {
  nlp::add_model(app, command);
  app.add_option("--data,-d", command.data, "Tagged data")->required();
  app.add_option("--part", command.part,
                 "all, train, dev or test: the part of the data that the model's --split made");
  app.add_option("--show", command.show, "Show so many sentences before and after")
      ->check(nlp::Between(0, 1000000));
  app.add_option("--format", command.format, std::string(kFormats) + "; else as in training");
  app.add_option("--column", command.column, "Column of the tag; else as in training");
}

void add_tag(CLI::App& app, TagCommand& command) {
  nlp::add_model(app, command);
  app.add_option("--input,-i", command.input, "Sentences, one a line, words separated by spaces");
  app.add_option("--output,-o", command.output, "Where word|TAG lines or restored text go");
  app.add_flag("--tags", command.tags, "word|TAG lines even if the model restores text");
}

}  // namespace

int main(int argc, char** argv) {
  TrainCommand train;
  EvalCommand eval;
  TagCommand tag;
  nlp::CommandLine line(
      "tagger",
      "Tags words with a BiLSTM: parts of speech, names, or the case and punctuation that a text "
      "has lost.");
  add_train(line.command("train", "Train a tagger", [&] { tagger::run_train(train); }), train);
  add_eval(line.command("eval", "Score a saved tagger", [&] { tagger::run_eval(eval); }), eval);
  add_tag(line.command("tag", "Tag new sentences", [&] { tagger::run_tag(tag); }), tag);
  return line.run(argc, argv);
}
