#pragma once

#include <string>

#include "examples/nlp/common/command_line.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// Common part of the command `train`: files, --resume, --force, --report, --device and limits of
/// the run.
class TrainCommand : public Command, public RunOptions {
 public:
  void add_options(CLI::App& app) override;
  /// Runs as one of the processes started by an MPI launcher, if any, and prints their number. An
  /// error in one process ends all.
  void start() override;
  /// Adds the options of the program.
  virtual void add_settings(Options& options) = 0;

 protected:
  /// Contents of the training file, and of the dev and test files, for --help.
  TrainCommand(std::string training, std::string data);

 private:
  /// Runs the command; computation errors name the checkpoint or the initial model.
  void train_on();

  std::string training_, data_;
};

/// Adds --batch, --learning-rate, --decay, --clip and --seed; `samples` is the unit of --batch.
void add_updates(Options& options, TrainSettings& settings, const std::string& samples);
/// Adds --unknown.
void add_unknown(Options& options, TrainSettings& settings);

}  // namespace nlp
