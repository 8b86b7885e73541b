#include <ostream>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/expression.h"
#include "dynet-like/graph/graph_state.h"

namespace dynet {

std::ostream& operator<<(std::ostream& out, const Expression& e) {
  if (e.is_stale()) return out << "stale expression\n";
  const Tensor value = e.value();
  out << describe(e.state->store, e.i) << "\nvalue " << value.d << '\n' << value;
  try {
    const Tensor gradient = e.gradient();
    out << "gradient " << gradient.d << '\n' << gradient;
  } catch (const GradientError&) {  // no backward pass has reached the node
  }
  return out;
}

}  // namespace dynet
