#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "examples/nlp/common/device.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// A number from `low` to `high`; CLI::Range lets "nan" and, for unsigned numbers, "-1" pass.
struct Between : CLI::Validator {
  Between(double low, double high);
};

/// --device: the name of a device that there is.
void add_device(CLI::App& command, dynet::Device*& device);

/// --model and --device, of commands that use a saved model.
void add_model(CLI::App& command, SavedModel& model);

/// --train, --dev, --test, --model, --resume, --force and --device; `run` also notes which options
/// were given. The texts say what the training file holds, and what the others hold, for --help.
void add_run(CLI::App& command, RunOptions& run, const std::string& training,
             const std::string& data);

/// --unknown.
void add_unknown(CLI::App& command, float& unknown);

/// --epochs, --patience and --max-seconds.
void add_limits(CLI::App& command, TrainLimits& limits);

/// --batch, --learning-rate, --decay, --clip, --seed and the limits of the run.
template <class Settings>
void add_updates(CLI::App& command, Settings& settings, RunOptions& run,
                 const std::string& samples) {
  command.add_option("--batch", settings.batch, samples + " per update")->check(Between(1, 100000));
  command.add_option("--learning-rate", settings.learning_rate, "Of Adam, at the start")
      ->check(Between(1e-9, 100.0));
  command.add_option("--decay", settings.decay, "What an epoch multiplies the learning rate by")
      ->check(Between(1e-3, 1.0));
  command.add_option("--clip", settings.clip, "Largest gradient norm, 0 for any")
      ->check(Between(0.0, 1e9));
  command.add_option("--seed", settings.seed, "Of everything random")->check(Between(0, 1e19));
  add_limits(command, run.limits);
}

/// A program that is called as `name command --option value ...`, by program::run.
class CommandLine {
 public:
  CommandLine(std::string name, const std::string& description);

  /// A new command, to add options to; `action` runs once they are read.
  CLI::App& command(const std::string& command, const std::string& description,
                    std::function<void()> action);

  /// Runs the command that the arguments name. Returns the exit status: 1 if it failed,
  /// program::kWrongUsage if the arguments were wrong.
  int run(int argc, char** argv);

 private:
  int parse_and_act(int argc, char** argv);

  std::string name_;
  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::function<void()>>> commands_;
};

}  // namespace nlp
