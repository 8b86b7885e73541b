#include <algorithm>
#include <vector>

#include "dynet-like/attributes/along.h"
#include "dynet-like/attributes/convolution.h"
#include "dynet-like/shape/convolution_rules.h"
#include "kernels/cuda/along.cuh"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/products.h"

namespace dynet::cuda {
namespace {

using shape::Sliding;

// Window position that covers element x of the line with its tap number `tap`: x + before =
// position stride + tap; `out` if there is none.
__device__ std::size_t device_index(const Sliding& s, std::size_t x, std::size_t tap) {
  const std::size_t padded = x + s.before;
  if (padded < tap) return s.out;
  const Quotient at = divide(padded - tap, s.stride);
  return at.rest == 0 && at.by < s.out ? at.by : s.out;
}

// A convolution as matrix products, for as many batch elements of all nodes at a time as fit into a
// temporary. The windows of their images are the rows of a matrix with a column for each tap of a
// filter; the results are a matrix with the same number of rows and a column for each filter.
class Convolution {
 public:
  Convolution(Queue& q, const Batch<float>& b)
      : q_(q),
        b_(b),
        x_(b.dim(0)),
        f_(b.dim(1)),
        rows_(slide(0)),
        cols_(slide(1)),
        positions_(std::size_t{rows_.out} * cols_.out),
        taps_(std::size_t{f_[0]} * f_[1] * f_[2]),
        filters_(f_[3]),
        batch_(b.dim().bd) {
    constexpr std::size_t kMost = std::size_t{1}
                                  << 22;  // numbers: a product finds them in the cache
    const std::size_t each = positions_ * std::max(taps_, filters_);
    piece_ = std::clamp<std::size_t>(kMost / std::max<std::size_t>(1, each), 1, b.count * batch_);
    windows_ = q.temporary(piece_ * positions_ * taps_);
    results_ = q.temporary(piece_ * positions_ * filters_);
  }

  // results = windows filters
  void forward() {
    over_pieces([&] {
      unfold();
      over_filters(filters(), [&](const Run& r) {
        multiply(q_, r.rows, filters_, taps_, matrix(windows_, r), filter(r), results_ + r.first,
                 false, r.n, positions_, all_rows());
      });
      put_results();
    });
  }
  // d windows = dy filters'; the gradient of an image element sums over its windows
  void image_gradient(const GradientBatch<float>& b) {
    over_pieces([&] {
      take_results(q_.d_outs(b));
      over_filters(filters(), [&](const Run& r) {
        Factor transposed = filter(r);
        transposed.transposed = true;
        multiply(q_, r.rows, taps_, filters_, matrix(results_, r), transposed, windows_ + r.first,
                 false, r.n, positions_, all_rows());
      });
      fold(b);
    });
  }
  // d filters (+)= windows' dy
  void filter_gradient(const GradientBatch<float>& b) {
    over_pieces([&] {
      unfold();
      take_results(q_.d_outs(b));
      over_filters(b.d_ins + b.count, [&](const Run& r) {
        float* const df = b.d_in(1, r.node);
        if (!df) return;
        Factor transposed = matrix(windows_, r);
        transposed.transposed = true;
        multiply(q_, taps_, filters_, r.rows, transposed, matrix(results_, r), df + r.filter,
                 b.add(1, r.node) || (f_.bd == 1 && r.element > 0), r.n, taps_ * filters_);
      });
    });
  }

 private:
  // Batch elements of a piece whose products form one product, or one strided batch, since their
  // filters are equal or consecutive.
  struct Run {
    std::size_t node, element;  // of the first batch element
    std::size_t first, rows;    // of the matrices
    std::size_t n;              // number of products
    std::size_t filter;         // offset of its filters in the operand
  };

  Sliding slide(unsigned k) const {
    const auto& a = b_.attr<ConvolutionAttr>();
    return shape::slide(x_[k], f_[k], a.stride[k], a.valid != 0);
  }
  std::size_t all_rows() const { return n_ * positions_; }
  std::size_t step_x() const { return x_.bd == 1 ? 0 : x_.batch_size(); }
  Factor matrix(const float* p, const Run& r) const {
    return {p + r.first, false, positions_, all_rows()};
  }
  const float* const* filters() const { return b_.ins + b_.count; }
  Factor filter(const Run& r) const {
    return {b_.in(1, r.node) + r.filter, false, taps_ * filters_};
  }

