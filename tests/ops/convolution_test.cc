#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

/// How a window goes over an image.
struct Way {
  unsigned stride[2];
  bool valid;

  std::vector<unsigned> strides() const { return {stride[0], stride[1]}; }
  std::string name() const {
    return std::string(valid ? " valid" : " same") + " by " + std::to_string(stride[0]) + "," +
           std::to_string(stride[1]);
  }
  unsigned places(unsigned k, unsigned in, unsigned size) const {
    return valid ? (in - size) / stride[k] + 1 : (in + stride[k] - 1) / stride[k];
  }
  /// First row or column of a place; negative in the padding.
  int start(unsigned k, unsigned place, unsigned in, unsigned size) const {
    const unsigned n = places(k, in, size);
    const int padding =
        valid ? 0
              : std::max(0, static_cast<int>((n - 1) * stride[k] + size) - static_cast<int>(in));
    return static_cast<int>(place * stride[k]) - padding / 2;
  }
};

const std::vector<Way> kWays = {
    {{1, 1}, true}, {{1, 1}, false}, {{2, 1}, true}, {{2, 3}, false}, {{3, 2}, true}};

/// f(place in the image, place in the window) for all elements of a window that lie in the image.
template <class F>
void over_window(const Way& way, const Dim& x, const unsigned (&size)[2], const Place& p, F f) {
  for (unsigned a = 0; a < size[0]; ++a)
    for (unsigned e = 0; e < size[1]; ++e) {
      const int r = way.start(0, p[0], x[0], size[0]) + static_cast<int>(a);
      const int c = way.start(1, p[1], x[1], size[1]) + static_cast<int>(e);
      if (r < 0 || c < 0 || r >= static_cast<int>(x[0]) || c >= static_cast<int>(x[1])) continue;
      f(static_cast<unsigned>(r), static_cast<unsigned>(c), a, e);
    }
}

Array convolved(const Way& way, const Arrays& x) {
  const Dim &d = x[0].dim, &f = x[1].dim;
  const unsigned size[2] = {f[0], f[1]};
  Dim y({way.places(0, d[0], f[0]), way.places(1, d[1], f[1]), f[3]});
  for (const Array& a : x) y.bd = std::max(y.bd, a.dim.bd);
  return fill(y, [&](const Place& p) {
    double sum = x.size() > 2 ? x[2].at(p[2], 0, p[kBatch]) : 0;
    over_window(way, d, size, p, [&](unsigned r, unsigned c, unsigned a, unsigned e) {
      for (unsigned k = 0; k < d[2]; ++k)
        sum += x[0].at({r, c, k, 0, 0, 0, 0, p[kBatch]}) *
               x[1].at({a, e, k, p[2], 0, 0, 0, p[kBatch]});
    });
    return sum;
  });
}

OpCase convolution(const Way& way, bool bias) {
  OpCase c;
  c.name = "conv2d" + way.name() + (bias ? " with bias" : "");
  c.shapes = [way, bias](Shapes& s) {
    const unsigned h = s.positive(), w = s.positive(), in = s.size(), out = s.size();
    // An image of no rows has no room for a window, but may be padded.
    const bool none = !way.valid && s.kind() == Shapes::empty && s.coin();
    std::vector<Dim> dims = {
        Dim({none ? 0 : h + s.positive() - 1, w + s.positive() - 1, in}, s.batch()),
        Dim({h, w, in, out}, s.batch())};
    if (bias) dims.push_back(Dim({out}, s.batch()));
    return dims;
  };
  c.build = [way, bias](const Operand& x) {
    return bias ? conv2d(x[0], x[1], x[2], way.strides(), way.valid)
                : conv2d(x[0], x[1], way.strides(), way.valid);
  };
  c.reference = [way](const Arrays& x) { return convolved(way, x); };
  c.draws = 10;
  return c;
}

/// A convolution with as many channels, filters and taps as are read directly.
OpCase large_convolution() {
  const Way way = {{1, 1}, false};
  OpCase c = convolution(way, true);
  c.name = "conv2d of many channels";
  c.shapes = [](Shapes& s) {
    const unsigned channels = 15 + s.positive(), filters = 15 + s.positive();
    return std::vector{Dim({s.positive(), 2, channels}, s.batch()),
                       Dim({2, 2, channels, filters}, s.batch()), Dim({filters}, s.batch())};
  };
  c.draws = 2;
  return c;
}

