#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/run/random_graph.h"
#include "tests/support/choices.h"

/// A way to run a program. All modes have the same values.
struct GraphMode {
  const char* name;
  bool batched = true;
  bool immediate = false;
  bool inference = false;    ///< without backward passes
  bool switching = false;    ///< inference and checks are switched between actions
  bool check = false;        ///< with the validity check
  bool asks = false;         ///< requests every value as soon as its node is made
  bool interleaved = false;  ///< with a second graph that runs between the actions
  bool full = false;         ///< backward passes store all gradients
  std::optional<unsigned> gradient_buffer{};
  dynet::Device* device = nullptr;  ///< of the graph; null: the CPU
};

/// Settings of a random program.
struct GraphProgram {
  unsigned width = 4;         ///< size of the vectors
  unsigned actions = 30;      ///< upper bound
  bool changes = false;       ///< parameters and targets of pointers change in the middle
  bool shares_model = false;  ///< with other threads: gradients of parameters are not compared
};

/// A result of a program; the log lists results in order.
struct GraphAnswer {
  enum Kind { value, gradient, error } kind;
  std::string what;
  std::vector<float> numbers;  ///< empty if the mode has no such result
};
using GraphLog = std::vector<GraphAnswer>;

/// Builds and runs a graph as `choices` determine: adds nodes, requests values and gradients, runs
/// forward again, makes and reverts checkpoints, provokes errors, changes parameters. The choices
/// do not depend on the mode.
GraphLog run_program(const GraphProgram& program, Choices choices, const GraphMode& mode,
                     RandomGraph::Model& model);
/// Runs the program over a new model.
GraphLog run_program(const GraphProgram& program, const Choices& choices, const GraphMode& mode);

/// Results of two logs that must have the same bits; all others may differ by rounding.
enum class SameBits { none, values, all };

/// Description of the first difference between two logs; empty if there is none.
std::string first_difference(const GraphLog& expected, const GraphLog& got, SameBits same);
