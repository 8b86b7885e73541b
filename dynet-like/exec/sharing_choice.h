#pragma once

#include <cstdint>

namespace dynet {

/// Whether the threads that were offered help with a graph, decided by what graphs have taken with
/// and without them: where graphs are small, waiting for one another may cost more than it gains.
/// Results are the same either way.
///
/// Of every kPeriod graphs the first kTrial are shared out and as many run alone; the others are as
/// was faster for each node.
class SharingChoice {
 public:
  enum class Pass : std::uint8_t { forward, backward };
  static constexpr std::uint64_t kTrial = 8, kPeriod = 1024;

  /// To be called for each graph: whether it is shared out.
  bool begin_graph() {
    const std::uint64_t phase = graphs_++ % kPeriod;
    shared_ = phase < kTrial || (phase >= 2 * kTrial && gains());
    return shared_;
  }
  /// What a pass over this graph has taken, by node.
  void note(Pass pass, double seconds) {
    double& mean = means_[shared_][static_cast<unsigned>(pass)];
    mean = mean == 0 ? seconds : mean + (seconds - mean) * kWeight;
  }
  /// Whether sharing out was faster, by more than is due to chance.
  bool gains() const {
    return means_[1][0] + means_[1][1] < kFaster * (means_[0][0] + means_[0][1]);
  }

 private:
  static constexpr double kWeight = 0.25, kFaster = 0.97;

  std::uint64_t graphs_ = 0;
  bool shared_ = false;
  double means_[2][2] = {};  // alone and shared out, by pass
};

}  // namespace dynet
