#pragma once

#include <boost/archive/text_iarchive.hpp>
#include <boost/archive/text_oarchive.hpp>
#include <complex>

#include "tests/layers/cells.h"

/// The layers of transformers as papers write them, one number after another, in double.
namespace naive {

/// Columns.
using Matrix = std::vector<Vector>;

inline Matrix columns_of(const std::vector<float>& x, std::size_t size) {
  Matrix columns;
  for (std::size_t i = 0; i < x.size(); i += size)
    columns.push_back(to_double(part(x, i, i + size)));
  return columns;
}
inline double difference(const Matrix& a, const std::vector<float>& b) {
  Vector flat;
  for (const Vector& column : a) flat.insert(flat.end(), column.begin(), column.end());
  return difference(flat, b);
}

/// The parameters of a layer, one after another.
class Reader {
 public:
  explicit Reader(const dynet::ParameterCollection& model) : list_(model.parameters_list()) {}
  dynet::Parameter next() { return list_.at(at_++); }
  Vector next_vector() { return to_double(as_vector(next().values())); }
  bool done() const { return at_ == list_.size(); }

  Matrix linear(const Matrix& x, bool bias) {
    const dynet::Parameter w = next();
    const Vector b = bias ? next_vector() : Vector(w.dim().rows(), 0.0);
    Matrix y;
    for (const Vector& column : x) y.push_back(plus(times(w, column), b));
    return y;
  }

  Matrix norm(const Matrix& x, const dynet::TransformerSettings& s) {
    const Vector gain = next_vector();
    const Vector bias = s.bias && !s.rms_norm ? next_vector() : Vector(gain.size(), 0.0);
    Matrix y;
    for (const Vector& column : x) {
      double mean = 0, square = 0;
      const double n = static_cast<double>(column.size());
      if (!s.rms_norm)
        for (const double v : column) mean += v / n;
      for (const double v : column) square += (v - mean) * (v - mean) / n;
      y.emplace_back();
      for (std::size_t i = 0; i < column.size(); ++i)
        y.back().push_back(gain[i] * (column[i] - mean) / std::sqrt(square + double(s.epsilon)) +
                           bias[i]);
    }
    return y;
  }

  Matrix feed_forward(const Matrix& x, dynet::Activation activation, bool bias) {
    Matrix hidden = linear(x, bias);
    const std::size_t down = at_;
    at_ += bias ? 2 : 1;
    if (activation == dynet::Activation::swiglu) {
      const Matrix gates = linear(x, bias);
      for (std::size_t t = 0; t < x.size(); ++t)
        for (std::size_t i = 0; i < gates[t].size(); ++i)
          hidden[t][i] *= gates[t][i] * logistic(gates[t][i]);
    } else {
      for (Vector& column : hidden)
        for (double& v : column)
          v = activation == dynet::Activation::relu ? std::max(v, 0.0)
                                                    : v * 0.5 * std::erfc(-v / std::sqrt(2.0));
    }
    const std::size_t end = at_;
    at_ = down;
    Matrix y = linear(hidden, bias);
    at_ = end;
    return y;
  }

  /// `keys`: how many of the memory there are.
  Matrix attention(const Matrix& x, const Matrix& memory,
                   const dynet::MultiHeadAttention::Settings& s, std::size_t keys) {
    Matrix q = linear(x, s.bias), k = linear(memory, s.bias), v = linear(memory, s.bias);
    const std::size_t output = at_;
    at_ += s.bias ? 2 : 1;
    const dynet::Parameter relative = s.relative ? next() : dynet::Parameter();
    const std::size_t end = at_, d = s.size / s.heads;
    const std::size_t group = s.key_heads ? s.heads / s.key_heads : 1;
    const int behind = int(memory.size()) - int(x.size()), reach = int(s.relative);
    if (s.rotary) {
      for (std::size_t i = 0; i < q.size(); ++i) turn(q[i], d, int(i) + behind, s);
      for (std::size_t j = 0; j < k.size(); ++j) turn(k[j], d, int(j), s);
    }
    Matrix read(x.size(), Vector(s.size, 0.0));
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t h = 0; h < s.heads; ++h) {
        Vector weights;
        double total = 0;
        for (std::size_t j = 0; j < keys; ++j) {
          const int distance = int(j) - int(i) - behind;
          double score = 0;
          for (std::size_t c = 0; c < d; ++c) score += q[i][h * d + c] * k[j][h / group * d + c];
          score /= std::sqrt(double(d));
          if (reach) {
            const int row = reach + std::max(-reach, std::min(reach, distance));
            const std::size_t at = h * (2 * s.relative + 1) + std::size_t(row);
            score += double(as_vector(relative.values())[at]);
          }
          weights.push_back(s.causal && distance > 0 ? 0.0 : std::exp(score));
          total += weights.back();
        }
        for (std::size_t j = 0; j < keys; ++j)
          for (std::size_t c = 0; c < d; ++c)
            read[i][h * d + c] += weights[j] / total * v[j][h / group * d + c];
      }
    at_ = output;
    Matrix y = linear(read, s.bias);
    at_ = end;
    return y;
  }

