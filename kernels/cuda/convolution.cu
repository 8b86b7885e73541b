#include <algorithm>

#include "dynet-like/shape/convolution_rules.h"
#include "kernels/cpu/along.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/products.h"

namespace dynet::cuda {
namespace {

using shape::Sliding;

// The places of a window that cover element x of the padded line are those with
// x = place stride + tap; the one for this tap, or `out` if there is none.
__device__ std::size_t place_of(const Sliding& s, std::size_t x, std::size_t tap) {
  const std::size_t padded = x + s.before;
  if (padded < tap) return s.out;
  const Quotient at = divide(padded - tap, s.stride);
  return at.rest == 0 && at.by < s.out ? at.by : s.out;
}

// A convolution as products. The windows of an image are the rows of a matrix with a column for
// each tap: places x taps times the filter's taps x filters.
class Convolution {
 public:
  Convolution(Queue& q, const Batch<float>& b)
      : q_(q),
        x_(b.dim(0)),
        f_(b.dim(1)),
        rows_(slide(b, 0)),
        cols_(slide(b, 1)),
        places_(std::size_t{rows_.out} * cols_.out),
        taps_(std::size_t{f_[0]} * f_[1] * f_[2]),
        filters_(f_[3]),
        batch_(b.dim().bd) {
    constexpr std::size_t kMost = std::size_t{1} << 24;  // numbers in a temporary
    const std::size_t each = taps_ * std::max(places_, filters_);
    piece_ = std::clamp<std::size_t>(kMost / std::max<std::size_t>(1, each), 1, batch_);
    windows_ = q.temporary(piece_ * window());
  }

  // y = or += windows of x times f
  void forward(bool add, const float* x, const float* f, float* y) {
    over_pieces([&](std::size_t first, std::size_t n) {
      unfold(x, first, n);
      multiply(q_, places_, filters_, taps_, {windows_, false, window()}, filter(f, first, false),
               y + first * results(), add, n, results());
    });
  }
  // df = or += windows' dy
  void filter_gradient(bool add, const float* x, const float* dy, float* df) {
    const bool one = f_.bd == 1;
    const std::size_t size = taps_ * filters_;
    float* const parts = one ? q_.temporary(piece_ * size) : nullptr;
    over_pieces([&](std::size_t first, std::size_t n) {
      unfold(x, first, n);
      multiply(q_, taps_, filters_, places_, {windows_, true, window()},
               {dy + first * results(), false, results()}, one ? parts : df + first * size,
               !one && add, n, size);
      if (one) sum_columns(q_, parts, size, n, df, add || first > 0);
    });
  }
  // dx = or += what dy f' gives to the elements of each window
  void image_gradient(bool add, const float* f, const float* dy, float* dx) {
    over_pieces([&](std::size_t first, std::size_t n) {
      multiply(q_, places_, taps_, filters_, {dy + first * results(), false, results()},
               filter(f, first, true), windows_, false, n, window());
      fold(add || (x_.bd == 1 && first > 0), dx, first, n);
    });
  }

 private:
  Sliding slide(const Batch<float>& b, unsigned k) const {
    const auto& a = b.attr<cpu::ConvolutionAttr>();
    return shape::slide(x_[k], f_[k], a.stride[k], a.valid != 0);
  }
  // Numbers for a batch element.
  std::size_t window() const { return places_ * taps_; }
  std::size_t results() const { return places_ * filters_; }
  std::size_t step_x() const { return x_.bd == 1 ? 0 : x_.batch_size(); }

  Factor filter(const float* f, std::size_t element, bool turned) const {
    const std::size_t step = f_.bd == 1 ? 0 : taps_ * filters_;
    return {f + element * step, turned, step};
  }

  // use(first, n) for some batch elements at a time
  template <class Use>
  void over_pieces(Use use) const {
    for (std::size_t first = 0; first < batch_; first += piece_)
      use(first, std::min(piece_, batch_ - first));
  }

 public:  // nvcc takes no kernels from private functions
  // The windows of n batch elements.
  void unfold(const float* x, std::size_t first, std::size_t n) {
    const Sliding rows = rows_, cols = cols_;
    const std::size_t places = places_, step = step_x(), height = f_[0], width = f_[1];
    const float* const from = x + first * step;
    each_element(q_, {windows_, window(), nullptr}, n, window(),
                 [=] __device__(std::size_t i, std::size_t e) {
                   const Quotient tap = divide(e, places), place = divide(tap.rest, rows.out);
                   const Quotient down = divide(tap.by, height), across = divide(down.by, width);
                   // In front of the image these are far too large.
                   const std::size_t r = place.rest * rows.stride + down.rest - rows.before;
                   const std::size_t c = place.by * cols.stride + across.rest - cols.before;
                   return r < rows.in && c < cols.in
                              ? from[i * step + (across.by * cols.in + c) * rows.in + r]
                              : 0.0f;
                 });
  }

