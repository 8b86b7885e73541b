#pragma once

#include <nlohmann/json.hpp>
#include <system_error>

#include "dynet-like/io/contents.h"
#include "tests/examples/program.h"

using dynet::NamedTensor;
using Json = nlohmann::json;

/// The object has these fields, which are written as JSON, and perhaps others.
inline void check_fields(const Json& object, const std::string& fields) {
  INFO(object);
  const Json wanted = Json::parse("{" + fields + "}");
  for (const auto& [name, value] : wanted.items()) CHECK(object.at(name) == value);
}

/// One of the programs as far as all are alike: what it learns from and how small a model may be.
struct AnyProgram {
  Program program;
  std::string sentence;   ///< of training data
  std::string options;    ///< of a small model
  std::string command;    ///< the one that makes lines of lines
  std::string its_input;  ///< a sentence for it

  /// Whether predictions are labels, not texts.
  bool has_labels() const { return program.name != "rnnlm" && program.name != "translate"; }
};

inline const std::vector<AnyProgram>& all_programs() {
  static const std::string conllu =
      "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
      "3\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
  static const std::vector<AnyProgram> all = {
      {{"tagger", TAGGER_BINARY},
       "the|DET cat|NOUN sleeps|VERB\n",
       "--features word:4 --hidden 4",
       "tag",
       "the cat sleeps\n"},
      {{"rnnlm", RNNLM_BINARY},
       "the cat sleeps\n",
       "--word 4 --hidden 4",
       "score",
       "the cat sleeps\n"},
      {{"treelstm", TREELSTM_BINARY},
       "(3 (2 good) (2 film))\n",
       "--word 4 --hidden 4",
       "classify",
       "(3 (2 good) (2 film))\n"},
      {{"parser", PARSER_BINARY},
       conllu,
       "--word 4 --tag 4 --hidden 4 --mlp 4 --layers 1",
       "parse",
       conllu},
      {{"classifier", CLASSIFIER_BINARY},
       "awake\tthe cat rises\nasleep\tthe cat sleeps\n",
       "--word 4 --hidden 4 --filters 4",
       "classify",
       "the cat sleeps\n"},
      {{"translate", TRANSLATE_BINARY},
       "the cat sleeps\tdie katze schläft\n",
       "--hidden 4 --min-count 1 --source-unit word --target-unit word",
       "translate",
       "the cat sleeps\n"},
  };
  return all;
}

/// A new folder of a program. Scripts of the shell run there; in them `p` is the program.
class ProgramFolder {
 public:
  explicit ProgramFolder(const Program& program) : program_(program) {
    std::filesystem::create_directories(path(""));
  }

  const Program& program() const { return program_; }

  Result sh(const std::string& script) const {
    // The quota is for a program that would read what it writes, and never end.
    const std::string prelude = "ulimit -f 100000; cd '" + path("") + "'; p() { '" +
                                program_.binary + "' \"$@\"; }\n" + functions_;
    return Program{"sh", "/bin/sh"}.run(folder_, {"-c", prelude + script});
  }
  /// The same, of a script that must succeed.
  Result done(const std::string& script) const {
    Result result = sh(script);
    INFO(program_.name << ": " << script << "\n" << result.out << result.err);
    REQUIRE(result.code == 0);
    return result;
  }
  std::string must(const std::string& script) const { return done(script).out; }
  /// The script fails with this status and one line that has the message in it, and no file is
  /// another one than before.
  void refuses(const std::string& script, int code, const std::string& message) const {
    INFO(program_.name << ": " << script);
    CHECK(refuses(script, message) == code);
  }
  /// The same with any status, which is returned.
  int refuses(const std::string& script, const std::string& message) const {
    const Strings before = contents();
    const Result result = sh(script);
    INFO(program_.name << ": " << script << "\n" << result.out << result.err);
    CHECK_FALSE(contains(result.out + result.err, "epoch 1"));
    program_.check_refused(result, message);
    CHECK(contents() == before);
    return result.code;
  }

  std::string read(const std::string& name) const { return read_file(path(name)); }
  void write(const std::string& name, const std::string& text) const {
    folder_.write("desk/" + name, text);
  }
  std::string path(const std::string& name) const { return folder_.path("desk/" + name); }
  /// Whether two models have the same weights, whatever they say of the runs that made them.
  bool same_weights(const std::string& a, const std::string& b) const {
    const auto bytes = [&](const std::string& name) {
      std::string all;
      for (const NamedTensor& t : dynet::read_tensors(path(name))) all += t.name + t.bytes;
      return all;
    };
    return bytes(a) == bytes(b);
  }
  /// The names of all files, sorted, with the bytes of each.
  Strings contents() const {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(""))) {
      std::string text = entry.path().string();
      std::error_code links_to_itself;
      if (entry.is_regular_file(links_to_itself)) text += ": " + read_file(text);
      all.insert(text);
    }
    return {all.begin(), all.end()};
  }
  Strings names() const {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path("")))
      all.insert(entry.path().filename().string());
    return {all.begin(), all.end()};
  }

 protected:
  std::string functions_;  ///< of the shell, which scripts begin with

 private:
  TemporaryFolder folder_;
  const Program program_;
};

/// A folder with `data` to learn from and `in` for the command that makes lines of lines. In
/// scripts `train` trains a small model, on `data` unless DATA names another file, and `apply` is
/// that command with `model`; `start` does the same in place of the shell, with signals as a
/// terminal sends them, and `start_training` does what `train` does.
class Desk : public ProgramFolder {
 public:
  /// `first` is a script that must succeed.
  explicit Desk(const AnyProgram& of, int sentences = 40, const std::string& first = "")
      : ProgramFolder(of.program) {
    const std::string start = "exec env --default-signal=INT '" + of.program.binary + "' ",
                      usual = " --epochs ${EPOCHS:-1} --patience 0 " + of.options + " \"$@\"; }\n",
                      applied = of.command + " -m model \"$@\"; }\n";
    functions_ = "train() { p train --train \"${DATA:-data}\"" + usual + "apply() { p " + applied +
                 "start() { " + start + applied + "start_training() { " + start +
                 "train --train data" + usual;
    std::string data, in;
    for (int i = 0; i < sentences; ++i) {
      data += of.sentence;
      in += of.its_input;
    }
    write("data", data);
    write("in", in);
    if (!first.empty()) must(first);
  }
};

/// Calls `test(program, desk)` for each program, with a desk of its own where `first` has run.
template <typename Test>
void on_desks(int sentences, const std::string& first, Test test) {
  for (const AnyProgram& each : all_programs()) {
    INFO(each.program.name);
    test(each, Desk(each, sentences, first));
  }
}
template <typename Test>
void on_desks(const std::string& first, Test test) {
  on_desks(40, first, test);
}

inline const AnyProgram& any_program(const std::string& name) {
  for (const AnyProgram& each : all_programs())
    if (each.program.name == name) return each;
  throw std::logic_error("no program " + name);
}
