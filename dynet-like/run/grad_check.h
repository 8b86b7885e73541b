#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// Options of `check_gradients`.
struct GradientCheckOptions {
  /// Elements checked of each parameter, and of all used rows of each table together: spread evenly
  /// and always the same ones. Zero: all.
  std::size_t max_elements = 100;
  /// Change of a value of size one, smaller steps are tried where the two gradients disagree: a
  /// kink nearby may be the reason.
  double step = 1e-5;
  /// Only the parameters in this collection and below it.
  const ParameterCollection* only = nullptr;
};

/// How far backward is from the slopes that the loss really has.
///
/// The error of one element is |backward - measured| / max(|backward|, |measured|, floor), where
/// the floor is 1e-5 max(1, |loss|): below it differences of the loss are rounding.
struct GradientReport {
  std::size_t parameters = 0;  ///< parameters and tables checked
  std::size_t elements = 0;    ///< elements checked
  double loss = 0;             ///< in double
  double max_error = 0;        ///< the largest error, infinite for a NaN

  /// The element with the largest error; no name if nothing was checked.
  std::string worst_parameter;
  std::size_t worst_element =
      0;                      ///< in the parameter's memory: of a table, row times row size first
  double worst_backward = 0;  ///< its gradient by backward
  double worst_measured = 0;  ///< and by differences of the loss

  /// Whether no error is larger.
  bool ok(double tolerance = 1e-5) const { return max_error <= tolerance; }
};

/// One line.
std::ostream& operator<<(std::ostream& out, const GradientReport& report);

/// Compares the gradients that backward gives with central differences, both in double precision:
/// the graph of the loss is run again on copies, nothing outside changes. Covers the parameters
/// that the loss depends on and that are not frozen; of lookup tables the rows used. Random nodes
/// keep one draw throughout. A parameter that also reaches the loss by const_parameter or
/// nobackprop has a slope that backward leaves out on purpose: the report shows it as an error.
/// Throws ShapeError unless the loss is one number.
GradientReport check_gradients(const Expression& loss, const GradientCheckOptions& options = {},
                               SourceLocation at = SourceLocation::current());

/// DyNet's form: all elements of the parameters in `m`; true if they agree to a relative 1e-5.
/// Prints nothing, whatever the verbosity.
bool check_grad(ParameterCollection& m, Expression& expr, int verbosity = 1,
                SourceLocation at = SourceLocation::current());

}  // namespace dynet
