#pragma once

// The example programs' work with a model file or a checkpoint, for the fuzz target and for the
// test that replays what is in corpus/. A file may say anything: each command ends well, or throws
// what a program shows as one sentence, which names a file.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/base/errors.h"
#include "examples/nlp/classifier/commands.h"
#include "examples/nlp/classifier/train.h"
#include "examples/nlp/common/command_line.h"
#include "examples/nlp/common/silence.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/parser/commands.h"
#include "examples/nlp/parser/train.h"
#include "examples/nlp/rnnlm/commands.h"
#include "examples/nlp/rnnlm/train.h"
#include "examples/nlp/tagger/commands.h"
#include "examples/nlp/tagger/train.h"
#include "examples/nlp/translate/commands.h"
#include "examples/nlp/translate/train.h"
#include "examples/nlp/treelstm/commands.h"
#include "examples/nlp/treelstm/train.h"
#include "examples/vision/digits/commands.h"
#include "examples/vision/digits/train.h"
#include "tests/io/folder.h"
#include "tools/program/errors.h"
#ifdef ANNOTATE_BINARY
#include "examples/nlp/annotate/commands.h"
#include "examples/nlp/annotate/train.h"
#endif
#ifdef EMOJI_BINARY
#include "examples/mixed/emoji/commands.h"
#include "examples/mixed/emoji/train.h"
#endif

