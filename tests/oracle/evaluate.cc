// Values and gradients of operations and models, for compare.py. Reads cases from standard input:
//   NAME  settings: how many, then numbers  operands: how many, then for each its rank, sizes,
//   batch size and elements  weights: how many, then numbers
// and writes for each, as lines of numbers: the sizes of the result with its batch size, its
// elements, and the gradients of the operands, where the loss is the sum of the elements times the
// weights. All but the sizes once in double and once in float.
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <stdexcept>

#include "dynet-like/dynet.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/run/executor.h"
#include "tests/oracle/models.h"

namespace dynet::test {
namespace {

template <class T>
std::vector<T> read_list(std::istream& in, std::size_t n) {
  std::vector<T> v(n);
  for (T& e : v) in >> e;
  return v;
}
template <class T>
std::vector<T> read_list(std::istream& in) {
  std::size_t n = 0;
  in >> n;
  return read_list<T>(in, n);
}

template <class T>
void write(const T* v, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) std::cout << (k ? " " : "") << v[k];
  std::cout << '\n';
}

void read_operands(std::istream& in, Case& c) {
  std::size_t count = 0;
  in >> count;
  for (std::size_t k = 0; k < count; ++k) {
    Dim d;
    in >> d.nd;
    if (!in || d.nd > kMaxTensorDim) throw std::runtime_error("bad operand");
    for (unsigned i = 0; i < d.nd; ++i) in >> d.d[i];
    in >> d.bd;
    if (!in) throw std::runtime_error("bad operand");
    // Parameters have no batch, but can be seen as one.
    Parameter p = c.model.add_parameters({static_cast<unsigned>(d.size())}, ParameterInitConst(0));
    p.set_value(read_list<float>(in, d.size()));
    c.parameters.push_back(p);
    c.x.push_back(reshape(parameter(c.g, p), d));
  }
}

/// The node of a parameter.
NodeId node_of(const GraphStore& graph, const Parameter& p) {
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& n = graph.nodes[id];
    if (n.form->kind == Kind::parameter && graph.attr<ParameterAttr>(n).parameter == &p.stored())
      return id;
  }
  throw std::runtime_error(p.get_fullname() + " is not in the graph");
}

template <class T>
void write_results(Case& c, const Expression& y, const Expression& loss) {
  Executor<T> e(c.g.store());
  e.backward(loss.i);
  write(e.value(y.i), y.dim().size());
  for (const Parameter& p : c.parameters)
    write(e.gradient(node_of(c.g.store(), p)), p.dim().size());
  c.model.reset_gradient();
}

void run(const std::string& name) {
  static const Builders all = all_builders();
  Case c;
  c.name = name;
  c.a = read_list<float>(std::cin);
  read_operands(std::cin, c);
  const auto weights = read_list<float>(std::cin);
  if (!std::cin || !all.count(name)) throw std::runtime_error("cannot read the case " + name);
  const Expression y = all.at(name)(c);
  if (y.dim().size() != weights.size())
    throw std::runtime_error(name + " has " + std::to_string(y.dim().size()) + " values, not " +
                             std::to_string(weights.size()));
  const Expression loss = sum_batches(sum_elems(cmult(y, input(c.g, y.dim(), weights))));
  const Dim d = y.dim();
  for (unsigned k = 0; k < d.nd; ++k) std::cout << d.d[k] << ' ';
  std::cout << d.bd << '\n';
  write_results<double>(c, y, loss);
  write_results<float>(c, y, loss);
}

}  // namespace
}  // namespace dynet::test

int main() {
  std::cout << std::setprecision(17);
  try {
    for (std::string name; std::cin >> name;) dynet::test::run(name);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