  /// Columns of an encoder, or of a decoder with its memory.
  Matrix transformer(Matrix x, const Matrix& memory, const dynet::TransformerSettings& s,
                     std::size_t length, std::size_t memory_length) {
    const auto around = [&](const auto& part) {
      if (!s.norm_first) {
        // The norm is behind the part among the parameters too.
        x = norm(sum(x, part(x)), s);
        return;
      }
      const std::size_t start = at_;
      part(x);  // to find the norm
      const std::size_t behind = at_;
      const Matrix given = norm(x, s);
      const std::size_t end = at_;
      at_ = start;
      x = sum(x, part(given));
      if (at_ != behind) throw std::logic_error("lost among parameters");
      at_ = end;
    };
    for (unsigned l = 0; l < s.layers; ++l) {
      around([&](const Matrix& in) {
        return attention(in, in,
                         {s.size, s.heads, s.key_heads, 0, s.bias, s.causal, s.relative, s.rotary,
                          s.rotary_base},
                         length);
      });
      if (s.memory)
        around([&](const Matrix& in) {
          return attention(in, memory, {s.size, s.heads, s.key_heads, s.memory, s.bias},
                           memory_length);
        });
      around([&](const Matrix& in) { return feed_forward(in, s.activation, s.bias); });
    }
    return s.final_norm ? norm(x, s) : x;
  }

 private:
  static Matrix sum(Matrix a, const Matrix& b) {
    for (std::size_t t = 0; t < a.size(); ++t) a[t] = plus(a[t], b[t]);
    return a;
  }
  /// Pairs as complex numbers, turned.
  static void turn(Vector& x, std::size_t d, int p, const dynet::MultiHeadAttention::Settings& s) {
    for (std::size_t from = 0; from < x.size(); from += d)
      for (std::size_t i = 0; i < d / 2; ++i) {
        const double a =
            p * std::pow(double(s.rotary_base), -2.0 * double(i) / static_cast<double>(d));
        const auto turned = std::complex(x[from + i], x[from + i + d / 2]) * std::polar(1.0, a);
        x[from + i] = turned.real();
        x[from + i + d / 2] = turned.imag();
      }
  }

  std::vector<dynet::Parameter> list_;
  std::size_t at_ = 0;
};

/// The sizes of what has dropout, from a node of the graph on.
inline std::vector<std::size_t> dropouts(const dynet::Expression& any, std::size_t from = 0) {
  std::vector<std::size_t> sizes;
  for (std::size_t id = from; id < any.pg->size(); ++id) {
    const dynet::Node& n = any.pg->store().nodes[id];
    if (std::string(n.form->name.value) == "dropout") sizes.push_back(n.dim.size());
  }
  return sizes;
}

/// Those of so many parameters of a layer, and of its operand x, which is a parameter too.
template <class Layer>
void gradients_are_right(Layer& layer, dynet::ParameterCollection& model, const dynet::Dim& x_dim,
                         std::size_t parameters, std::uint64_t seed) {
  const dynet::Parameter x = model.add_parameters(x_dim);
  spread(model, seed);
  const auto loss = [&](dynet::ComputationGraph& cg, bool update) {
    layer.new_graph(cg, update);
    const dynet::Expression y = layer.apply(parameter(cg, x));
    return sum_elems(cmult(tanh(y), input(cg, y.dim(), numbers(y.dim().size(), 9))));
  };
  check_slopes(loss, parameters + 1, 1);
}

/// Settings read back from a stream.
template <class Settings>
Settings saved(const Settings& settings) {
  std::stringstream file;
  {
    boost::archive::text_oarchive archive(file);
    archive << settings;
  }
  Settings loaded;
  boost::archive::text_iarchive archive(file);
  archive >> loaded;
  return loaded;
}

}  // namespace naive