namespace dynet::fuzz {

/// A command with its arguments. In these `@name` is a file of the program's folder: `@model` and
/// `@run.checkpoint`, which `--resume -m @run` reads, are what is tried.
struct Use {
  std::unique_ptr<nlp::Command> (*command)();
  std::string arguments;
};

struct FuzzedProgram {
  std::string name;
  std::map<std::string, std::string> files;  ///< data, by name
  std::unique_ptr<nlp::Command> (*train)();
  std::vector<Use> uses;
  /// Options for `train` that make the good models of the corpus, by name; the first one's
  /// checkpoint is kept too.
  std::vector<std::pair<std::string, std::string>> trained;
};

template <class Command>
std::unique_ptr<nlp::Command> train_command() {
  return std::make_unique<Command>();
}

inline std::vector<FuzzedProgram> make_fuzzed_programs() {
  const std::string arcs =
      "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
      "3\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n1\tit\t_\tPRON\t_\t_\t0\troot\t_\t_\n\n";
  std::string pictures;
  for (const char shade : {'0', '9'}) {
    for (int i = 0; i < 64; ++i) pictures += std::string(1, i % 8 < 4 ? shade : '5') + ",";
    pictures += std::string(1, shade) + "\n";
  }
  std::vector<FuzzedProgram> all = {
      {"tagger",
       {{"data", "Ann|B-P Lee|I-P sings|O\nthe|O cat|B-A sings|O\n"},
        {"text", "The cat sings. Ann sleeps!\nThe dog sings.\n"},
        {"in", "Ann sees the cat\n"}},
       train_command<tagger::TrainCommand>,
       {{tagger::eval_command, "-m @model -d @data --show 2"},
        {tagger::tag_command, "-m @model @in --format json --probabilities"},
        {tagger::tag_command, "-m @model @in --nbest 3 --allow-not-finite --format json"},
        {train_command<tagger::TrainCommand>,
         "--train @text --format text --resume -m @run --epochs 2"}},
       {{"words", "--train @data --features word:1,suffix2:1 --hidden 1"},
        {"crf", "--train @data --features charcnn:1,shape:1 --hidden 1 --mlp 2 --crf"},
        {"text", "--train @text --format text --features charlstm:2 --hidden 1"}}},
      {"parser",
       {{"data", arcs}},
       train_command<parser::TrainCommand>,
       {{parser::eval_command, "-m @model -d @data --show 2"},
        {parser::parse_command, "-m @model @data --probabilities --allow-not-finite"}},
       {{"moves", "--train @data --word 1 --tag 1 --hidden 1 --mlp 1 --layers 1 --char 2"},
        {"graph", "--train @data --word 1 --tag 1 --hidden 1 --layers 1 --arc 1 --label 1 --graph"},
        {"crossing",
         "--train @data --word 1 --tag 1 --hidden 1 --layers 2 --arc 1 --label 1 --graph "
         "--crossing"}}},
      {"rnnlm",
       {{"data", "the cat sleeps\nthe dog sleeps\n"}},
       train_command<rnnlm::TrainCommand>,
       {{rnnlm::eval_command, "-m @model -d @data"},
        {rnnlm::score_command, "-m @model @data --json"},
        {rnnlm::sample_command, "-m @model -n 2 --longest 5 --allow-not-finite"}},
       {{"lstm", "--train @data --word 1 --hidden 1 --ngram 2 --min-count 1 --optimizer sgd"},
        {"sampled",
         "--train @data --word 1 --hidden 2 --layers 2 --ngram 0 --loss sampled --samples 2"},
        {"transformer",
         "--train @data --network transformer --word 2 --hidden 2 --heads 1 --layers 1 "
         "--feed-forward 2 --positions learned --context 4 --ngram 3"}}},
      {"treelstm",
       {{"data", "(3 (2 good) (2 film))\n(1 (2 a) (0 (1 bad) (2 film)))\n"}, {"in", "good film\n"}},
       train_command<treelstm::TrainCommand>,
       {{treelstm::eval_command, "-m @model -d @data --show 2"},
        {treelstm::classify_command, "-m @model @data --trees"},
        {treelstm::classify_command, "-m @model @in --json --allow-not-finite"}},
       {{"sentiment", "--train @data --word 1 --hidden 1"},
        {"labels", "--train @data --word 1 --hidden 1 --labels 0,1,2,3 --keep-case"}}},
      {"translate",
       {{"data", "the cat\tdie katze\nthe dog sleeps\tder hund\n"}, {"in", "the cat sleeps\n"}},
       train_command<translate::TrainCommand>,
       {{translate::eval_command, "-m @model -d @data --show 2"},
        {translate::translate_command,
         "-m @model @in --beam 2 --nbest 2 --json --allow-not-finite"}},
       {{"copy",
         "--train @data --hidden 2 --min-count 1 --source-unit word --target-unit word --copy "
         "--attention additive"},
        {"pieces",
         "--train @data --hidden 2 --min-count 1 --source-unit piece --target-unit char --pieces 3 "
         "--average 0.5"},
        {"transformer",
         "--train @data --network transformer --hidden 2 --heads 1 --layers 1 --feed-forward 2 "
         "--min-count 1 --source-unit word --target-unit word"}}},
      {"classifier",
       {{"data", "awake\tthe cat rises\nasleep\tthe cat sleeps\n"}, {"in", "the cat rises\n"}},
       train_command<classifier::TrainCommand>,
       {{classifier::eval_command, "-m @model -d @data --show 2 --per-label --confusion"},
        {classifier::classify_command, "-m @model @in --json --allow-not-finite"}},
       {{"lstm", "--train @data --word 1 --hidden 1 --encoder lstm --keep-case"},
        {"both", "--train @data --word 1 --hidden 1 --filters 1"}}},
      {"digits",
       {{"data", pictures}, {"in.pgm", "P2 2 2 255 0 255 255 0\n"}},
       train_command<digits::TrainCommand>,
       {{digits::eval_command, "-m @model -d @data --pictures @drawn.svg --confusion"},
        {digits::classify_command, "-m @model @in.pgm --json --allow-not-finite"}},
       {{"small", "--train @data --channels 1"},
        {"shifted", "--train @data --channels 1 --size 4x6 --shift 1 --mirror"}}},
  };
#ifdef ANNOTATE_BINARY
  all.push_back(
      {"annotate",
       {{"data",
         "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\tAUX\tV\t_\t3\taux\t_\t_\n"
         "2\tn't\tnot\tPART\tR\t_\t3\tadvmod\t_\t_\n"
         "3\tgo\tgo\tVERB\tV\tMood=Imp\t0\troot\t_\tSpaceAfter=No\n"
         "4\t!\t!\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n" +
             arcs},
        {"in", "don't go! don't go\n\nthe cat sleeps\n"}},
       train_command<annotate::TrainCommand>,
       {{annotate::eval_command, "-m @model -d @data"},
        {annotate::run_command, "-m @model @in --allow-not-finite"}},
       {{"all",
         "--train @data --letter 1 --letter-hidden 1 --word 1 --char 2 --hidden 1 --tree-hidden 1 "
         "--mlp 1 --arc 1 --label 1"}}});
#endif
#ifdef EMOJI_BINARY
  const std::string image(std::size_t{2} * 4 * 64, '8');  // eight lines of eight points
  all.push_back(
      {"emoji",
       {{"data",
         "{\"emoji\":\"A\",\"group\":\"a\",\"subgroup\":\"b\",\"words\":[\"cat\",\"dog\"],"
         "\"row\":{\"age\":9,\"colour\":\"red\"},\"image\":\"" +
             image +
             "\"}\n{\"emoji\":\"B\",\"group\":\"c\",\"subgroup\":\"d\",\"words\":[\"cat\"],"
             "\"row\":{\"age\":2,\"colour\":\"blue\"},\"image\":\"" +
             image + "\"}\n"}},
       train_command<emoji::TrainCommand>,
       {{emoji::eval_command, "-m @model -d @data"},
        {emoji::predict_command, "-m @model @data --json --sheet @drawn.svg --allow-not-finite"}},
       {{"words", "--train @data --word 1 --hidden 2 --split 1/0/0 --inputs text,table"},
        {"all", "--train @data --filters 1 --word 1 --hidden 2 --split 1/0/0"}}});
#endif
  for (FuzzedProgram& program : all) {
    const std::string data =
        program.name == "emoji" ? "--train @data --split 1/0/0" : "--train @data";
    program.uses.push_back({program.train, data + " --init @model -m @begun --epochs 1"});
    program.uses.push_back({program.train, data + " --resume -m @run --epochs 2"});
  }
  return all;
}

inline const std::vector<FuzzedProgram>& fuzzed_programs() {
  static const std::vector<FuzzedProgram> all = make_fuzzed_programs();
  return all;
}

/// The folder of a program: its data, and the file that is tried.
class ProgramDesk {
 public:
  explicit ProgramDesk(const FuzzedProgram& program) : program_(program) {
    for (const auto& [name, text] : program.files) folder_.write(name, text);
  }