OpCase pooling(const Way& way, unsigned rows, unsigned cols) {
  OpCase c;
  c.name = "maxpooling2d" + way.name();
  c.shapes = [way, rows, cols](Shapes& s) {
    Dim x({rows + s.positive() - 1, cols + s.positive() - 1}, s.batch());
    if (!way.valid && s.kind() == Shapes::empty) x.d[0] = 0;
    if (s.coin()) x.add_dim(s.size());
    return std::vector{x};
  };
  c.build = [=](const Operand& x) {
    return maxpooling2d(x[0], {rows, cols}, way.strides(), way.valid);
  };
  c.reference = [=](const Arrays& x) {
    const unsigned size[2] = {rows, cols};
    Dim y = x[0].dim;
    for (unsigned k = 0; k < 2; ++k) y.d[k] = way.places(k, y.d[k], size[k]);
    return fill(y, [&](const Place& p) {
      double best = -std::numeric_limits<double>::infinity();
      over_window(way, x[0].dim, size, p, [&](unsigned r, unsigned e, unsigned, unsigned) {
        Place from = p;
        from[0] = r;
        from[1] = e;
        best = std::max(best, x[0].at(from));
      });
      return best;
    });
  };
  c.distinct = true;
  c.draws = 12;
  return c;
}

OpCase kmax(unsigned k, unsigned d) {
  OpCase c;
  c.name = "kmax_pooling along " + std::to_string(d);
  c.shapes = [k, d](Shapes& s) {
    Dim x = with_dimension(s, d);
    x.d[d] += k;
    return std::vector{x};
  };
  c.build = [k, d](const Operand& x) { return kmax_pooling(x[0], k, d); };
  c.reference = [k, d](const Arrays& x) {
    Dim y = x[0].dim;
    y.d[d] = k;
    return fill(y, [&](Place p) {
      std::vector<double> line;
      const unsigned wanted = p[d];
      for (p[d] = 0; p[d] < x[0].dim[d]; ++p[d]) line.push_back(x[0].at(p));
      std::vector<double> sorted = line;
      std::sort(sorted.begin(), sorted.end(), std::greater<double>());
      unsigned seen = 0;
      for (double v : line)
        if (v >= sorted[k - 1] && seen++ == wanted) return v;
      return std::numeric_limits<double>::quiet_NaN();
    });
  };
  c.distinct = true;
  return c;
}

}  // namespace