  template <class Use>
  void over_pieces(Use use) {
    const std::size_t all = b_.count * batch_;
    for (first_ = 0; first_ < all; first_ += n_) {
      n_ = std::min(piece_, all - first_);
      use();
    }
  }
  // `of`: the filters of each node.
  template <class Use>
  void over_filters(const float* const* of, Use use) const {
    for (std::size_t k = 0, end = 0; k < n_; k = end) {
      const std::size_t node = (first_ + k) / batch_, element = (first_ + k) % batch_;
      end = std::min(n_, k + batch_ - element);
      if (f_.bd != 1) {
        use({node, element, k * positions_, positions_, end - k, element * taps_ * filters_});
        continue;
      }
      while (end < n_ && of[(first_ + end) / batch_] == of[node]) end = std::min(n_, end + batch_);
      use({node, element, k * positions_, (end - k) * positions_, 1, 0});
    }
  }

 public:  // nvcc accepts no kernels from private functions
  void unfold() {
    const Sliding rows = rows_, cols = cols_;
    const std::size_t positions = positions_, step = step_x(), height = f_[0], width = f_[1];
    const std::size_t first = first_, batch = batch_, all = all_rows();
    float* const windows = windows_;
    const TensorArray<const float> x = q_.ins(b_, 0);
    for_each(q_, taps_, all, [=] __device__(std::size_t tap, std::size_t row) {
      const Quotient at = divide(row, positions), position = divide(at.rest, rows.out);
      const Quotient down = divide(tap, height), across = divide(down.by, width);
      const Quotient image = divide(first + at.by, batch);
      // Before the image these indices wrap to huge numbers.
      const std::size_t r = position.rest * rows.stride + down.rest - rows.before;
      const std::size_t c = position.by * cols.stride + across.rest - cols.before;
      windows[tap * all + row] =
          r < rows.in && c < cols.in
              ? x[image.by][image.rest * step + (across.by * cols.in + c) * rows.in + r]
              : 0.0f;
    });
  }

  // Gradients of images: sums, for each element, over its occurrences in windows.
  void fold(const GradientBatch<float>& b) {
    std::vector<float*> to;
    std::vector<Write> writes;
    for (std::size_t k = first_; k < first_ + n_; ++k) {
      const std::size_t node = k / batch_, element = k % batch_;
      float* const dx = b.d_in(0, node);
      to.push_back(dx ? dx + element * step_x() : nullptr);
      writes.push_back(x_.bd == 1 && element > 0 ? Write::again : b.write(0, node));
    }
    const Sliding rows = rows_, cols = cols_;
    const std::size_t positions = positions_, all = all_rows(), size = x_.batch_size();
    const float* const windows = windows_;
    each_gradient(q_, q_.targets(to.data(), writes.data(), n_, size), size,
                  [=] __device__(std::uint32_t image, std::size_t e) {
                    const Quotient r = divide(e, rows.in), c = divide(r.by, cols.in);
                    float sum = 0;
                    for (std::size_t k = 0; k < cols.size; ++k) {
                      const std::size_t col = device_index(cols, c.rest, k);
                      for (std::size_t a = 0; a < rows.size; ++a) {
                        const std::size_t row = device_index(rows, r.rest, a);
                        if (row == rows.out || col == cols.out) continue;
                        const std::size_t tap = (c.by * cols.size + k) * rows.size + a;
                        sum += windows[tap * all + image * positions + col * rows.out + row];
                      }
                    }
                    return sum;
                  });
  }

  // Copies results to the values, and adds the bias if there is one.
  void put_results() {
    const TensorArray<float> y = q_.outs(b_);
    const bool biased = b_.arity > 2;
    const TensorArray<const float> bias = biased ? q_.ins(b_, 2) : TensorArray<const float>{};
    const std::size_t step = biased && b_.dim(2).bd != 1 ? filters_ : 0;
    const std::size_t positions = positions_, size = positions_ * filters_, all = all_rows();
    const std::size_t first = first_, batch = batch_;
    const float* const results = results_;
    for_each(q_, n_, size, [=] __device__(std::size_t k, std::size_t e) {
      const Quotient image = divide(first + k, batch), at = divide(e, positions);
      const float v = results[at.by * all + k * positions + at.rest];
      y[image.by][image.rest * size + e] =
          biased ? v + bias[image.by][image.rest * step + at.by] : v;
    });
  }
  // Copies values or their gradients into `results_`.
  void take_results(TensorArray<const float> from) {
    const std::size_t positions = positions_, size = positions_ * filters_, all = all_rows();
    const std::size_t first = first_, batch = batch_;
    float* const results = results_;
    for_each(q_, n_, size, [=] __device__(std::size_t k, std::size_t e) {
      const Quotient image = divide(first + k, batch), at = divide(e, positions);
      results[at.by * all + k * positions + at.rest] = from[image.by][image.rest * size + e];
    });
  }

