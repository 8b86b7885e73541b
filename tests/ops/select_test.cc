#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

/// Slices along d that a node of this variant takes: some twice, some never.
std::vector<unsigned> slices(const Dim& x, unsigned d, unsigned variant, unsigned count) {
  std::vector<unsigned> v;
  for (unsigned k = 0; k < count; ++k) v.push_back((variant + k * k) % x[d]);
  return v;
}

OpCase select_along(unsigned d) {
  OpCase c;
  c.name = d == 0 ? "select_rows" : "select_cols";
  c.shapes = [d](Shapes& s) { return std::vector{with_some(s, d)}; };
  c.build = [d](const Operand& x) {
    const auto v = slices(x[0].dim(), d, x.variant, 3);
    return d == 0 ? select_rows(x[0], v) : select_cols(x[0], v);
  };
  c.reference = [d](const Arrays& x) {
    const auto v = slices(x[0].dim, d, x.variant, 3);
    Dim dim = x[0].dim;
    dim.d[d] = 3;
    return fill(dim, [&](Place p) {
      p[d] = v[p[d]];
      return x[0].at(p);
    });
  };
  return c;
}

/// The entry for the batch stands where the shape ends.
OpCase strided(const std::string& name, const std::vector<int>& strides,
               const std::vector<int>& from, const std::vector<int>& left_out) {
  OpCase c;
  c.name = "strided_select " + name;
  const std::size_t rank = 3;
  c.shapes = [](Shapes& s) {
    return std::vector{Dim({2 + s.size(), 1 + s.positive(), 1 + s.size()}, 1 + s.full_batch())};
  };
  const auto ends = [left_out](const Dim& d) {
    std::vector<int> to;
    for (unsigned k = 0; k < left_out.size(); ++k)
      to.push_back(static_cast<int>(k < rank ? d[k] : d.bd) - left_out[k]);
    return to;
  };
  c.build = [=](const Operand& x) { return strided_select(x[0], strides, from, ends(x[0].dim())); };
  c.reference = [=](const Arrays& x) {
    const std::vector<int> to = ends(x[0].dim);
    const auto entry = [](const std::vector<int>& v, unsigned k, int otherwise) {
      return static_cast<unsigned>(k < v.size() ? v[k] : otherwise);
    };
    Dim dim = x[0].dim;
    for (unsigned k = 0; k <= rank; ++k) {
      unsigned& size = k < rank ? dim.d[k] : dim.bd;
      const unsigned end = entry(to, k, static_cast<int>(size)), stride = entry(strides, k, 1);
      unsigned n = 0;
      for (unsigned at = entry(from, k, 0); at < end; at += stride) ++n;
      size = n;
    }
    return fill(dim, [&](Place p) {
      for (unsigned k = 0; k <= rank; ++k) {
        unsigned& at = p[k < rank ? k : kBatch];
        at = entry(from, k, 0) + at * entry(strides, k, 1);
      }
      return x[0].at(p);
    });
  };
  return c;
}

}  // namespace

std::vector<OpCase> select_cases() {
  std::vector<OpCase> all = {select_along(0), select_along(1)};
  all.push_back(strided("everything", {}, {}, {}));
  all.push_back(strided("every second row", {2}, {}, {}));
  all.push_back(strided("an inner part", {1, 1, 1}, {1, 1, 1}, {1, 0, 0}));
  all.push_back(strided("all together", {2, 1, 3, 2}, {1, 0, 0, 1}, {0, 1, 0, 0}));
  all.push_back(strided("of the batch", {1, 1, 1, 2}, {}, {0, 0, 0, 1}));
  return all;
}

DYNET_OP_TESTS("select", select_cases())

TEST_CASE("select: every way to give rows and columns") {
  ComputationGraph g;
  const Expression x = input(g, {2, 3}, {1, 2, 3, 4, 5, 6});
  using V = std::vector<float>;
  CHECK(as_vector(select_rows(x, {1}).value()) == V{2, 4, 6});
  CHECK(as_vector(select_rows(x, 1).value()) == V{2, 4, 6});
  CHECK(select_rows(x, 1).dim() == Dim({1, 3}));
  CHECK(as_vector(select_cols(x, {2, 0}).value()) == V{5, 6, 1, 2});
  CHECK(select_rows(x, std::vector<unsigned>{}).dim() == Dim({0, 3}));
  CHECK(as_vector(select_rows(x, {0, 0}).value()) == V{1, 1, 3, 3, 5, 5});
}

}  // namespace dynet::test