std::vector<OpCase> convolution_cases() {
  std::vector<OpCase> all;
  for (const Way& way : kWays)
    for (bool bias : {false, true}) all.push_back(convolution(way, bias));
  all[0].bad = bad_shapes(
      "{3,3,2} {2,2,3,1} | {3,3,2} {4,2,2,1} | {3,3,2} {2,4,2,1} | {3,3,2} {0,2,2,1} | {3,3,2,2} "
      "{2,2,2,1} | {3,3,2} {2,2,2,1,2} | {3,3,2X2} {2,2,2,1X3}");
  all[1].bad =
      bad_shapes("{3,3,2} {2,2,2,4} {3} | {3,3,2} {2,2,2,4} {4,2} | {3,3,2X2} {2,2,2,4} {4X3}");
  all.push_back(large_convolution());
  for (const Way& way : kWays) all.push_back(pooling(way, 2, way.valid ? 3 : 2));
  all.push_back(pooling({{1, 1}, false}, 5, 1));
  all.push_back(pooling({{3, 2}, true}, 1, 1));
  for (unsigned d : {0u, 1u, 2u}) all.push_back(kmax(2, d));
  all.push_back(kmax(1, 1));

  OpCase c;
  c.name = "filter1d_narrow";
  c.shapes = [](Shapes& s) {
    const unsigned r = s.positive(), w = s.positive();
    const Dim f = s.coin() ? Dim({r, w}, s.batch()) : Dim({r, w, s.size()}, s.batch());
    return std::vector{Dim({r, w + s.positive() - 1}, s.batch()), f};
  };
  c.build = [](const Operand& x) { return filter1d_narrow(x[0], x[1]); };
  c.reference = [](const Arrays& x) {
    const Dim &d = x[0].dim, &f = x[1].dim;
    return fill(Dim({f[2], d[1] - f[1] + 1}, std::max(d.bd, f.bd)), [&](const Place& p) {
      double sum = 0;
      for (unsigned a = 0; a < d[0]; ++a)
        for (unsigned e = 0; e < f[1]; ++e)
          sum += x[0].at(a, p[1] + e, p[kBatch]) * x[1].at({a, e, p[0], 0, 0, 0, 0, p[kBatch]});
      return sum;
    });
  };
  c.bad = bad_shapes(
      "{2,3} {3,2} | {2,3} {2,4} | {0,3} {0,2} | {2,3} {2,0} | {2,3,2} {2,2} | {2,3} {2,2,2,2} | "
      "{2,3X2} {2,2X3}");
  all.push_back(c);

  c = {};
  c.name = "fold_rows";
  c.shapes = [](Shapes& s) {
    Dim x = s.any(4);
    x.d[0] *= 3;
    return std::vector{x};
  };
  c.build = [](const Operand& x) { return fold_rows(x[0], 3); };
  c.reference = [](const Arrays& x) {
    Dim y = x[0].dim;
    y.d[0] /= 3;
    return fill(y, [&](Place p) {
      p[0] *= 3;
      double sum = 0;
      for (unsigned k = 0; k < 3; ++k, ++p[0]) sum += x[0].at(p);
      return sum;
    });
  };
  c.bad = bad_shapes("{4,2} | {3,1,1,1,1,1,2}");
  all.push_back(c);

  c = {};
  c.name = "kmh_ngram";
  c.shapes = [](Shapes& s) {
    Dim x = with_dimension(s, 1);
    x.d[1] += 3;
    return std::vector{x};
  };
  c.build = [](const Operand& x) { return kmh_ngram(x[0], 3); };
  c.reference = [](const Arrays& x) {
    Dim y = x[0].dim;
    y.d[1] -= 2;
    return fill(y, [&](Place p) {
      double sum = 0;
      for (unsigned k = 0; k < 3; ++k, ++p[1]) sum += x[0].at(p);
      return sum;
    });
  };
  c.bad = bad_shapes("{4,2} | {4}");
  all.push_back(c);
  return all;
}

DYNET_OP_TESTS("convolution", convolution_cases())

namespace {

void check_large(const Way& way, const Dim& image, const Dim& filter) {
  OpCase c = convolution(way, true);
  c.float_tolerance = 1e-4;  // of sums of hundreds of products
  check_large(c, {image, filter, Dim({filter[3]})});
}

}  // namespace

TEST_CASE("convolution: an image of several pieces") {
  check_large({{1, 1}, false}, Dim({70, 51, 16}), Dim({3, 4, 16, 5}));
  check_large({{1, 1}, false}, Dim({70, 51, 16}), Dim({3, 4, 16, 24}));
  check_large({{2, 1}, false}, Dim({41, 33, 17}), Dim({4, 3, 17, 40}));
}

TEST_CASE("convolution: many channels, filters and taps") {
  for (const Way& way : kWays) {
    check_large(way, Dim({9, 7, 19}), Dim({3, 2, 19, 33}));
    check_large(way, Dim({5, 11, 16}, 3), Dim({5, 4, 16, 16}));    // a filter for all images
    check_large(way, Dim({6, 6, 32}), Dim({2, 2, 32, 20}, 2));     // two filters for one image
    check_large(way, Dim({8, 5, 16}, 2), Dim({1, 4, 16, 17}, 2));  // one for each
    check_large(way, Dim({4, 4, 70}, 2), Dim({1, 1, 70, 65}));
  }
  // Windows as large as the image, and images smaller than their windows.
  check_large({{1, 1}, true}, Dim({5, 4, 16}), Dim({5, 4, 16, 16}));
  check_large({{1, 1}, false}, Dim({2, 1, 16}), Dim({5, 6, 16, 16}));
  check_large({{3, 2}, false}, Dim({2, 3, 16}), Dim({5, 6, 16, 16}));
}

TEST_CASE("convolution: tiles of 2 x 2 results") {
  for (const bool valid : {true, false}) {
    const Way way{{1, 1}, valid};
    check_large(way, Dim({9, 7, 19}), Dim({3, 3, 19, 33}));
    check_large(way, Dim({6, 11, 16}, 3), Dim({3, 3, 16, 16}));    // a filter for all images
    check_large(way, Dim({7, 6, 17}), Dim({3, 3, 17, 24}, 2));     // two filters for one image
    check_large(way, Dim({8, 6, 20}, 2), Dim({3, 3, 20, 17}, 2));  // one for each
    check_large({{2, 1}, valid}, Dim({9, 9, 16}), Dim({3, 3, 16, 17}));  // no such tiles
  }
  check_large({{1, 1}, false}, Dim({51, 38, 40}), Dim({3, 3, 40, 33}));  // in several blocks
}

