#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// Options of `check_gradients`.
struct GradientCheckOptions {
  /// Maximum number of elements to check of each parameter, and of all used rows of each table
  /// together: evenly spaced, the same in every call. Zero: all.
  std::size_t max_elements = 100;
  /// Step of the differences for a value of size one. Smaller steps are tried if the two gradients
  /// disagree, in case of a nearby kink.
  double step = 1e-5;
  /// Collection to check, with everything below it; null: all parameters.
  const ParameterCollection* only = nullptr;
};

/// Difference between the gradients of backward and the measured slopes of the loss.
///
/// The error of an element is |backward - measured| / max(|backward|, |measured|, floor), with
/// floor = 1e-5 max(1, |loss|), below which loss differences are rounding errors.
struct GradientReport {
  std::size_t parameters = 0;  ///< parameters and tables checked
  std::size_t elements = 0;    ///< elements checked
  double loss = 0;             ///< value of the loss in double
  double max_error = 0;        ///< largest error, infinite for a NaN

  /// Element with the largest error; the name is empty if nothing was checked.
  std::string worst_parameter;
  std::size_t worst_element = 0;  ///< index among its values, row after row
  double worst_backward = 0;      ///< gradient of backward
  double worst_measured = 0;      ///< difference quotient of the loss

  /// True if every error is at most `tolerance`.
  bool ok(double tolerance = 1e-5) const { return max_error <= tolerance; }
};

/// Prints one line.
std::ostream& operator<<(std::ostream& out, const GradientReport& report);

/// Compares the gradients of backward with central differences, in double precision: the graph of
/// the loss is evaluated on copies of the parameters, so that nothing outside changes. Covers all
/// parameters that the loss depends on and that are not frozen; of lookup tables the used rows.
/// Random nodes keep one draw for all evaluations. A parameter that also reaches the loss through
/// const_parameter or nobackprop is reported as an error, since backward omits that part of its
/// slope. Throws ShapeError unless the loss is one number.
GradientReport check_gradients(const Expression& loss, const GradientCheckOptions& options = {},
                               SourceLocation at = SourceLocation::current());

/// DyNet's interface: checks all elements of the parameters in `m`; true if the relative error is
/// at most 1e-5. Prints nothing, whatever `verbosity` is.
bool check_grad(ParameterCollection& m, Expression& expr, int verbosity = 1,
                SourceLocation at = SourceLocation::current());

}  // namespace dynet
