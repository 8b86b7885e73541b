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

/// Verifies plans before they run. An invalid plan is an error of the library: std::logic_error,
/// with the node.
class PlanVerifier {
 public:
  PlanVerifier() = default;
  /// A verifier if the environment variable DYNET_VERIFY is set and not 0, as in all tests, else
  /// null. A value other than 1 names a log file, to which a line for each plan is appended, for
  /// tools/compare-builds.
  static std::unique_ptr<PlanVerifier> if_asked_for();

  /// Checks that a plan computes every node once and completely, after its operands; that no step
  /// reads an overwritten operand; that a result overlaps neither a result nor an operand of its
  /// step, unless in place; and that every value is intact at the end unless freed.
  void verify(const GraphStore& graph, const Plan& plan);
  /// Checks that exactly the `wanted` nodes have gradients, which do not overlap, in the blocks of
  /// their devices.
  void verify(const GraphStore& graph, std::span<const bool> wanted, const GradientLayout& layout);

 private:
  class Run;
  explicit PlanVerifier(const std::string& log);
  void describe(const GraphStore& graph, const Plan& plan);

  struct State {
    std::uint32_t terms;  // of a sum of products: terms added so far
    bool begun, done;
  };
  struct Piece {
    std::uint64_t end, what;
  };

  std::ofstream log_;
  // Kept between calls, so that verification does not allocate.
  PodVector<State> states_;  // by node
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::map<std::uint64_t, Piece> pieces_{&pool_};  // by first element
};

}  // namespace dynet
