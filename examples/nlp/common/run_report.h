#pragma once

#include <memory>
#include <string>

#include "dynet-like/profile/tensorboard.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/training.h"
#include "tools/program/descriptor.h"

namespace nlp {

/// Report of one epoch of a run.
struct EpochReport {
  unsigned epoch = 0;  ///< from 1
  double share = 1;    ///< below 1 if the time limit ended the run within the epoch
  double loss = 0;     ///< mean per unit
  double clipped = 0;  ///< share of updates with clipped gradients
  Figures dev;         ///< empty without dev data
  bool best = false;   ///< true: the model was saved
  double per_second = 0;
  double seconds = 0;  ///< since the start of the run or its resumption
};

/// The file of --report: one JSON object per line, flushed immediately: the settings, each epoch,
/// and the final scores. A resumed run appends to it. The folder of --tensorboard gets the numbers
/// of epochs and scores, and histograms of the parameters. Throws program::OutputError and
/// dynet::FileError.
class RunReport {
 public:
  /// Opens the file, if the run has one, and writes the options of the run and these settings. A
  /// resumed run with `finished` epochs first drops the lines of later epochs, which it repeats.
  /// Histograms are of `parameters`, if given.
  RunReport(const RunOptions& run, const std::string& program, const OptionValues& settings,
            unsigned finished = 0, const dynet::ParameterCollection* parameters = nullptr);

  void epoch(const EpochReport& epoch);
  void scores(const std::string& data, const Figures& figures);

  /// True if an existing file is empty or the report of a run of this program.
  static bool is_report(const std::string& path, const std::string& program);

 private:
  std::unique_ptr<program::DescriptorBuffer> out_;
  std::unique_ptr<dynet::TensorBoardWriter> board_;
  const dynet::ParameterCollection* const parameters_;  // or null
  unsigned epochs_;                                     // finished ones
};

}  // namespace nlp
