#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dynet-like/param/parameters.h"
#include "dynet-like/train/trainer.h"

namespace dynet {

/// The values of one parameter or table, as a file holds them.
struct SavedTensor {
  std::string name;  ///< relative to the collection
  bool is_lookup = false;
  Dim dim;  ///< of the parameter, or of one row of a table
  std::size_t rows = 1;
  std::vector<float> values;
};

/// The parameters of a collection and below it, parameters first, and their names relative to it.
/// Whole names for the root, `/sub/W`.
std::vector<std::pair<std::string, ParameterStorage*>> named_parameters(
    const ParameterCollection& pc);

/// What was read for parameters and trainers, until it is certain that all of it fits.
class Loading {
 public:
  void add(const ParameterCollection& pc, std::vector<SavedTensor> tensors);
  /// The trainer must outlive this.
  void add(Trainer& trainer, TrainerSnapshot snapshot);
  /// Why what was read does not fit, all reasons at once; empty if it fits.
  std::string problem() const;
  /// Stores everything. To be called if there is no `problem`. Throws OutOfMemoryError, changing
  /// nothing unless several trainers are loaded.
  void commit();

 private:
  struct Values {
    ParameterStorage* to;
    std::vector<float> values;
  };
  std::vector<ParameterCollection> collections_;  // keep the parameters alive
  std::vector<Values> values_;
  std::vector<std::pair<Trainer*, TrainerSnapshot>> trainers_;
  std::vector<std::string> differences_;
};

}  // namespace dynet