TEST_CASE("convolution: infinities reach only the taps and places that read them") {
  const float infinite = std::numeric_limits<float>::infinity();
  struct Size {
    unsigned rows, cols, window, channels;
  };
  for (const auto& [rows, cols, window, channels] :
       {Size{5, 4, 2, 2}, Size{5, 4, 2, 16}, Size{6, 7, 3, 16}})
    for (const bool in_image : {true, false}) {
      const Dim image({rows, cols, channels}), filter({window, window, channels, channels});
      ParameterCollection model;
      Parameter px = model.add_parameters(image), pf = model.add_parameters(filter);
      std::vector<float> x(image.size(), 0.5f), f(filter.size(), 0.25f);
      (in_image ? x[rows + 2] : f[window + 1]) = infinite;  // at 2, 1 and at 1, 1
      px.set_value(x);
      pf.set_value(f);
      ComputationGraph g;
      const Expression y = conv2d(parameter(g, px), parameter(g, pf), {1, 1}, true);
      g.backward(sum_elems(y));
      // The indices of the infinite numbers; no NaN.
      const auto infinities = [](const Tensor& t) {
        std::vector<unsigned> found;
        const std::vector<float> v = as_vector(t);
        for (unsigned k = 0; k < v.size(); ++k)
          if (std::isinf(v[k])) found.push_back(k);
        CHECK(std::none_of(v.begin(), v.end(), [](float n) { return std::isnan(n); }));
        return found;
      };
      const unsigned down = y.dim()[0], across = y.dim()[1], size = window * window * channels;
      std::vector<unsigned> of_y, of_x, of_f;
      for (unsigned k = 0; k < channels; ++k)
        for (unsigned c = 0; c < across; ++c)
          for (unsigned r = 0; r < down; ++r) {  // a result reads `window` rows from r on
            const bool reads = r <= 2 && 2 < r + window && c <= 1 && 1 < c + window;
            if (in_image ? reads : k == 0) of_y.push_back(k * down * across + c * down + r);
            if (!in_image && k == 0) of_x.push_back((c + 1) * rows + r + 1);
          }
      for (unsigned k = 0; in_image && k < channels; ++k)
        for (unsigned e = 0; e < window; ++e)
          for (unsigned a = 0; a < window; ++a)  // a tap reads `down` rows from a on
            if (a <= 2 && 2 < a + down && e <= 1 && 1 < e + across)
              of_f.push_back(k * size + e * window + a);
      CHECK(infinities(y.value()) == of_y);
      CHECK(infinities(px.gradients()) == of_x);
      CHECK(infinities(pf.gradients()) == of_f);
    }
}

TEST_CASE("convolution: gradients of a filter as large as a float can be") {
  const float large = 2e38f;
  ParameterCollection model;
  Parameter px = model.add_parameters({8, 8, 16}), pf = model.add_parameters({3, 3, 16, 16});
  std::vector<float> x(8 * 8 * 16, 0.0f), dy(6 * 6 * 16, 0.0f);
  x[6 * 8 + 2] = large;
  dy[4 * 6 + 2] = 1;
  px.set_value(x);
  ComputationGraph g;
  const Expression y = conv2d(parameter(g, px), parameter(g, pf), {1, 1}, true);
  g.backward(dot_product(y, input(g, Dim({6, 6, 16}), dy)));
  const std::vector<float> df = as_vector(pf.gradients());
  for (unsigned tap = 0; tap < df.size(); ++tap) CHECK(df[tap] == (tap == 6 ? large : 0));
}

namespace {

constexpr unsigned kImage = 6 * 7 * 16, kFilter = 9 * 16 * 16;

/// Results and gradients of minibatches of two images and two filters.
struct Minibatch {
  ParameterCollection model;
  Parameter images = model.add_parameters({6, 7, 16, 2});
  Parameter filters = model.add_parameters({3, 3, 16, 32});
  std::vector<float> y, dx, df;