 private:
  Queue& q_;
  const Batch<float>& b_;
  const Dim &x_, &f_;
  Sliding rows_, cols_;
  std::size_t positions_, taps_, filters_, batch_;
  std::size_t piece_, first_ = 0, n_ = 0;  // batch elements: maximum, first, number
  float *windows_, *results_;
};

void conv2d_forward(Queue& q, const Batch<float>& b) { Convolution(q, b).forward(); }

bool any_needed(const GradientBatch<float>& b, std::size_t k) {
  float* const* const first = b.d_ins + k * b.count;
  return std::any_of(first, first + b.count, [](const float* p) { return p != nullptr; });
}

void conv2d_backward(Queue& q, const GradientBatch<float>& b) {
  Convolution c(q, b);
  if (any_needed(b, 0)) c.image_gradient(b);
  if (any_needed(b, 1)) c.filter_gradient(b);
  if (b.arity < 3) return;
  const std::size_t filters = b.dim(1)[3], size = b.dim().batch_size();
  const std::size_t positions = filters ? size / filters : 0;
  const std::size_t batch = b.dim(2).bd == 1 ? b.dim().bd : 1;
  const TensorArray<const float> dy = q.d_outs(b);
  sum_gradients(q, q.targets(b, 2), b.dim(2).size(), batch * positions, false,
                [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
                  const Quotient at = divide(e, filters), in = divide(r, positions);
                  return dy[i][(at.by + in.by) * size + at.rest * positions + in.rest];
                });
}

// Scratch, as the chosen positions.
struct Choices {
  TensorArray<float> aux;
  __device__ unsigned* operator[](std::size_t i) const {
    return reinterpret_cast<unsigned*>(aux[i]);
  }
};

struct Pooling {
  Sliding rows, cols;
  std::size_t image, size;  // elements of a channel, before and after

  explicit Pooling(const Batch<float>& b) {
    const auto& a = b.attr<MaxPoolingAttr>();
    const Dim &x = b.dim(0), &y = b.dim();
    rows = shape::slide(x[0], a.size[0], a.stride[0], a.valid != 0);
    cols = shape::slide(x[1], a.size[1], a.stride[1], a.valid != 0);
    image = std::size_t{x[0]} * x[1];
    size = std::size_t{y[0]} * y[1];
  }
};

// The part of a line that a window covers.
struct Span {
  std::size_t first, end;
};
__device__ Span span_of(const Sliding& s, std::size_t position) {
  const std::size_t begin = position * s.stride, end = begin + s.size;
  return {begin > s.before ? begin - s.before : 0,
          end - s.before < s.in ? end - s.before : std::size_t{s.in}};
}

void maxpooling2d_forward(Queue& q, const Batch<float>& b) {
  const Pooling p(b);
  const TensorArray<const float> x = q.ins(b, 0);
  const Choices choices{q.auxs(b, b.dim().size())};
  each_value(q, b, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, p.size), position = divide(at.rest, p.rows.out);
    const float* const image = x[i] + at.by * p.image;
    const Span down = span_of(p.rows, position.rest), across = span_of(p.cols, position.by);
    std::size_t best = across.first * p.rows.in + down.first;
    for (std::size_t c = across.first; c < across.end; ++c)
      for (std::size_t r = down.first; r < down.end; ++r) {
        const float v = image[c * p.rows.in + r];
        if (v > image[best] || v != v) best = c * p.rows.in + r;  // NaN counts as the largest
      }
    choices[i][e] = static_cast<unsigned>(best);
    return image[best];
  });
}

void maxpooling2d_backward(Queue& q, const GradientBatch<float>& b) {
  const Pooling p(b);
  const TensorArray<const float> dy = q.d_outs(b);
  const Choices choices{q.auxs(b, b.dim().size())};
  each_gradient(q, b, 0, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, p.image), in = divide(at.rest, p.rows.in);
    float sum = 0;
    for (std::size_t c = 0; c < p.cols.size; ++c) {
      const std::size_t col = device_index(p.cols, in.by, c);
      for (std::size_t r = 0; r < p.rows.size; ++r) {
        const std::size_t row = device_index(p.rows, in.rest, r);
        if (row == p.rows.out || col == p.cols.out) continue;
        const std::size_t y = at.by * p.size + col * p.rows.out + row;
        if (choices[i][y] == at.rest) sum += dy[i][y];
      }
    }
    return sum;
  });
}

