#pragma once

#include <memory>
#include <string>

#include "examples/nlp/common/score.h"
#include "examples/nlp/common/training.h"
#include "tools/program/descriptor.h"

namespace nlp {

/// Report of one epoch of a run.
struct EpochReport {
  unsigned epoch = 0;  ///< from 1
  double share = 1;    ///< less than 1 if the clock ended the run in the midst of the epoch
  double loss = 0;     ///< mean of a unit
  double clipped = 0;  ///< share of the updates whose gradient was clipped
  Figures dev;         ///< empty without dev data
  bool best = false;   ///< the model was saved
  double per_second = 0;
  double seconds = 0;  ///< since the run began or was resumed
};

/// The file of --report: one JSON object a line, written out at once. First the settings, then each
/// epoch, in the end the scores. Of a resumed run it is continued. Throws program::OutputError.
class RunReport {
 public:
  /// Opens the file, unless the run has none, and writes the settings: the options of the run and
  /// these. Of a resumed run that has finished so many epochs, lines of later ones are dropped, for
  /// they will be written again.
  RunReport(const RunOptions& run, const std::string& program, const OptionValues& settings,
            unsigned finished = 0);

  void epoch(const EpochReport& epoch);
  void scores(const std::string& data, const Figures& figures);

  /// Whether an existing file is the report of a run of this program, or empty.
  static bool is_report(const std::string& path, const std::string& program);

 private:
  std::unique_ptr<program::DescriptorBuffer> out_;
};

}  // namespace nlp
