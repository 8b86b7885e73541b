#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/io/save.h"

namespace dynet {

/// A folder of files written by `save`, numbered `checkpoint-<20 digits>.dynet`; only the newest
/// ones are kept. Each save is atomic, so the newest checkpoint is always complete. Only one
/// process may write at a time. Errors are FileError.
class Checkpoints {
 public:
  /// Creates the folder if it does not exist. `keep`: number of checkpoints kept, at least one.
  explicit Checkpoints(std::string folder, std::size_t keep = 3, const SaveOptions& options = {});

  /// Saves things as the next checkpoint, then removes the oldest ones. Returns its path.
  template <class... Ts>
  std::string save(const Ts&... things) const {
    std::string path = next_path();
    dynet::save(path, options_, things...);
    remove_old();
    return path;
  }
  /// Loads the newest checkpoint; returns false if there is none. A damaged checkpoint is an error;
  /// older ones must be loaded by their path.
  template <class... Ts>
  bool load(Ts&... things) const {
    const std::vector<std::string> all = paths();
    if (all.empty()) return false;
    LoadOptions options;
    options.files = options_.files;
    dynet::load(all.back(), options, things...);
    return true;
  }
  /// All checkpoints, the oldest first.
  std::vector<std::string> paths() const;

 private:
  std::string next_path() const;
  void remove_old() const;

  std::string folder_;
  std::size_t keep_;
  SaveOptions options_;
};

}  // namespace dynet
