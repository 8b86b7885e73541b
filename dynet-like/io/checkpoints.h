#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/io/save.h"

namespace dynet {

/// A folder of files that `save` writes, numbered `checkpoint-<20 digits>.dynet`, of which the
/// newest are kept. Saving is a transaction, so the newest one is always whole. One process writes
/// at a time. Errors are FileError.
class Checkpoints {
 public:
  /// Makes the folder if need be. Keeps the newest `keep`, at least one.
  explicit Checkpoints(std::string folder, std::size_t keep = 3, const SaveOptions& options = {});

  /// Saves things as the next checkpoint, then removes those that are too old. Returns its path.
  template <class... Ts>
  std::string save(const Ts&... things) const {
    std::string path = next_path();
    dynet::save(path, options_, things...);
    remove_old();
    return path;
  }
  /// Loads the newest checkpoint; false if there is none. A damaged one is an error: what is older
  /// is loaded only by its path.
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