  /// Runs a command. Returns the sentence if it fails as programs do.
  std::string run(const Use& use) const {
    const nlp::Silence silence;
    const std::unique_ptr<nlp::Command> command = use.command();
    CLI::App app;
    command->add_options(app);
    std::vector<std::string> arguments;
    std::istringstream words(use.arguments);
    for (std::string word; words >> word;)
      arguments.push_back(word[0] == '@' ? folder_.path(word.substr(1)) : word);
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
    try {
      command->start();
      return "";
    } catch (const Error& error) {
      return sentence(error.what());
    } catch (const nlp::UserError& error) {
      return sentence(error.what());
    } catch (const program::UsageError& error) {
      return sentence(error.what());
    }
  }

  /// Takes bytes for a model and for a checkpoint; says whether any of the commands can use them.
  /// Throws for an error that names no file.
  bool use(const std::string& bytes) const {
    bool used = false;
    for (const Use& use : program_.uses) {
      for (const char* const name : {"run", "begun", "begun.checkpoint"})
        std::filesystem::remove(folder_.path(name));
      folder_.write("model", bytes);
      folder_.write("run.checkpoint", bytes);
      const std::string error = run(use);
      used |= error.empty();
      if (!error.empty() && error.find(folder_.path().string()) == error.npos)
        throw std::logic_error(use.arguments + ": the error names no file: " + error);
    }
    return used;
  }

  /// Trains; returns the model and the checkpoint.
  std::pair<std::string, std::string> train(const std::string& options) const {
    if (const std::string error = run({program_.train, options + " -m @good --epochs 1"});
        !error.empty())
      throw std::logic_error(error);
    const std::string model = folder_.path("good"), checkpoint = folder_.path("good.checkpoint");
    std::pair<std::string, std::string> files = {read_file(model), read_file(checkpoint)};
    std::filesystem::remove(model);
    std::filesystem::remove(checkpoint);
    return files;
  }

 private:
  static std::string sentence(const std::string& what) {
    if (what.empty()) throw std::logic_error("an error says nothing");
    return what;
  }

  const FuzzedProgram& program_;
  TemporaryFolder folder_;
};

}  // namespace dynet::fuzz