// The `most` largest elements of a line, NaN first, of equal elements the first ones. Finds, bit by
// bit, the largest key that at least `most` elements reach, then the end of the elements with it.
struct Chosen {
  const float* line;
  std::size_t size, step;
  unsigned least = 0;
  std::size_t end = 0;

  __device__ Chosen(const Team& team, const float* l, std::size_t n, std::size_t s,
                    std::size_t most)
      : line(l), size(n), step(s) {
    for (unsigned bit = 0x80000000u; bit > 0; bit /= 2)
      if (count(team, [&](std::size_t k) { return key(k) >= (least | bit); }) >= most) least |= bit;
    const std::size_t above = count(team, [&](std::size_t k) { return key(k) > least; });
    for (std::size_t most_end = size; end < most_end;) {
      const std::size_t middle = (end + most_end) / 2;
      const std::size_t equal =
          count(team, [&](std::size_t k) { return k < middle && key(k) == least; });
      if (above + equal >= most)
        most_end = middle;
      else
        end = middle + 1;
    }
  }
  __device__ bool operator()(std::size_t k) const {
    return key(k) > least || (key(k) == least && k < end);
  }

 private:
  struct Add {
    static __device__ unsigned zero() { return 0; }
    __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; }
  };
  __device__ unsigned key(std::size_t k) const {
    const float v = line[k * step];
    return order_key(v == v ? v : NAN);
  }
  template <class F>
  __device__ std::size_t count(const Team& team, F f) const {
    unsigned sum = 0;
    for (std::size_t k = team.lane; k < size; k += team.size) sum += f(k);
    return team.over(sum, Add());
  }
};

void kmax_forward(Queue& q, const Batch<float>& b) {
  const std::size_t d = b.attr<KmaxAttr>().dimension;
  const Lines lines(b.dim(0), d);
  const std::size_t most = Along(b.dim(), d).size;
  const TensorArray<const float> x = q.ins(b, 0);
  const TensorArray<float> y = q.outs(b);
  const Choices choices{q.auxs(b, b.dim().size())};
  for_lines_of(q, b, lines, [=] __device__(const Team& team, std::size_t i, std::size_t line) {
    const std::size_t inner = lines.inner;
    const float* const from = x[i] + lines.first(line);
    const Quotient at = divide(line, inner);
    const std::size_t to = at.by * most * inner + at.rest;
    const Chosen chosen(team, from, lines.size, inner, most);
    running_sums(
        team, lines.size, [&](std::size_t k) { return chosen(k) ? 1.0f : 0.0f; },
        [&](std::size_t k, float count) {
          if (!chosen(k)) return;
          const std::size_t position = to + (static_cast<std::size_t>(count) - 1) * inner;
          choices[i][position] = static_cast<unsigned>(k);
          y[i][position] = from[k * inner];
        });
  });
}

void kmax_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t d = b.attr<KmaxAttr>().dimension;
  const Along along(b.dim(0), d), result(b.dim(), d);
  const std::size_t most = result.size;
  const TensorArray<const float> dy = q.d_outs(b);
  const Choices choices{q.auxs(b, b.dim().size())};
  each_gradient(q, b, 0, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient in = divide(e, along.inner), at = divide(in.by, along.size);
    const std::size_t first = at.by * most * along.inner + in.rest;
    std::size_t k = 0, end = most;  // chosen positions are sorted
    while (k < end) {
      const std::size_t middle = (k + end) / 2;
      if (choices[i][first + middle * along.inner] < at.rest)
        k = middle + 1;
      else
        end = middle;
    }
    const std::size_t position = first + k * along.inner;
    return k < most && choices[i][position] == at.rest ? dy[i][position] : 0.0f;
  });
}

}  // namespace

const Kernels kConv2d = {conv2d_forward, conv2d_backward};
const Kernels kMaxPooling2d = {maxpooling2d_forward, maxpooling2d_backward};
const Kernels kKmaxPooling = {kmax_forward, kmax_backward};

}  // namespace dynet::cuda
