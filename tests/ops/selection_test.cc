#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

Array picked(const Array& x, const std::vector<unsigned>& v, unsigned d) {
  Dim dim = x.dim;
  dim.delete_dim(d);
  dim.bd = std::max(dim.bd, static_cast<unsigned>(v.size()));
  return fill(dim, [&](const Place& p) {
    Place from{};
    from[kBatch] = p[kBatch];
    for (unsigned k = 0; k < x.dim.nd; ++k) from[k] = k < d ? p[k] : k > d ? p[k - 1] : 0;
    from[d] = v[v.size() == 1 ? 0 : p[kBatch]];
    return x.at(from);
  });
}

OpCase pick_along(unsigned d) {
  OpCase c;
  c.name = "pick along " + std::to_string(d);
  c.shapes = [d](Shapes& s) { return std::vector{with_some(s, d)}; };
  c.build = [d](const Operand& x) { return pick(x[0], x.variant % x[0].dim()[d], d); };
  c.reference = [d](const Arrays& x) { return picked(x[0], {x.variant % x[0].dim[d]}, d); };
  return c;
}

// One index for each batch element, and one batch element for all.
OpCase pick_several(bool from_one) {
  OpCase c;
  c.name = from_one ? "pick several of one" : "pick one of each";
  c.shapes = [from_one](Shapes& s) {
    Dim x({s.size(), s.positive()}, from_one ? 1 : s.full_batch());
    return std::vector{x};
  };
  const auto indices = [from_one](const Dim& d, unsigned variant) {
    std::vector<unsigned> v;
    for (unsigned b = 0; b < (from_one ? 4 : d.bd); ++b) v.push_back((variant + b * b) % d[1]);
    return v;
  };
  c.build = [indices](const Operand& x) { return pick(x[0], indices(x[0].dim(), x.variant), 1); };
  c.reference = [indices](const Arrays& x) {
    return picked(x[0], indices(x[0].dim, x.variant), 1);
  };
  return c;
}

OpCase range_along(unsigned d) {
  OpCase c;
  c.name = "pick_range along " + std::to_string(d);
  c.shapes = [d](Shapes& s) { return std::vector{with_some(s, d)}; };
  c.build = [d](const Operand& x) {
    const unsigned n = x[0].dim()[d], length = (n + 1) / 2;
    const unsigned start = x.variant % (n - length + 1);
    return pick_range(x[0], start, start + length, d);
  };
  c.reference = [d](const Arrays& x) {
    const unsigned n = x[0].dim[d], length = (n + 1) / 2;
    const unsigned start = x.variant % (n - length + 1);
    Dim dim = x[0].dim;
    dim.d[d] = length;
    return fill(dim, [&](Place p) {
      p[d] += start;
      return x[0].at(p);
    });
  };
  return c;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
OpCase range_by_its_old_name() {
  OpCase c = range_along(0);
  c.name = "pickrange";
  c.build = [](const Operand& x) {
    const unsigned n = x[0].dim().rows(), length = (n + 1) / 2;
    const unsigned start = x.variant % (n - length + 1);
    return pickrange(x[0], start, start + length);
  };
  return c;
}
#pragma GCC diagnostic pop

Array batch_picked(const Array& x, const std::vector<unsigned>& v) {
  Dim dim = x.dim;
  dim.bd = static_cast<unsigned>(v.size());
  return fill(dim, [&](Place p) {
    p[kBatch] = v[p[kBatch]];
    return x.at(p);
  });
}

OpCase transpose_by(std::vector<unsigned> order) {
  OpCase c;
  c.name = "transpose";
  for (unsigned k : order) c.name += ' ' + std::to_string(k);
  c.shapes = [order](Shapes& s) {
    Dim d;
    for (std::size_t k = 0; k < order.size(); ++k) d.add_dim(s.size());
    d.bd = s.batch();
    return std::vector{d};
  };
  c.build = [order](const Operand& x) { return transpose(x[0], order); };
  c.reference = [order](const Arrays& x) {
    Dim dim = x[0].dim;
    for (std::size_t k = 0; k < order.size(); ++k) dim.d[k] = x[0].dim[order[k]];
    return fill(dim, [&](const Place& p) {
      Place from = p;
      for (std::size_t k = 0; k < order.size(); ++k) from[order[k]] = p[k];
      return x[0].at(from);
    });
  };
  return c;
}

OpCase concatenate_along(unsigned d, bool columns) {
  OpCase c;
  c.name = columns ? "concatenate_cols" : "concatenate along " + std::to_string(d);
  c.shapes = [d](Shapes& s) {
    Dim x = s.any(3);
    while (x.nd <= d && s.coin()) x.add_dim(s.size());
    std::vector<Dim> all;
    const std::uint64_t n = 1 + s.below(3);
    for (std::uint64_t k = 0; k < n; ++k) {
      Dim y = x;
      if (d < y.nd) y.d[d] = s.size();
      y.bd = s.batch();
      all.push_back(y);
    }
    return all;
  };
  c.build = [d, columns](const Operand& x) {
    return columns ? concatenate_cols(x) : concatenate(x, d);
  };
  c.reference = [d](const Arrays& x) {
    Dim dim = x[0].dim;
    if (dim.nd <= d) dim.resize(d + 1);
    unsigned n = 0;
    for (const Array& a : x) {
      n += a.dim[d];
      dim.bd = std::max(dim.bd, a.dim.bd);
    }
    dim.d[d] = n;
    return fill(dim, [&](Place p) {
      std::size_t k = 0;
      while (p[d] >= x[k].dim[d]) p[d] -= x[k++].dim[d];
      return x[k].at(p);
    });
  };
  c.bad = bad_shapes("argument: | {2,3,2} {2,3,3} {3,2,2} | {2X2} {2X3}");
  return c;
}

}  // namespace

