#pragma once

#include <string>

#include "examples/nlp/common/command_line.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// The command `train`, as far as it is the same in all programs: files, --resume, --force,
/// --report, --device and the limits of the run.
class TrainCommand : public Command, public RunOptions {
 public:
  void add_options(CLI::App& app) override;
  /// Runs it as one of the processes that a launcher of MPI has started, if it has, and says how
  /// many there are. An error of one ends all.
  void start() override;
  /// Adds what else the user may choose.
  virtual void add_settings(Options& options) = 0;

 protected:
  /// Contents of the training file, and of the dev and test files, for --help.
  TrainCommand(std::string training, std::string data);

 private:
  /// Runs; computation errors name the file of the checkpoint or of the initial model.
  void train_on();

  std::string training_, data_;
};

/// --batch, --learning-rate, --decay, --clip and --seed; `samples` is what a batch counts.
void add_updates(Options& options, TrainSettings& settings, const std::string& samples);
/// --unknown.
void add_unknown(Options& options, TrainSettings& settings);

}  // namespace nlp
