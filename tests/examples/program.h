#pragma once

#include <sys/wait.h>

#include "tests/examples/helpers.h"

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kBrokenPipe = 128 + 13;

struct Result {
  int code = -1;  ///< exit status, -1 if the program was killed
  std::string out;
  std::string err;
};

/// A program as its user meets it: each run is a process of its own.
struct Program {
  std::string name;  ///< what its messages begin with
  std::string binary;

  Result run(const TemporaryFolder& folder, const Strings& arguments,
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
    CHECK(result.err.starts_with(name + ": "));
    CHECK(result.err.find('\n') == result.err.size() - 1);
  }

  static std::string shell_word(const std::string& text) {
    std::string result = "'";
    for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
  }
};

inline Strings with(Strings command, const Strings& more) {
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

/// Probabilities such as "a:0.5 b:0.3" never rise and add up to one.
inline void check_probabilities(const std::string& text) {
  double sum = 0, last = 1;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const double p = std::strtod(word.c_str() + word.find(':') + 1, nullptr);
    CHECK(p <= last);
    sum += last = p;
  }
  CHECK(sum == Approx(1).margin(0.0016));
}

inline Strings lines_of(const std::string& text) {
  REQUIRE((text.empty() || text.back() == '\n'));
  Strings lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
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