std::vector<OpCase> selection_cases() {
  std::vector<OpCase> all;
  for (unsigned d : {0u, 1u, 2u}) all.push_back(pick_along(d));
  all[0].bad = bad_shapes("index: {0}");
  all[0].build = [](const Operand& x) {
    const unsigned n = x[0].dim()[0];
    return pick(x[0], n ? x.variant % n : 0);
  };
  all[2].bad = bad_shapes("index: {2,3}");
  all[2].build = [](const Operand& x) {
    return pick(x[0], x.variant % std::max(1u, x[0].dim()[2]), 2);
  };
  all.push_back(pick_several(false));
  all.push_back(pick_several(true));
  for (unsigned d : {0u, 1u, 3u}) all.push_back(range_along(d));
  all.push_back(range_by_its_old_name());

  OpCase c;
  c.name = "pick_batch_elem";
  c.shapes = [](Shapes& s) { return std::vector{s.any(4)}; };
  c.build = [](const Operand& x) { return pick_batch_elem(x[0], x.variant % x[0].dim().bd); };
  c.reference = [](const Arrays& x) { return batch_picked(x[0], {x.variant % x[0].dim.bd}); };
  all.push_back(c);
  c.name = "pick_batch_elems";
  c.build = [](const Operand& x) {
    const unsigned n = x[0].dim().bd;
    return pick_batch_elems(x[0], {x.variant % n, 0, n - 1, x.variant % n});
  };
  c.reference = [](const Arrays& x) {
    const unsigned n = x[0].dim.bd;
    return batch_picked(x[0], {x.variant % n, 0, n - 1, x.variant % n});
  };
  all.push_back(c);

  c = {};
  c.name = "reshape";
  c.shapes = [](Shapes& s) { return std::vector{Dim({s.size(), 2, s.size()}, s.batch())}; };
  c.build = [](const Operand& x) {
    const Dim d = x[0].dim();
    const Dim to({2 * d[2], d[0]});  // the batch stays, named or not
    return reshape(x[0], x.variant % 2 ? to : Dim({to[0], to[1]}, d.bd));
  };
  c.reference = [](const Arrays& x) {
    const Dim d = x[0].dim;
    return Array{Dim({2 * d[2], d[0]}, d.bd), x[0].v};
  };
  all.push_back(c);
  c = {};
  c.name = "reshape batch into a dimension";
  c.shapes = [](Shapes& s) { return std::vector{Dim({s.size(), s.size()}, s.batch())}; };
  c.build = [](const Operand& x) {
    const Dim d = x[0].dim();
    return reshape(x[0], Dim({d[0], d[1] * d.bd}));
  };
  c.reference = [](const Arrays& x) {
    const Dim d = x[0].dim;
    return Array{Dim({d[0], d[1] * d.bd}), x[0].v};
  };
  all.push_back(c);

  all.push_back(transpose_by({1, 0}));
  all.back().bad = bad_shapes("argument: {2,3,2}");
  all.push_back(transpose_by({0, 1}));
  all.push_back(transpose_by({2, 0, 1}));
  all.push_back(transpose_by({0, 2, 1}));
  all.push_back(transpose_by({3, 1, 2, 0}));
  all.push_back(transpose_by({4, 3, 2, 1, 0}));
  c = {};
  c.name = "transpose of a vector";
  c.shapes = [](Shapes& s) { return std::vector{s.vector()}; };
  c.build = [](const Operand& x) { return transpose(x[0]); };
  c.reference = [](const Arrays& x) {
    return Array{Dim({1, x[0].dim.rows()}, x[0].dim.bd), x[0].v};
  };
  all.push_back(c);

  for (unsigned d : {0u, 1u, 2u}) all.push_back(concatenate_along(d, false));
  all.push_back(concatenate_along(1, true));

  c = {};
  c.name = "concatenate_to_batch";
  c.shapes = [](Shapes& s) {
    const Dim x = s.any(3);
    std::vector<Dim> dims;
    const std::uint64_t n = 1 + s.below(3);
    for (std::uint64_t k = 0; k < n; ++k) {
      dims.push_back(x);
      dims.back().bd = s.batch();
    }
    return dims;
  };
  c.build = [](const Operand& x) { return concatenate_to_batch(x); };
  c.reference = [](const Arrays& x) {
    Array y{x[0].dim, {}};
    y.dim.bd = 0;
    for (const Array& a : x) {
      y.v.insert(y.v.end(), a.v.begin(), a.v.end());
      y.dim.bd += a.dim.bd;
    }
    return y;
  };
  c.bad = bad_shapes("argument: | {2} {3} | {2,2} {4}");
  all.push_back(c);

  // By definition its slope is not what differences measure: the gradient has a test of its own
  // below.
  c = {};
  c.name = "nobackprop";
  c.shapes = [](Shapes& s) { return std::vector{s.any(3)}; };
  c.build = [](const Operand& x) { return nobackprop(x[0]); };
  c.reference = [](const Arrays& x) { return x[0]; };
  c.gradient_tolerance = std::numeric_limits<double>::infinity();
  all.push_back(c);
  return all;
}

