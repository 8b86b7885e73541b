#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"

namespace dynet::test {

/// Input of the builder of an operation or model of the comparison.
struct Case {
  std::string name;
  std::vector<float> a;  ///< settings
  ParameterCollection model;
  ComputationGraph g;
  std::vector<Parameter> parameters;  ///< of the operands
  std::vector<Expression> x;          ///< operands

  unsigned setting(std::size_t k) const { return static_cast<unsigned>(a.at(k)); }
  /// Settings from k on.
  std::vector<unsigned> settings(std::size_t k = 0) const {
    return {a.begin() + static_cast<std::ptrdiff_t>(k), a.end()};
  }
  /// The parameters of `owner` get the values of the operands from `first` on, and take their
  /// place.
  void lend(const ParameterCollection& owner, std::size_t first) {
    for (Parameter p : owner.parameters_list()) {
      p.set_value(as_vector(parameters.at(first).values()));
      parameters[first++] = p;
    }
  }
};

using Builders = std::map<std::string, std::function<Expression(Case&)>>;

/// All builders, by name.
Builders all_builders();
/// Builders of sums over sequences, segments, trees and alignments.
const Builders& structures();
/// Builders of attention and transformers.
const Builders& transformers();
/// Builders of losses over words.
const Builders& softmaxes();

}  // namespace dynet::test
