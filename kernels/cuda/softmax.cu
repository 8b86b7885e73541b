#include "dynet-like/attributes/softmax.h"
#include "kernels/cuda/indices.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/scores.cuh"

namespace dynet::cuda {
namespace {

Lines along(const Batch<float>& b) { return {b.dim(0), b.attr<SoftmaxAttr>().dimension}; }

void softmax_forward(Queue& q, const Batch<float>& b) {
  const Lines x = along(b);
  const auto in = q.ins(b, 0);
  const auto out = q.outs(b);
  for_lines_of(q, b, x, [=] __device__(const Team& team, std::size_t i, std::size_t line) {
    const std::size_t first = x.first(line), n = x.size * x.inner;
    const float* const from = in[i] + first;
    float* const to = out[i] + first;
    const MaxSum s = max_sum(team, from, x.size, x.inner);
    const float scale = s.sum == 0 ? 0 : 1 / s.sum;
    for (std::size_t k = team.lane * x.inner; k < n; k += team.size * x.inner)
      to[k] = exponential(from[k] - s.shift) * scale;
  });
}

void softmax_backward(Queue& q, const GradientBatch<float>& b) {
  const Lines x = along(b);
  const auto outs = q.outs(b);
  const auto d_outs = q.d_outs(b);
  line_gradients(
      q, b, 0, x, 1,
      [=] __device__(const Team& team, std::uint32_t i, std::size_t line, const LineWriter& write) {
        const std::size_t first = x.first(line), n = x.size * x.inner;
        const float *const y = outs[i] + first, *const dy = d_outs[i] + first;
        const std::size_t begin = team.lane * x.inner, step = team.size * x.inner;
        float sum = 0;
        for (std::size_t k = begin; k < n; k += step) sum += y[k] * dy[k];
        sum = team.over(sum, Sum());
        for (std::size_t k = begin; k < n; k += step) write(first + k, y[k] * (dy[k] - sum));
      });
}

void log_softmax_forward(Queue& q, const Batch<float>& b) {
  const Lines x(b.dim(), 0);
  const auto in = q.ins(b, 0);
  const auto out = q.outs(b);
  for_lines_of(q, b, x, [=] __device__(const Team& team, std::size_t i, std::size_t line) {
    const std::size_t first = x.first(line);
    const LogSum s = log_sum(team, in[i] + first, x.size, 1);
    for (std::size_t k = team.lane; k < x.size; k += team.size)
      out[i][first + k] = (in[i][first + k] - s.shift) - shift(s.log);
  });
}

void log_softmax_backward(Queue& q, const GradientBatch<float>& b) {
  const Lines x(b.dim(), 0);
  const auto outs = q.outs(b);
  const auto d_outs = q.d_outs(b);
  line_gradients(
      q, b, 0, x, 1,
      [=] __device__(const Team& team, std::uint32_t i, std::size_t line, const LineWriter& write) {
        const std::size_t first = x.first(line);
        const float *const y = outs[i] + first, *const dy = d_outs[i] + first;
        float sum = 0;
        for (std::size_t k = team.lane; k < x.size; k += team.size) sum += dy[k];
        sum = team.over(sum, Sum());
        for (std::size_t k = team.lane; k < x.size; k += team.size)
          write(first + k, y[k] == -INFINITY ? 0 : dy[k] - exponential(y[k]) * sum);
      });
}

// Scratch: the shift of the scores, and the log of the sum of the shifted exponentials.
void logsumexp_along_forward(Queue& q, const Batch<float>& b) {
  const Lines x = along(b);
  const auto in = q.ins(b, 0);
  const auto y = q.outs(b), kept = q.auxs(b, 2 * x.lines);
  for_lines_of(q, b, x, [=] __device__(const Team& team, std::size_t i, std::size_t line) {
    const LogSum s = log_sum<finite_shift>(team, in[i] + x.first(line), x.size, x.inner);
    if (team.lane != 0) return;
    y[i][line] = s.log + s.shift;
    kept[i][line] = s.shift;
    kept[i][x.lines + line] = shift(s.log);
  });
}

void logsumexp_along_backward(Queue& q, const GradientBatch<float>& b) {
  const Lines x = along(b);
  const auto in = q.ins(b, 0), dy = q.d_outs(b);
  const auto kept = q.auxs(b, 2 * x.lines);
  each_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e) {
    const std::size_t line = x.of(e).line;
    return dy[i][line] * exponential((in[i][e] - kept[i][line]) - kept[i][x.lines + line]);
  });
}

// Losses of scores: those of operand 0, or a sum of products at the start of the scratch. Two
// numbers per loss are kept behind them, then the classes of this run.
struct ClassLoss {
  std::size_t n, batch,
      before;  // classes, losses per node, numbers of the scratch before those kept
  TensorArray<float> scores, kept;

  ClassLoss(Queue& q, const Batch<float>& b) : batch(b.dim().bd) {
    const OpForm& form = *b.node(0).form;
    const TensorArray<float> scratch = q.auxs(b, form.aux.value(b.graph, b.node(0)));
    before = form.sums ? form.sums(b.graph, b.node(0)) : 0;
    n = form.sums ? before / batch : b.dim(0).batch_size();
    scores = form.sums ? scratch : q.many(b.ins, b.count, b.dim(0).size());
    kept = scratch;
  }
  __device__ float* log(std::size_t i) const { return kept[i] + before; }
  __device__ float* shift(std::size_t i) const { return log(i) + batch; }
  std::size_t classes() const { return before + 2 * batch; }
};

