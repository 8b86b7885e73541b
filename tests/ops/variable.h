#pragma once

#include "dynet-like/dynet.h"

namespace dynet::test {

/// A graph with one parameter in it.
struct Variable {
  ParameterCollection model;
  Parameter p;
  ComputationGraph g;
  Expression x;

  Variable(const Dim& d, const ParameterInit& init)
      : p(model.add_parameters(d, init)), x(parameter(g, p)) {}
  Variable(const Dim& d, const std::vector<float>& values)
      : Variable(d, ParameterInitFromVector(values)) {}
};

}  // namespace dynet::test
