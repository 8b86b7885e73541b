// Members of ComputationGraph for DyNet programs; they call the functions of ops and return the
// number of the node.

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

VariableIndex ComputationGraph::add_input(real s, Device* device) {
  return input(*this, s, device).i;
}
VariableIndex ComputationGraph::add_input(const real* s, Device* device) {
  return input(*this, s, device).i;
}
VariableIndex ComputationGraph::add_input(const Dim& d, const std::vector<float>& data,
                                          Device* device) {
  return input(*this, d, data, device).i;
}
VariableIndex ComputationGraph::add_input(const Dim& d, const std::vector<float>* data,
                                          Device* device) {
  return input(*this, d, data, device).i;
}
VariableIndex ComputationGraph::add_input(const Dim& d, const std::vector<unsigned>& ids,
                                          const std::vector<float>& data, Device* device,
                                          float others) {
  return input(*this, d, ids, data, others, device).i;
}

VariableIndex ComputationGraph::add_parameters(const Parameter& p) { return parameter(*this, p).i; }
VariableIndex ComputationGraph::add_parameters(const LookupParameter& p) {
  return parameter(*this, p).i;
}
VariableIndex ComputationGraph::add_const_parameters(const Parameter& p) {
  return const_parameter(*this, p).i;
}
VariableIndex ComputationGraph::add_const_parameters(const LookupParameter& p) {
  return const_parameter(*this, p).i;
}

#define DYNET_LOOKUP(INDEX)                                                                 \
  VariableIndex ComputationGraph::add_lookup(const LookupParameter& p, INDEX index) {       \
    return lookup(*this, p, index).i;                                                       \
  }                                                                                         \
  VariableIndex ComputationGraph::add_const_lookup(const LookupParameter& p, INDEX index) { \
    return const_lookup(*this, p, index).i;                                                 \
  }
DYNET_LOOKUP(unsigned)
DYNET_LOOKUP(const unsigned*)
DYNET_LOOKUP(const std::vector<unsigned>&)
DYNET_LOOKUP(const std::vector<unsigned>*)
#undef DYNET_LOOKUP

}  // namespace dynet
