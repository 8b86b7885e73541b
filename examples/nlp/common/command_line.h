#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "examples/nlp/common/training.h"

namespace nlp {

/// A number from `low` to `high`; CLI::Range lets "nan" and, for unsigned numbers, "-1" pass.
struct Between : CLI::Validator {
  Between(double low, double high);
};

/// The options that the user gave to a command, by name.
std::vector<std::string> given_options(const CLI::App& command);

/// --epochs, --patience and --max-seconds.
void add_limits(CLI::App& command, TrainLimits& limits);

/// A program that is called as `name command --option value ...`. Whatever goes wrong becomes one
/// line on standard error that begins with the name.
class CommandLine {
 public:
  CommandLine(std::string name, const std::string& description);

  /// A new command, to add options to; `action` runs once they are read.
  CLI::App& command(const std::string& command, const std::string& description,
                    std::function<void()> action);

  /// Runs the command that the arguments name. Returns the exit status: 1 if it failed, 2 if the
  /// arguments were wrong.
  int run(int argc, char** argv);

 private:
  int parse_and_act(int argc, char** argv);
  int fail(int code, const std::string& message) const;

  std::string name_;
  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::function<void()>>> commands_;
};

}  // namespace nlp