  // dx = or += the elements of windows that each of its elements is.
  void fold(bool add, float* dx, std::size_t first, std::size_t n) {
    const Sliding rows = rows_, cols = cols_;
    const std::size_t places = places_, all = window();
    const float* const windows = windows_;
    float* const to = dx + first * step_x();
    // One image for all batch elements gets the sum.
    const std::size_t images = x_.bd == 1 ? 1 : n, each = x_.bd == 1 ? n : 1;
    for_each(q_, images, x_.batch_size(),
             [=, size = x_.batch_size()] __device__(std::size_t i, std::size_t e) {
               const Quotient r = divide(e, rows.in), c = divide(r.by, cols.in);
               float sum = 0;
               for (std::size_t b = 0; b < cols.size; ++b) {
                 const std::size_t col = place_of(cols, c.rest, b);
                 for (std::size_t a = 0; a < rows.size; ++a) {
                   const std::size_t row = place_of(rows, r.rest, a);
                   if (row == rows.out || col == cols.out) continue;
                   const std::size_t tap = (c.by * cols.size + b) * rows.size + a;
                   const std::size_t at = tap * places + col * rows.out + row;
                   for (std::size_t k = i * each; k < (i + 1) * each; ++k)
                     sum += windows[k * all + at];
                 }
               }
               float* const p = to + i * size + e;
               *p = add ? *p + sum : sum;
             });
  }

 private:
  Queue& q_;
  const Dim &x_, &f_;
  Sliding rows_, cols_;
  std::size_t places_, taps_, filters_, batch_;
  std::size_t piece_;  // batch elements whose windows are there at a time
  float* windows_;
};

void conv2d_forward(Queue& q, const Batch<float>& b) {
  Convolution c(q, b);
  const bool bias = b.arity > 2;
  if (bias) {
    const Many<const float> from = q.ins(b, 2);
    const std::size_t filters = b.dim(1)[3], size = b.dim().batch_size();
    const std::size_t places = filters ? size / filters : 0, step = b.dim(2).bd == 1 ? 0 : filters;
    each_value(q, b, [=] __device__(std::size_t i, std::size_t e) {
      const Quotient at = divide(e, size);
      return from[i][at.by * step + divide(at.rest, places).by];
    });
  }
  for (std::size_t i = 0; i < b.count; ++i) c.forward(bias, b.in(0, i), b.in(1, i), b.out(i));
}

void conv2d_backward(Queue& q, const GradientBatch<float>& b) {
  Convolution c(q, b);
  for (std::size_t i = 0; i < b.count; ++i)
    if (float* const dx = b.d_in(0, i)) c.image_gradient(b.add(0, i), b.in(1, i), b.d_out(i), dx);
  for (std::size_t i = 0; i < b.count; ++i)
    if (float* const df = b.d_in(1, i)) c.filter_gradient(b.add(1, i), b.in(0, i), b.d_out(i), df);
  if (b.arity < 3) return;
  const std::size_t filters = b.dim(1)[3], size = b.dim().batch_size();
  const std::size_t places = filters ? size / filters : 0;
  const std::size_t batch = b.dim(2).bd == 1 ? b.dim().bd : 1;
  const Many<const float> dy = q.d_outs(b);
  sum_gradients(q, q.targets(b, 2), b.count, b.dim(2).size(), batch * places, false,
                [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
                  const Quotient at = divide(e, filters), in = divide(r, places);
                  return dy[i][(at.by + in.by) * size + at.rest * places + in.rest];
                });
}

// Scratch as the places that were chosen.
struct Choices {
  Many<float> aux;
  __device__ unsigned* operator[](std::size_t i) const {
    return reinterpret_cast<unsigned*>(aux[i]);
  }
};

struct Pooling {
  Sliding rows, cols;
  std::size_t image, size;  // elements of a channel before and after

