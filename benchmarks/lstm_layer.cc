// An LSTM layer alone: 24 steps, forward and backward, without an update. Compares this library,
// with a new graph each time, to oneDNN's LSTM. The loss is the sum of all outputs; both compute
// the gradients of weights and inputs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "benchmarks/measure.h"
#include "benchmarks/reference_libraries.h"
#include "dynet-like/dynet.h"

namespace {

constexpr unsigned kSteps = 24;
constexpr int kRounds = 300;

struct Size {
  unsigned input, hidden, batch;
};

using Numbers = std::vector<float>;

double sum_of(const Numbers& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v);
  return sum;
}

/// The layer in this library.
class Ours {
 public:
  explicit Ours(const Size& size)
      : dim_({size.input}, size.batch),
        lstm_(1, size.input, size.hidden, model_),
        x_(kSteps, Numbers(dim_.size())) {
    float i = 0;
    for (Numbers& x : x_)
      for (float& v : x) v = std::sin(++i);
  }

  void run() {
    model_.reset_gradient();
    graph_.clear();
    lstm_.new_graph(graph_);
    lstm_.start_new_sequence();
    xs_.clear();
    hs_.clear();
    for (unsigned t = 0; t < kSteps; ++t) {
      xs_.push_back(input(graph_, dim_, &x_[t]));
      hs_.push_back(lstm_.add_input(xs_.back()));
    }
    loss_ = sum_batches(sum_elems(sum(hs_)));
    graph_.forward(loss_);
    graph_.backward(loss_, true);  // includes gradients of the inputs
  }

  /// Sums of outputs, gradients of inputs, and gradients of weights.
  std::vector<double> sums() {
    double dx = 0, dw = 0;
    for (const auto& e : xs_) dx += sum_of(as_vector(e.gradient()));
    for (const auto& p : parameters()) dw += sum_of(as_vector(p.gradients()));
    return {static_cast<double>(as_scalar(loss_.value())), dx, dw};
  }
  /// {4H,I}, {4H,H}, {4H}.
  std::vector<dynet::Parameter> parameters() const { return model_.parameters_list(); }
  const std::vector<Numbers>& inputs() const { return x_; }

 private:
  dynet::Dim dim_;
  dynet::ParameterCollection model_;
  dynet::VanillaLSTMBuilder lstm_;
  std::vector<Numbers> x_;
  dynet::ComputationGraph graph_;
  std::vector<dynet::Expression> xs_, hs_;
  dynet::Expression loss_;
};

#ifdef BENCH_DNNL
/// The layer in oneDNN. Excludes the conversion of weights to oneDNN's own layouts, and the zeroing
/// of weight gradients, to which oneDNN adds.
class OneDnn {
 public:
  OneDnn(const Size& size, const Ours& ours) {
    using namespace dnnl;
    const memory::dim n = size.batch, i = size.input, h = size.hidden;
    using Tag = memory::format_tag;
    const auto desc = [](const memory::dims& d, Tag tag) {
      return memory::desc(d, memory::data_type::f32, tag);
    };
    const auto src = desc({kSteps, n, i}, Tag::tnc), dst = desc({kSteps, n, h}, Tag::tnc),
               bias = desc({1, 1, 4, h}, Tag::ldgo), wx = desc({1, 1, i, 4, h}, Tag::any),
               wh = desc({1, 1, h, 4, h}, Tag::any);
    // An explicit zero state: without one oneDNN 2.6 computes a wrong gradient of wh.
    const auto state = desc({1, 1, n, h}, Tag::ldnc);
    const memory::desc none;
    constexpr auto kWay = rnn_direction::unidirectional_left2right;
    const lstm_forward::desc f(prop_kind::forward_training, kWay, src, state, state, wx, wh, bias,
                               dst, none, none);
    const lstm_forward::primitive_desc forward(f, engine_);
    const lstm_backward::desc b(prop_kind::backward, kWay, src, state, state, wx, wh, bias, dst,
                                none, none, src, state, state, wx, wh, bias, dst, none, none);
    const lstm_backward::primitive_desc backward(b, engine_, forward);
    forward_ = lstm_forward(forward);
    backward_ = lstm_backward(backward);

    memory x(src, engine_), plain_wx(desc({1, 1, i, 4, h}, Tag::ldigo), engine_),
        plain_wh(desc({1, 1, h, 4, h}, Tag::ldigo), engine_), biases(bias, engine_);
    float* to = data(x);
    for (const Numbers& values : ours.inputs()) to = std::copy(values.begin(), values.end(), to);
    const auto parameters = ours.parameters();
    copy_gates(as_vector(parameters[0].values()), size.hidden, data(plain_wx));
    copy_gates(as_vector(parameters[1].values()), size.hidden, data(plain_wh));
    copy_gates(as_vector(parameters[2].values()), size.hidden, data(biases));
    for (unsigned k = 0; k < size.hidden; ++k)
      data(biases)[size.hidden + k] += 1;  // forget bias of this library

    y_ = memory(dst, engine_);
    const memory workspace(forward.workspace_desc(), engine_);
    for (auto* arguments : {&forward_arguments_, &backward_arguments_})
      *arguments = {{DNNL_ARG_SRC_LAYER, x},
                    {DNNL_ARG_SRC_ITER, zeros(state)},
                    {DNNL_ARG_SRC_ITER_C, zeros(state)},
                    {DNNL_ARG_BIAS, biases},
                    {DNNL_ARG_DST_LAYER, y_},
                    {DNNL_ARG_WORKSPACE, workspace}};
    forward_arguments_[DNNL_ARG_WEIGHTS_LAYER] = arranged(plain_wx, forward.weights_layer_desc());
    forward_arguments_[DNNL_ARG_WEIGHTS_ITER] = arranged(plain_wh, forward.weights_iter_desc());
    backward_arguments_[DNNL_ARG_WEIGHTS_LAYER] = arranged(plain_wx, backward.weights_layer_desc());
    backward_arguments_[DNNL_ARG_WEIGHTS_ITER] = arranged(plain_wh, backward.weights_iter_desc());
    dx_ = memory(src, engine_);
    dw_ = {zeros(backward.diff_weights_layer_desc()), zeros(backward.diff_weights_iter_desc()),
           zeros(bias)};
    memory dy(dst, engine_);
    std::fill_n(data(dy), count(dy), 1.0f);
    backward_arguments_[DNNL_ARG_DIFF_SRC_LAYER] = dx_;
    backward_arguments_[DNNL_ARG_DIFF_SRC_ITER] = zeros(state);
    backward_arguments_[DNNL_ARG_DIFF_SRC_ITER_C] = zeros(state);
    backward_arguments_[DNNL_ARG_DIFF_WEIGHTS_LAYER] = dw_[0];
    backward_arguments_[DNNL_ARG_DIFF_WEIGHTS_ITER] = dw_[1];
    backward_arguments_[DNNL_ARG_DIFF_BIAS] = dw_[2];
    backward_arguments_[DNNL_ARG_DIFF_DST_LAYER] = dy;
  }

