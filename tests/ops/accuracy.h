#pragma once

#include "dynet-like/run/executor.h"
#include "tests/support/prelude.h"

// How right elementwise functions are, relative to what they should be, over the whole range of
// float.

namespace dynet::test {

using Exact = long double;

struct AccuracyCase {
  std::string name;
  std::function<Expression(const Expression&)> build;
  std::function<Exact(Exact)> value, slope;
  /// The error of the gradient is relative to this where the gradient is smaller.
  std::function<Exact(Exact)> least_slope = [](Exact) { return Exact(0); };
};
std::vector<AccuracyCase> accuracy_cases();

struct BinaryAccuracyCase {
  std::string name;
  std::function<Expression(const Expression&, const Expression&)> build;
  std::function<Exact(Exact, Exact)> value, slope_x, slope_y;
  std::vector<float> x, y;  ///< all pairs of them
};
std::vector<BinaryAccuracyCase> binary_accuracy_cases();

/// The errors may be this part of the exact number.
struct Bounds {
  Exact relative;
  Exact smallest;  ///< what is below this may be zero
};
template <class T>
Bounds bounds();

/// Makes what runs a graph.
template <class T>
using MakeRunner = std::function<Backend<T>()>;

template <class T>
void check_accuracy(const AccuracyCase& c, const MakeRunner<T>& make);
template <class T>
void check_accuracy(const BinaryAccuracyCase& c, const MakeRunner<T>& make);

}  // namespace dynet::test