  explicit Pooling(const Batch<float>& b) {
    const auto& a = b.attr<cpu::MaxPoolingAttr>();
    const Dim &x = b.dim(0), &y = b.dim();
    rows = shape::slide(x[0], a.size[0], a.stride[0], a.valid != 0);
    cols = shape::slide(x[1], a.size[1], a.stride[1], a.valid != 0);
    image = std::size_t{x[0]} * x[1];
    size = std::size_t{y[0]} * y[1];
  }
};

// What a window covers of a line.
struct Span {
  std::size_t first, end;
};
__device__ Span span_of(const Sliding& s, std::size_t place) {
  const std::size_t begin = place * s.stride, end = begin + s.size;
  return {begin > s.before ? begin - s.before : 0,
          end - s.before < s.in ? end - s.before : std::size_t{s.in}};
}

void maxpooling2d_forward(Queue& q, const Batch<float>& b) {
  const Pooling p(b);
  const Many<const float> x = q.ins(b, 0);
  const Choices choices{q.auxs(b, b.dim().size())};
  each_value(q, b, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, p.size), place = divide(at.rest, p.rows.out);
    const float* const image = x[i] + at.by * p.image;
    const Span down = span_of(p.rows, place.rest), across = span_of(p.cols, place.by);
    std::size_t best = across.first * p.rows.in + down.first;
    for (std::size_t c = across.first; c < across.end; ++c)
      for (std::size_t r = down.first; r < down.end; ++r) {
        const float v = image[c * p.rows.in + r];
        if (v > image[best] || v != v) best = c * p.rows.in + r;  // NaN is the largest
      }
    choices[i][e] = static_cast<unsigned>(best);
    return image[best];
  });
}

void maxpooling2d_backward(Queue& q, const GradientBatch<float>& b) {
  const Pooling p(b);
  const Many<const float> dy = q.d_outs(b);
  const Choices choices{q.auxs(b, b.dim().size())};
  each_gradient(q, b, 0, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, p.image), in = divide(at.rest, p.rows.in);
    float sum = 0;
    for (std::size_t c = 0; c < p.cols.size; ++c) {
      const std::size_t col = place_of(p.cols, in.by, c);
      for (std::size_t r = 0; r < p.rows.size; ++r) {
        const std::size_t row = place_of(p.rows, in.rest, r);
        if (row == p.rows.out || col == p.cols.out) continue;
        const std::size_t y = at.by * p.size + col * p.rows.out + row;
        if (choices[i][y] == at.rest) sum += dy[i][y];
      }
    }
    return sum;
  });
}

// Whether x is chosen before y: the larger one, and NaN before everything.
__device__ bool before(float x, float y) { return x > y || (x != x && y == y); }

void kmax_forward(Queue& q, const Batch<float>& b) {
  const std::size_t d = b.attr<cpu::KmaxAttr>().dimension;
  const cpu::Along along(b.dim(0), d), result(b.dim(), d);
  const std::size_t all = b.dim(0).size(), most = result.size;
  const Many<const float> x = q.ins(b, 0);
  const Many<float> chosen{q.temporary(b.count * all), all, nullptr};
  each_element(q, chosen, b.count, all, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient in = divide(e, along.inner), at = divide(in.by, along.size);
    const float* const line = x[i] + at.by * along.size * along.inner + in.rest;
    const float mine = line[at.rest * along.inner];
    std::size_t others = 0;  // that come first
    for (std::size_t k = 0; k < along.size; ++k) {
      const float v = line[k * along.inner];
      others += before(v, mine) || (!before(mine, v) && k < at.rest);
    }
    return others < most ? 1.0f : 0.0f;
  });
  const Choices choices{q.auxs(b, b.dim().size())};
  each_value(q, b, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient in = divide(e, along.inner), at = divide(in.by, most);
    const std::size_t first = at.by * along.size * along.inner + in.rest;
    std::size_t k = 0;  // of those that are chosen, number at.rest
    for (std::size_t passed = 0; k < along.size; ++k)
      if (chosen[i][first + k * along.inner] != 0 && passed++ == at.rest) break;
    choices[i][e] = static_cast<unsigned>(k);
    return x[i][first + k * along.inner];
  });
}

void kmax_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t d = b.attr<cpu::KmaxAttr>().dimension;
  const cpu::Along along(b.dim(0), d), result(b.dim(), d);
  const std::size_t most = result.size;
  const Many<const float> dy = q.d_outs(b);
  const Choices choices{q.auxs(b, b.dim().size())};
  each_gradient(q, b, 0, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient in = divide(e, along.inner), at = divide(in.by, along.size);
    const std::size_t first = at.by * most * along.inner + in.rest;
    float sum = 0;
    for (std::size_t k = 0; k < most; ++k)
      if (choices[i][first + k * along.inner] == at.rest) sum += dy[i][first + k * along.inner];
    return sum;
  });
}

}  // namespace

const Kernels kConv2d = {conv2d_forward, conv2d_backward};
const Kernels kMaxPooling2d = {maxpooling2d_forward, maxpooling2d_backward};
const Kernels kKmaxPooling = {kmax_forward, kmax_backward};

}  // namespace dynet::cuda
