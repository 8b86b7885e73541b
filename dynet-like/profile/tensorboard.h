#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>

namespace dynet {

class ParameterCollection;

/// Writes training curves and histograms for TensorBoard, without TensorFlow: event files in the
/// format of TensorFlow's `Event` protocol buffer (tensorflow/core/util/event.proto).
///
///     dynet::TensorBoardWriter board("runs/1");
///     board.add_scalar("loss/train", loss, update);
///     board.add_parameters(model, epoch);
///
/// Whole records are written, at least every 30 seconds and at the end. All functions throw
/// FileError if the folder or a file cannot be written; records that could not be written go into a
/// new file.
class TensorBoardWriter {
 public:
  /// A new file in a folder, which is made. `resumed_at`: the first step of a run that goes on;
  /// TensorBoard then shows no later steps of earlier files.
  explicit TensorBoardWriter(const std::string& folder,
                             std::optional<std::int64_t> resumed_at = {});
  /// Flushes, without an exception.
  ~TensorBoardWriter();
  TensorBoardWriter(const TensorBoardWriter&) = delete;
  TensorBoardWriter& operator=(const TensorBoardWriter&) = delete;

  /// Adds a point to the curve `tag`, such as "loss/dev".
  void add_scalar(const std::string& tag, double value, std::int64_t step);
  /// Adds a histogram of numbers, without those that are not finite.
  void add_histogram(const std::string& tag, std::span<const float> numbers, std::int64_t step);
  /// Adds a histogram of the values of each parameter and table, under its name.
  void add_parameters(const ParameterCollection& model, std::int64_t step);
  /// Adds a histogram of the gradients of each parameter and table, under "gradients" and its name.
  /// Call it between `backward` and `update`.
  void add_gradients(const ParameterCollection& model, std::int64_t step);
  /// Writes everything.
  void flush();

 private:
  void add_event(std::int64_t step, const std::string& field);
  void open();

  const std::string folder_;
  std::ofstream file_;
  std::string path_;
  std::string waiting_;  // records
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace dynet