  static void put_infinity(Parameter& p, unsigned at) {
    std::vector<float> values = as_vector(*p.values());
    values[at] = std::numeric_limits<float>::infinity();
    p.set_value(values);
  }
  /// Runs `count` images with `own` filters, from these on.
  void run(unsigned image, unsigned count, unsigned filter, unsigned own) {
    model.reset_gradient();
    ComputationGraph g;
    const Expression x = pick_range(parameter(g, images), image, image + count, 3);
    const Expression f = pick_range(parameter(g, filters), 16 * filter, 16 * (filter + own), 3);
    const Expression result =
        conv2d(reshape(x, Dim({6, 7, 16}, count)), reshape(f, Dim({3, 3, 16, 16}, own)), {1, 1});
    g.backward(sum_batches(sum_elems(result)));
    y = as_vector(result.value());
    dx = as_vector(images.gradients());
    df = as_vector(filters.gradients());
  }
};
std::vector<float> part(const std::vector<float>& v, unsigned k, std::size_t size) {
  const auto begin = v.begin() + static_cast<std::ptrdiff_t>(k * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace

TEST_CASE("convolution: gradients of filters over images with infinities") {
  Minibatch m;
  m.put_infinity(m.images, kImage + 9);
  m.run(0, 1, 0, 1);
  const std::vector<float> of_first = part(m.df, 0, kFilter);
  m.run(1, 1, 1, 1);
  const std::vector<float> of_second = part(m.df, 1, kFilter);
  m.run(0, 2, 0, 2);
  CHECK(part(m.df, 0, kFilter) == of_first);
  CHECK(part(m.df, 1, kFilter) == of_second);
  m.run(0, 2, 0, 1);
  unsigned infinite = 0;
  for (unsigned tap = 0; tap < kFilter; ++tap) {
    infinite += std::isinf(m.df[tap]);
    CHECK(std::isinf(m.df[tap]) == std::isinf(of_second[tap]));
    if (!std::isinf(m.df[tap]))
      CHECK(m.df[tap] == Approx(of_first[tap] + of_second[tap]).margin(1e-4));
  }
  CHECK(infinite > 0);
}

TEST_CASE("convolution: an image has the same results and gradients in any company") {
  for (const bool in_image : {true, false}) {  // the infinity of the other image or filter
    Minibatch m;
    in_image ? m.put_infinity(m.images, kImage + 9) : m.put_infinity(m.filters, kFilter + 9);
    m.run(0, 1, 0, 1);
    const std::vector<float> y = m.y, dx = part(m.dx, 0, kImage);
    m.run(0, 2, 0, in_image ? 1 : 2);
    CHECK(part(m.y, 0, y.size()) == y);
    CHECK(part(m.dx, 0, kImage) == dx);
  }
}

TEST_CASE("a window much larger than the image takes no longer than the image") {
  ComputationGraph g;
  const Expression x = input(g, {3, 3}, {1, 2, 3, 6, 5, 4, 7, 9, 8});
  const unsigned huge = std::numeric_limits<unsigned>::max();
  CHECK(as_vector(maxpooling2d(x, {huge, 1}, {3, 1}, false).value()) ==
        std::vector<float>{3, 6, 9});
  CHECK(as_vector(maxpooling2d(x, {huge, huge}, {3, 3}, false).value()) == std::vector<float>{9});
}

TEST_CASE("convolution: equal elements, NaN, and what is all the same") {
  using V = std::vector<float>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto [model, p, g, x] = Variable({2, 2}, {1, 1, 1, 1});
  g.backward(maxpooling2d(x, {2, 2}, {1, 1}));
  CHECK(as_vector(p.gradients()) == V{1, 0, 0, 0});
  model.reset_gradient();
  g.backward(sum_elems(kmax_pooling(x, 1)));
  CHECK(as_vector(p.gradients()) == V{1, 1, 0, 0});
  const Expression holes = input(g, {4}, {1, nan, 3, 2});
  CHECK(std::isnan(as_vector(kmax_pooling(holes, 2, 0).value())[0]));
  CHECK(as_vector(kmax_pooling(holes, 2, 0).value())[1] == 3);
  CHECK(std::isnan(as_vector(maxpooling2d(holes, {4, 1}, {1, 1}).value())[0]));
  const float low = -std::numeric_limits<float>::infinity();
  const Expression masked = input(g, {2, 2}, {low, low, low, low});
  CHECK(as_vector(maxpooling2d(masked, {2, 2}, {2, 2}).value()) == V{low});
}

}  // namespace dynet::test