DYNET_OP_TESTS("selection", selection_cases())

TEST_CASE("nobackprop: no gradient goes through") {
  auto [model, p, g, x] = Variable({2}, {3, 4});
  const Expression stopped = nobackprop(square(x));
  g.backward(sum_elems(stopped));
  CHECK(as_vector(p.gradients()) == std::vector<float>{0, 0});
  CHECK(as_vector(x.gradient()) == std::vector<float>{0, 0});
  // Beside another way the other way alone counts.
  g.backward(sum_elems(stopped) + sum_elems(x));
  CHECK(as_vector(p.gradients()) == std::vector<float>{1, 1});
}

TEST_CASE("pick: every way to give indices") {
  ComputationGraph g;
  const Expression x = input(g, {3}, {10, 20, 30});
  const auto value = [](const Expression& e) { return as_vector(e.value()); };
  using V = std::vector<float>;
  const int i = 2;
  const std::size_t s = 1;
  const long long l = 0;
  const unsigned char c = 1;
  enum Tag { noun, verb };
  CHECK(value(pick(x, 0)) == V{10});
  CHECK(value(pick(x, 0u)) == V{10});
  CHECK(value(pick(x, i)) == V{30});
  CHECK(value(pick(x, s)) == V{20});
  CHECK(value(pick(x, l)) == V{10});
  CHECK(value(pick(x, c)) == V{20});
  CHECK(value(pick(x, verb)) == V{20});
  CHECK(value(pick(x, noun)) == V{10});
  CHECK(value(pick(x, {0})) == V{10});
  CHECK(value(pick(x, {2, 1})) == V{30, 20});
  const std::vector<unsigned> v = {1, 1, 2};
  CHECK(value(pick(x, v)) == V{20, 20, 30});
  CHECK_THROWS_AS(pick(x, ~std::size_t{0}), IndexError);
}

}  // namespace dynet::test
