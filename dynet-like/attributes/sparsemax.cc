#include "dynet-like/attributes/sparsemax.h"

#include <string>

#include "dynet-like/attributes/indices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet {

template <class T>
std::span<const unsigned> read_support(const Batch<T>& b, std::size_t i, std::size_t e,
                                       std::size_t n) {
  const Node& node = b.node(i);
  const auto support =
      read_list_of(b.graph, node, b.template attr<SupportAttr>(i).indices,
                   b.template payload<SupportAttr, unsigned>(i), e, n, "the scores");
  if (support.empty())
    throw IndexError(
        std::string(node.form->name) + ": the support is now empty\n  at " + to_string(b.at(i)),
        b.at(i));
  return support;
}

template std::span<const unsigned> read_support(const Batch<float>&, std::size_t, std::size_t,
                                                std::size_t);
template std::span<const unsigned> read_support(const Batch<double>&, std::size_t, std::size_t,
                                                std::size_t);

}  // namespace dynet
