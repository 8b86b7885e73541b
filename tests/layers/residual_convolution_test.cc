#include "tests/layers/naive_transformer.h"

namespace residual_convolution_test {

using namespace dynet;
using naive::difference;
using naive::numbers;
using naive::Vector;

namespace {

/// Sizes of an image; numbers stand column by column, channel after channel.
struct Shape {
  unsigned height, width, channels;
  unsigned size() const { return height * width * channels; }
  Dim dim(unsigned batch = 1) const { return Dim({height, width, channels}, batch); }
};

Vector norm(const Vector& x, const Shape& s, const Vector& gain, const Vector& bias,
            double epsilon) {
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / s.size();
  for (const double v : x) variance += (v - mean) * (v - mean) / s.size();
  Vector y;
  for (unsigned i = 0; i < s.size(); ++i) {
    const unsigned c = i / (s.height * s.width);
    y.push_back(gain[c] * (x[i] - mean) / std::sqrt(variance + epsilon) + bias[c]);
  }
  return y;
}

/// With (window - 1) / 2 zeros before the image.
Vector convolved(const Vector& x, const Shape& s, const Vector& f, unsigned window) {
  Vector y(s.size(), 0.0);
  const int before = static_cast<int>(window - 1) / 2;
  const int height = static_cast<int>(s.height), width = static_cast<int>(s.width);
  for (unsigned o = 0; o < s.channels; ++o)
    for (unsigned c = 0; c < s.channels; ++c)
      for (int j = 0; j < width; ++j)
        for (int i = 0; i < height; ++i)
          for (int e = 0; e < static_cast<int>(window); ++e)
            for (int a = 0; a < static_cast<int>(window); ++a) {
              const int row = i + a - before, col = j + e - before;
              if (row < 0 || row >= height || col < 0 || col >= width) continue;
              const auto at = [&](unsigned channel, int r, int k) {
                return channel * s.height * s.width + static_cast<unsigned>(k * height + r);
              };
              const unsigned tap = static_cast<unsigned>(a) + window * static_cast<unsigned>(e);
              y[at(o, i, j)] +=
                  f[tap + window * window * (c + s.channels * o)] * x[at(c, row, col)];
            }
  return y;
}

Vector relu(Vector x) {
  for (double& v : x) v = std::max(v, 0.0);
  return x;
}

/// Value of the layer's formula for one image.
Vector block(const ResidualConvolution& layer, const Vector& x, const Shape& s) {
  const ResidualConvolution::Settings settings = layer.settings();
  naive::Reader reader(layer.get_parameter_collection());
  const Vector f1 = reader.next_vector(), f2 = reader.next_vector();
  const Vector g1 = reader.next_vector(), b1 = reader.next_vector();
  const Vector g2 = reader.next_vector(), b2 = reader.next_vector();
  CHECK(reader.done());
  const double epsilon = double(settings.epsilon);
  const Vector inner = relu(norm(convolved(x, s, f1, settings.window), s, g1, b1, epsilon));
  const Vector outer = norm(convolved(inner, s, f2, settings.window), s, g2, b2, epsilon);
  return relu(naive::plus(x, outer));
}

/// One image of a batch.
Vector image(const std::vector<float>& x, const Shape& s, unsigned k) {
  return naive::to_double(naive::part(x, k * s.size(), (k + 1) * s.size()));
}

}  // namespace

TEST_CASE("image norm: its formula, of each image of a batch by itself") {
  for (const float epsilon : {1e-5f, 0.5f}) {
    const Shape s{4, 3, 2};
    ParameterCollection model;
    ImageNorm layer(model, {s.channels, epsilon});
    naive::spread(model);
    const std::vector<float> x = numbers(2 * s.size(), 4);
    ComputationGraph cg;
    layer.new_graph(cg);
    const std::vector<float> y = as_vector(layer.apply(input(cg, s.dim(2), x)).value());
    naive::Reader reader(model);
    const Vector gain = reader.next_vector(), bias = reader.next_vector();
    for (unsigned k = 0; k < 2; ++k) {
      const Vector wanted = norm(image(x, s, k), s, gain, bias, double(epsilon));
      const Vector found = image(y, s, k);
      for (unsigned i = 0; i < s.size(); ++i) CHECK(found[i] == Approx(wanted[i]).margin(1e-5));
    }
  }
}

TEST_CASE("residual convolution: its formula, also where windows are wider than images") {
  for (const Shape s : {Shape{5, 4, 3}, Shape{1, 1, 2}, Shape{2, 7, 9}, Shape{28, 28, 2}})
    for (const unsigned window : {1u, 2u, 3u, 5u}) {
      INFO(s.height << " x " << s.width << " x " << s.channels << ", window " << window);
      ParameterCollection model;
      ResidualConvolution layer(model, {s.channels, window, 0.1f});
      naive::spread(model);
      const std::vector<float> x = numbers(2 * s.size(), 3);
      ComputationGraph cg;
      layer.new_graph(cg);
      const Expression y = layer.apply(input(cg, s.dim(2), x));
      CHECK(y.dim() == s.dim(2));
      for (unsigned k = 0; k < 2; ++k) {
        const Vector wanted = block(layer, image(x, s, k), s);
        CHECK(difference(wanted, image(as_vector(y.value()), s, k)) < 1e-4);
      }
    }
}

TEST_CASE("residual convolution: begins as what goes around it") {
  ParameterCollection model;
  ResidualConvolution layer(model, {3});
  ComputationGraph cg;
  layer.new_graph(cg);
  const Expression x = input(cg, {4, 4, 3}, numbers(48, 1));
  CHECK(as_vector(layer.apply(x).value()) == as_vector(rectify(x).value()));
  double square = 0;
  const std::vector<float> f = as_vector(
      ResidualConvolution(model, {16}).get_parameter_collection().parameters_list()[0].values());
  for (const float v : f) square += double(v) * double(v) / static_cast<double>(f.size());
  CHECK(square == Approx(2.0 / (9 * 16)).epsilon(0.15));
}

TEST_CASE("residual convolution: gradients, with dropout too") {
  for (const float rate : {0.0f, 0.3f}) {
    ParameterCollection model;
    ResidualConvolution layer(model, {2});
    layer.set_dropout(rate);
    naive::gradients_are_right(layer, model, {4, 3, 2}, 6, 7);
  }
}

TEST_CASE("residual convolution: dropout draws again in each call, and rests") {
  ParameterCollection model;
  ResidualConvolution layer(model, {2});
  naive::spread(model);
  ComputationGraph cg;
  layer.new_graph(cg);
  const Expression x = input(cg, {6, 6, 2}, numbers(72, 1));
  const auto run = [&] { return as_vector(layer.apply(x).value()); };
  const std::vector<float> plain = run();
  layer.set_dropout(0.5f);
  const std::vector<float> one = run(), other = run();
  CHECK(one != plain);
  CHECK(one != other);
  layer.disable_dropout();
  CHECK(run() == plain);
}

TEST_CASE("residual convolution: tells what it cannot do, and stays as it was") {
  ParameterCollection model;
  CHECK_THROWS_WITH(ImageNorm(model, {0}), Catch::Contains("needs a channel"));
  CHECK_THROWS_AS(ResidualConvolution(model, {0}), ArgumentError);
  CHECK_THROWS_WITH(ResidualConvolution(model, {4, 0}), Catch::Contains("above zero, got 4 and 0"));
  for (const float epsilon : {-1.0f, NAN, INFINITY}) {
    CHECK_THROWS_AS(ImageNorm(model, {2, epsilon}), ArgumentError);
    CHECK_THROWS_AS(ResidualConvolution(model, {2, 3, epsilon}), ArgumentError);
  }
  CHECK(model.parameters_list().empty());
  const auto check = [](auto layer) {
    ComputationGraph cg;
    layer.new_graph(cg);
    for (const Dim& d : {Dim({4, 4, 3}), Dim({4, 4}), Dim({4, 4, 2, 2})})
      CHECK_THROWS_AS(layer.apply(zeros(cg, d)), ShapeError);
    CHECK(layer.apply(zeros(cg, {4, 4, 2})).dim() == Dim({4, 4, 2}));
  };
  check(ImageNorm(model, {2}));
  ResidualConvolution layer(model, {2});
  check(layer);
  for (const float rate : {-0.1f, 1.0f, NAN})
    CHECK_THROWS_AS(layer.set_dropout(rate), ArgumentError);
}

}  // namespace residual_convolution_test