void class_loss_forward(Queue& q, const Batch<float>& b) {
  const ClassLoss loss(q, b);
  const IndexList* const classes =
      upload_indices<ClassAttr>(q, b, loss.classes(), loss.n, "the scores");
  const auto y = q.outs(b);
  for_lines_of(q, b, Lines(loss.n, loss.batch),
               [=] __device__(const Team& team, std::size_t i, std::size_t k) {
                 const float* const column = loss.scores[i] + k * loss.n;
                 const LogSum s = log_sum(team, column, loss.n, 1);
                 if (team.lane != 0) return;
                 loss.log(i)[k] = shift(s.log);
                 loss.shift(i)[k] = s.shift;
                 y[i][k] =
                     s.log == -INFINITY ? INFINITY : s.log + (s.shift - column[classes[i][k]]);
               });
}

void class_loss_backward(Queue& q, const GradientBatch<float>& b) {
  const ClassLoss loss(q, b);
  const IndexList* const classes = stored_indices<ClassAttr>(q, b, loss.classes());
  const auto dy = q.d_outs(b);
  const std::size_t n = loss.n;
  line_gradients(
      q, b.d_sums ? q.sums(b, loss.before) : q.targets(b, 0), n * loss.batch, Lines(n, loss.batch),
      1,
      [=] __device__(const Team& team, std::uint32_t i, std::size_t line, const LineWriter& write) {
        const float g = dy[i][line], log = loss.log(i)[line], shift = loss.shift(i)[line];
        const float* const scores = loss.scores[i] + line * n;
        const std::size_t right = classes[i][line];
        for (std::size_t k = team.lane; k < n; k += team.size) {
          const float score = scores[k], slope = g * exponential((score - shift) - log);
          write(line * n + k, k == right && score != -INFINITY ? slope - g : slope);
        }
      });
}

// p_j = min(e^x_j / Z, u_j). An element at its bound stays there: the rest of the probability for
// the other elements only grows.
void constrained_forward(Queue& q, const Batch<float>& b) {
  const Lines lines(b.dim(), 0);
  const std::size_t n = lines.size, xs = b.dim(0).size(), us = b.dim(1).size();
  if (n == 0) return;
  const auto in = q.ins(b, 0), bounds = q.ins(b, 1);
  const auto out = q.outs(b), kept = q.auxs(b, b.dim().size());
  for_lines_of(q, b, lines, [=] __device__(const Team& team, std::size_t i, std::size_t line) {
    const std::size_t first = line * n;
    const float* const x = in[i] + divide(first, xs).rest;
    const float* const u = bounds[i] + divide(first, us).rest;
    float *const p = out[i] + first, *const at_bound = kept[i] + first;
    for (std::size_t k = team.lane; k < n; k += team.size) at_bound[k] = 0;
    for (bool again = true; again;) {
      float m = -INFINITY, bound = 0, z = 0, more = 0;
      for (std::size_t k = team.lane; k < n; k += team.size)
        if (at_bound[k] != 0)
          bound += u[k];
        else
          m = Largest()(m, x[k]);
      m = shift(team.over(m, Largest()));
      for (std::size_t k = team.lane; k < n; k += team.size)
        if (at_bound[k] == 0) z += p[k] = expf(x[k] - m);
      z = team.over(z, Sum());
      const float left = 1 - team.over(bound, Sum());
      const float scale = z == 0 ? 0 : left / z;
      for (std::size_t k = team.lane; k < n; k += team.size) {
        if (at_bound[k] != 0) continue;
        p[k] *= scale;
        if (p[k] <= u[k] || p[k] != p[k]) continue;
        p[k] = u[k];
        at_bound[k] = 1;
        more = 1;
      }
      again = team.over(more, Largest()) != 0;
    }
  });
}

void constrained_backward(Queue& q, const GradientBatch<float>& b) {
  const Lines lines(b.dim(), 0);
  const std::size_t n = lines.size;
  if (n == 0) return;
  const auto outs = q.outs(b), kept = q.auxs(b, b.dim().size());
  const auto d_outs = q.d_outs(b);
  for (std::size_t operand = 0; operand < 2; ++operand) {
    const Dim& d = b.dim(operand);
    const std::size_t size = d.size();
    const bool of_bounds = operand == 1;
    line_gradients(q, b, operand, Lines(d, 0), b.dim().bd / d.bd,
                   [=] __device__(const Team& team, std::uint32_t i, std::size_t line,
                                  const LineWriter& write) {
                     const std::size_t first = line * n, to = divide(first, size).rest;
                     const float *const p = outs[i] + first, *const dp = d_outs[i] + first;
                     const float* const at_bound = kept[i] + first;
                     float sum = 0, weight = 0;
                     for (std::size_t k = team.lane; k < n; k += team.size) {
                       if (at_bound[k] != 0) continue;
                       sum += p[k] * dp[k];
                       weight += p[k];
                     }
                     sum = team.over(sum, Sum());
                     weight = team.over(weight, Sum());
                     const float mean = weight == 0 ? 0 : sum / weight;
                     for (std::size_t k = team.lane; k < n; k += team.size) {
                       const float g = dp[k] - mean;
                       const bool bound = at_bound[k] != 0;
                       write(to + k, bound != of_bounds ? 0 : bound ? g : p[k] * g);
                     }
                   });
  }
}

}  // namespace

const Kernels kSoftmax{softmax_forward, softmax_backward};
const Kernels kLogSoftmax{log_softmax_forward, log_softmax_backward};
const Kernels kLogSumExpAlong{logsumexp_along_forward, logsumexp_along_backward};
const Kernels kClassLoss{class_loss_forward, class_loss_backward};
const Kernels kConstrainedSoftmax{constrained_forward, constrained_backward};

}  // namespace dynet::cuda
