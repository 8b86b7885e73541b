#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/exec/random_graph.h"
#include "tests/support/choices.h"

/// A way to run a program. The values are the same in all of them.
struct GraphMode {
  const char* name;
  bool batched = true;
  bool immediate = false;
  bool inference = false;    ///< backward passes are left out
  bool switching = false;    ///< inference and checks go on and off in the middle
  bool check = false;        ///< looks for NaN and infinities
  bool asks = false;         ///< asks for every value as soon as its node is made
  bool interleaved = false;  ///< another graph lives and runs between the actions
  bool full = false;         ///< all backward passes keep all gradients
  std::optional<unsigned> gradient_buffer{};
  dynet::Device* device = nullptr;  ///< of the graph; null: the CPU
};

/// Settings of a random program.
struct GraphProgram {
  unsigned width = 4;         ///< of the vectors
  unsigned actions = 30;      ///< at most
  bool changes = false;       ///< parameters, and what pointers point to, change in the middle
  bool shares_model = false;  ///< with other threads: gradients of parameters are not looked at
};

/// A result that a program requested; a log has them in order.
struct GraphAnswer {
  enum Kind { value, gradient, error } kind;
  std::string what;
  std::vector<float> numbers;  ///< empty if this mode does not tell
};
using GraphLog = std::vector<GraphAnswer>;

/// Builds and runs a graph as `choices` say: nodes are added, values and gradients asked for, the
/// graph run again, checkpoints made and reverted, mistakes made, parameters changed. The mode has
/// no part in the choices.
GraphLog run_program(const GraphProgram& program, Choices choices, const GraphMode& mode,
                     RandomGraph::Model& model);
/// The same over a model of its own.
GraphLog run_program(const GraphProgram& program, const Choices& choices, const GraphMode& mode);

/// In what two logs agree; what is not of the same bits may differ by rounding.
enum class SameBits { none, values, all };

/// The first difference between two logs, or nothing.
std::string first_difference(const GraphLog& expected, const GraphLog& got, SameBits same);
