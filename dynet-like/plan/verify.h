#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/plan/gradient_layout.h"
#include "dynet-like/plan/plan.h"

namespace dynet {

/// Looks for faults in plans before they run. All functions throw std::logic_error, which names a
/// node: the fault is one of the library, not of its user.
class PlanVerifier {
 public:
  PlanVerifier() = default;
  /// One if the environment variable DYNET_VERIFY is set, as it is for all tests, and not 0. Unless
  /// it is 1
  /// it is the name of a file, to whose end a line for each plan is written, for
  /// tools/compare-builds.
  static std::unique_ptr<PlanVerifier> if_asked_for();

  /// A plan computes every node once and completely, each after its operands. Every operand is
  /// still there when a step reads it, no result lies over another result or an operand of its
  /// step, and what is not freed is there at the end.
  void verify(const GraphStore& graph, const Plan& plan);
  /// The gradients that are kept lie side by side in the blocks of their devices.
  void verify(const GraphStore& graph, std::span<const bool> wanted, const GradientLayout& layout);

 private:
  class Run;
  explicit PlanVerifier(const std::string& log);
  void describe(const GraphStore& graph, const Plan& plan);

  struct State {
    std::uint32_t terms;  // that have been added up, of a sum of products
    bool begun, done;
  };
  struct Piece {
    std::uint64_t end, what;
  };

  std::ofstream log_;
  // Memory that is kept, so that verifying again allocates nothing.
  PodVector<State> states_;  // by node
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::map<std::uint64_t, Piece> pieces_{&pool_};  // by where they begin
};

}  // namespace dynet
