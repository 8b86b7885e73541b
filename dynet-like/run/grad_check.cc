#include "dynet-like/run/grad_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/random.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/run/executor.h"

namespace dynet {
namespace {

/// Checked part of one parameter: all of it, or some rows of a table.
struct Target {
  ParameterStorageBase* parameter;
  bool whole = false;
  std::set<unsigned> rows;

  std::size_t size() const {
    return whole ? parameter->size() : rows.size() * parameter->row_size();
  }
};

/// The trained parameters of nodes [0, last], in order of first use.
std::vector<Target> find_targets(const GraphStore& graph, NodeId last,
                                 const ParameterCollection* only) {
  std::vector<Target> targets;
  const auto target = [&](ParameterStorageBase* p) -> Target* {
    if (only && !only->node().contains(p->collection)) return nullptr;
    for (Target& t : targets)
      if (t.parameter == p) return &t;
    return &targets.emplace_back(Target{p, false, {}});
  };
  for (NodeId id = 0; id <= last; ++id) {
    const Node& n = graph.nodes[id];
    if (!n.needs_gradient()) continue;
    if (n.form->kind == Kind::parameter) {
      if (Target* t = target(graph.attr<ParameterAttr>(n).parameter)) t->whole = true;
    } else if (n.form->kind == Kind::lookup) {
      const auto& attr = graph.attr<LookupAttr>(n);
      Target* t = target(attr.table);
      if (!t) continue;
      const unsigned* rows =
          read_indices(attr.indices, graph.payload<LookupAttr, unsigned>(n), n.form->name);
      t->rows.insert(rows, rows + attr.indices.count);
    }
  }
  return targets;
}

/// At most `most` elements of a target, as indices into its values.
std::vector<std::size_t> choose_elements(const Target& target, std::size_t most) {
  const std::size_t size = target.size(), row = target.parameter->row_size();
  const std::size_t count = most == 0 ? size : std::min(size, most);
  const std::vector<unsigned> rows(target.rows.begin(), target.rows.end());
  const RandomStream random(size);
  std::vector<std::size_t> chosen(count);
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t e = k;
    if (count < size)  // one element from each of `count` equal intervals
      e = static_cast<std::size_t>((static_cast<double>(k) + random.uniform(k)) *
                                   static_cast<double>(size) / static_cast<double>(count));
    e = std::min(e, size - 1);
    chosen[k] = target.whole ? e : rows[e / row] * row + e % row;
  }
  return chosen;
}

class Checker {
 public:
  Checker(const GraphStore& graph, const Expression& loss)
      : run_(graph), loss_(loss.i), result_(loss.result) {}

  double loss() {
    run_.rewind();
    run_.forward(loss_);
    return *run_.value(loss_, result_);
  }
  void backward() { run_.backward(loss_, false, result_); }
  ParameterAccess<double>::Copy& copy(ParameterStorageBase* p) {
    return run_.parameters().copies().at(p);
  }
  double slope(double& value, double step) {
    const double middle = value;
    step *= std::max(1.0, std::abs(middle));
    value = middle + step;
    const double up = value, above = loss();
    value = middle - step;
    const double down = value, below = loss();
    value = middle;
    return (above - below) / (up - down);
  }

 private:
  Executor<double> run_;
  NodeId loss_;
  std::uint32_t result_;
};

double relative_error(double a, double b, double floor) {
  if (a == b) return 0;
  const double error = std::abs(a - b) / std::max({std::abs(a), std::abs(b), floor});
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

}  // namespace

GradientReport check_gradients(const Expression& loss, const GradientCheckOptions& options,
                               SourceLocation at) {
  const Dim& dim = loss.dim(at);  // throws for a stale expression
  const GraphStore& graph = loss.pg->store();
  if (dim.size() != 1)
    throw ShapeError("check_gradients: the loss must be one number\n  loss: " +
                         describe(graph, loss.i) + "\n  at " + to_string(at),
                     at);
  Checker checker(graph, loss);
  GradientReport report;
  report.loss = checker.loss();
  checker.backward();
  const double floor = 1e-5 * std::max(1.0, std::abs(report.loss));
  constexpr double kGood = 1e-6;  // error below which no smaller step is tried

  for (const Target& target : find_targets(graph, loss.i, options.only)) {
    if (target.size() == 0) continue;
    ParameterAccess<double>::Copy& copy = checker.copy(target.parameter);
    ++report.parameters;
    for (const std::size_t e : choose_elements(target, options.max_elements)) {
      double error = std::numeric_limits<double>::infinity(), measured = 0;
      for (const double factor : {1.0, 10.0, 0.1, 0.01}) {
        const double m = checker.slope(copy.values[e], options.step * factor);
        const double found = relative_error(copy.gradient[e], m, floor);
        if (found < error || factor == 1.0) {
          error = found;
          measured = m;
        }
        if (error <= kGood) break;
      }
      ++report.elements;
      if (error > report.max_error || report.worst_parameter.empty()) {
        report.max_error = error;
        report.worst_parameter = target.parameter->name;
        report.worst_element = e;
        report.worst_backward = copy.gradient[e];
        report.worst_measured = measured;
      }
    }
  }
  return report;
}

std::ostream& operator<<(std::ostream& out, const GradientReport& r) {
  out << r.elements << " elements of " << r.parameters << " parameters, largest error "
      << r.max_error;
  if (!r.worst_parameter.empty())
    out << " at element " << r.worst_element << " of \"" << r.worst_parameter << "\": backward "
        << r.worst_backward << ", measured " << r.worst_measured;
  return out;
}

bool check_grad(ParameterCollection& m, Expression& expr, int, SourceLocation at) {
  GradientCheckOptions options;
  options.max_elements = 0;
  options.only = &m;
  return check_gradients(expr, options, at).ok();
}

}  // namespace dynet