  void run() {
    forward_.execute(stream_, forward_arguments_);
    backward_.execute(stream_, backward_arguments_);
  }
  /// Must be called after the first run.
  std::vector<double> sums() const {
    return {sum_of(y_), sum_of(dx_), sum_of(dw_[0]) + sum_of(dw_[1]) + sum_of(dw_[2])};
  }

 private:
  static float* data(const dnnl::memory& m) { return static_cast<float*>(m.get_data_handle()); }
  static std::size_t count(const dnnl::memory& m) {
    return m.get_desc().get_size() / sizeof(float);
  }
  static double sum_of(const dnnl::memory& m) {
    return ::sum_of(Numbers(data(m), data(m) + count(m)));
  }
  dnnl::memory zeros(const dnnl::memory::desc& desc) {
    dnnl::memory m(desc, engine_);
    std::fill_n(data(m), count(m), 0.0f);
    return m;
  }
  dnnl::memory arranged(dnnl::memory& m, const dnnl::memory::desc& desc) {
    dnnl::memory result(desc, engine_);
    dnnl::reorder(m, result).execute(stream_, m, result);
    stream_.wait();
    return result;
  }
  /// Reorders columns of gates i, f, o, g to i, f, g, o.
  static void copy_gates(Numbers values, std::size_t hidden, float* to) {
    const auto n = static_cast<std::ptrdiff_t>(hidden);
    for (auto at = values.begin(); at != values.end(); at += 4 * n)
      std::swap_ranges(at + 2 * n, at + 3 * n, at + 3 * n);
    std::copy(values.begin(), values.end(), to);
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::lstm_forward forward_;
  dnnl::lstm_backward backward_;
  std::unordered_map<int, dnnl::memory> forward_arguments_, backward_arguments_;
  dnnl::memory y_, dx_;
  std::vector<dnnl::memory> dw_;
};

void compare(const Size& size, Ours& ours) {
  OneDnn other(size, ours);
  ours.run();
  other.run();
  const auto a = ours.sums(), b = other.sums();
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!(std::abs(a[k] - b[k]) <= 1e-3 * (1 + std::abs(a[k]))))
      throw std::runtime_error("oneDNN computes something else");
  double mine = 1e30, theirs = 1e30;
  for (int r = 0; r < kRounds; ++r) {  // alternating, so that disturbances affect both
    mine = std::min(mine, bench::fastest(1, [&] { ours.run(); }));
    theirs = std::min(theirs, bench::fastest(1, [&] { other.run(); }));
  }
  std::printf("  ours %8.1f us   oneDNN %8.1f us   our speed %.2f of oneDNN's\n", 1e6 * mine,
              1e6 * theirs, theirs / mine);
}
#else
void compare(const Size&, Ours& ours) {
  std::printf("  ours %8.1f us   (built without oneDNN)\n",
              1e6 * bench::fastest(kRounds, [&] { ours.run(); }));
}
#endif

}  // namespace

int main() {
  try {
    bench::use_one_thread();
    std::printf("calibrator %.1f GFLOP/s\n", bench::calibrator());
    for (const Size& size :
         {Size{256, 256, 1}, Size{256, 256, 16}, Size{128, 128, 1}, Size{128, 128, 16}}) {
      std::printf("input %3u  hidden %3u  batch %2u", size.input, size.hidden, size.batch);
      Ours ours(size);
      compare(size, ours);
    }
  } catch (const std::exception& e) {
    std::cerr << "bench-lstm-layer: " << e.what() << "\n";
    return 1;
  }
}
