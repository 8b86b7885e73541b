#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

struct Result {
  int code = -1;  ///< exit status, -1 if the program was killed
  std::string out;
  std::string err;
};

/// A program as its user meets it: each run is a process of its own.
struct Program {
  std::string name;  ///< what its messages begin with
  std::string binary;

  Result run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
             const std::string& input = "") const {
    const std::string in = folder.write("stdin", input);
    const std::string out = folder.path("stdout");
    const std::string err = folder.path("stderr");
    // Models have a date, and are compared.
    std::string command = "SOURCE_DATE_EPOCH=0 " + shell_word(binary);
    for (const std::string& argument : arguments) command += " " + shell_word(argument);
    command += " < " + shell_word(in) + " > " + shell_word(out) + " 2> " + shell_word(err);
    const int status = std::system(command.c_str());
    Result result;
    if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
    result.out = read_file(out);
    result.err = read_file(err);
    return result;
  }

  /// It failed with one line that begins with its name and contains the message.
  void check_refused(const Result& result, const std::string& message) const {
    INFO(result.err);
    CHECK(result.code > 0);
    CHECK(contains(result.err, message));
    CHECK(result.err.rfind(name + ": ", 0) == 0);
    CHECK(result.err.find('\n') == result.err.size() - 1);
  }

  static std::string shell_word(const std::string& text) {
    std::string result = "'";
    for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
  }
};

inline std::vector<std::string> with(std::vector<std::string> command,
                                     const std::vector<std::string>& more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

/// The part of the output that begins with `start`.
inline std::string from(const std::string& text, const std::string& start) {
  const std::size_t at = text.find(start);
  return at == std::string::npos ? "no '" + start + "' in: " + text : text.substr(at);
}

inline std::string line_with(const std::string& text, const std::string& part) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (contains(line, part)) return line;
  }
  return "no line with '" + part + "' in: " + text;
}

/// The command with another value behind an option.
inline std::vector<std::string> replaced(std::vector<std::string> command,
                                         const std::string& option, const std::string& value) {
  for (std::size_t i = 0; i + 1 < command.size(); ++i) {
    if (command[i] == option) command[i + 1] = value;
  }
  return command;
}

/// The figures of a line, without the signs behind them.
inline std::vector<double> numbers_of(const std::string& line) {
  std::vector<double> numbers;
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (end != word.c_str() && *end == '\0') numbers.push_back(value);
  }
  return numbers;
}

/// Printed losses of `epochs` epochs of training.
inline std::string losses_of(const Result& trained, int epochs) {
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  std::string text;
  for (int i = 1; i <= epochs; ++i) {
    const std::string line = line_with(trained.out, "epoch " + std::to_string(i) + ": loss");
    text += line.substr(0, line.find(',')) + "\n";
  }
  return text;
}

/// A run that `train(model, more options)` starts and the clock stops goes on where it was, and
/// ends where an unbroken one does: `score(model)` is the same.
template <typename Train, typename Score>
void check_stopped_by_clock(Train train, Score score) {
  REQUIRE(train("whole", {}).code == 0);
  const Result stopped = train("parts", {"--max-seconds", "1e-6"});
  REQUIRE(stopped.code == 0);
  CHECK(contains(stopped.out, "epoch 1 ("));
  CHECK(contains(stopped.out, "as --max-seconds asks"));
  const Result resumed = train("parts", {"--resume"});
  INFO(resumed.out + resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(contains(resumed.out, "resuming after epoch 0 and 1 updates"));
  CHECK(score("parts") == score("whole"));
}

/// `eval(file)` refuses what is left of a model file that was cut, and one in which a bit is
/// another.
template <typename Eval>
void check_broken_models(const Program& program, const TemporaryFolder& folder,
                         const std::string& model, Eval eval) {
  const std::string bytes = read_file(model);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
    program.check_refused(eval(folder.write("cut.model", bytes.substr(0, size))), "cut.model");
  }
  std::string changed = bytes;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  program.check_refused(eval(folder.write("altered.model", changed)), "altered.model");
  program.check_refused(eval(folder.write("text.model", "this is not a model\n")), "text.model");
  program.check_refused(
      eval(model + ".checkpoint"),
      "holds '" + program.name + " checkpoint 1', expected '" + program.name + " model 1'");
}
