#include "kernels/cpu/convolution.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/cpu/direct_convolution.h"
#include "kernels/cpu/eigen.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/sliding.h"
#include "kernels/cpu/winograd.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

/// Convolution by matrix products (im2col). The windows of an image are the rows of a matrix with
/// one column per tap: positions x taps times taps x filters. The matrix is built piece by piece,
/// for a few columns of positions at a time, to fit the cache.
class WindowConvolution {
 public:
  WindowConvolution(const shape::Sliding& rows, const shape::Sliding& cols, std::size_t channels,
                    std::size_t filters)
      : rows_(rows),
        cols_(cols),
        channels_(channels),
        positions_(std::size_t{rows.out} * cols.out),
        filters_(filters),
        taps_(std::size_t{rows.size} * cols.size * channels),
        step_(std::max(1u, cols.out)),
        in_(std::max(filters, taps_)),
        out_(in_.size()),
        adds_(std::make_unique<bool[]>(in_.size())) {
    const bool windows_are_image =
        rows.size == 1 && cols.size == 1 && rows.stride == 1 && cols.stride == 1;
    if (windows_are_image) return;
    constexpr std::size_t kBytes = 1 << 21;
    const std::size_t column = taps_ * rows.out;  // window elements per column of positions
    const std::size_t pieces = (column * step_ * sizeof(T) + kBytes - 1) / kBytes;
    if (pieces > 1) step_ = (step_ + pieces - 1) / pieces;
    windows_ = std::make_unique_for_overwrite<T[]>(column * step_);
  }

  /// y = windows of x times f, plus `bias` if it is not null
  void forward(const T* bias, const T* x, const T* f, T* y) {
    for (std::size_t k = 0; bias && k < filters_; ++k)
      std::fill_n(y + k * positions_, positions_, bias[k]);
    aim(in_, f, filters_, taps_);
    std::fill_n(adds_.get(), filters_, bias != nullptr);
    over_pieces([&](std::size_t from, std::size_t n) {
      aim(out_, y + from, filters_, positions_);
      multiply<T>(n, taps_, filters_, read(x, from, n), in_.data(), out_.data(), adds_.get());
    });
  }
  /// Adds dy' windows to the gradient of the filter, or starts a new sum.
  void add_filter_gradient(bool first, const T* x, const T* dy) {
    transposed_of_ = nullptr;
    sum_.resize(taps_ * filters_);
    aim(out_, sum_.data(), taps_, filters_);
    transposed_.resize(positions_ * filters_);
    transpose(positions_, filters_, dy, transposed_.data());
    if (positions_ == 0 && first) std::fill(sum_.begin(), sum_.end(), T(0));
    over_pieces([&](std::size_t from, std::size_t n) {
      aim(in_, read(x, from, n), taps_, n);
      std::fill_n(adds_.get(), taps_, !first || from > 0);
      multiply<T>(filters_, n, taps_, transposed_.data() + from * filters_, in_.data(), out_.data(),
                  adds_.get());
    });
  }
  /// The sum, transposed: filters x taps
  const T* filter_gradient() const { return sum_.data(); }
  /// dx = or += dy f', scattered to the windows
  void image_gradient(bool add, const T* f, const T* dy, T* dx) {
    if (!add) std::fill_n(dx, std::size_t{rows_.in} * cols_.in * channels_, T(0));
    if (f != transposed_of_) {
      transposed_.resize(taps_ * filters_);
      transpose(taps_, filters_, f, transposed_.data());
      transposed_of_ = f;
    }
    aim(in_, static_cast<const T*>(transposed_.data()), taps_, filters_);
    std::fill_n(adds_.get(), taps_, !windows_);
    over_pieces([&](std::size_t from, std::size_t n) {
      aim(out_, windows_ ? windows_.get() : dx, taps_, n);
      multiply<T>(n, filters_, taps_, results(dy, from, n), in_.data(), out_.data(), adds_.get());
      if (windows_) fold(from, n, dx);
    });
  }

 private:
  using L = Lanes<T>;

  // Gathers the n results of a piece, filter after filter.
  const T* results(const T* y, std::size_t from, std::size_t n) {
    if (n == positions_) return y;
    piece_.resize(n * filters_);
    for (std::size_t k = 0; k < filters_; ++k)
      std::copy_n(y + k * positions_ + from, n, piece_.data() + k * n);
    return piece_.data();
  }

  // Calls f(from, n) for runs of n positions starting at `from`, each of whole columns.
  template <class F>
  void over_pieces(F f) const {
    if (positions_ == 0) return;
    for (std::size_t from = 0; from < cols_.out; from += step_)
      f(from * rows_.out, std::min<std::size_t>(step_, cols_.out - from) * rows_.out);
  }

  // Pointers to n columns with stride `step`.
  template <class P>
  static void aim(std::vector<P*>& columns, P* p, std::size_t n, std::size_t step) {
    for (std::size_t k = 0; k < n; ++k) columns[k] = p + k * step;
  }

  // The windows of n positions: n rows, one column per tap.
  const T* read(const T* x, std::size_t from, std::size_t n) const {
    if (!windows_) return x;
    unfold(x, from, n);
    return windows_.get();
  }

  // Calls use(column of the windows, reach along rows, first image element or null) for every tap
  // and every column of n positions.
  template <class P, class Use>
  void over_taps(P* x, std::size_t first_place, std::size_t n, Use use) const {
    const std::size_t from = first_place / rows_.out, to = from + n / rows_.out;
    T* window = windows_.get();
    for (std::size_t c = 0; c < channels_; ++c)
      for (std::size_t e = 0; e < cols_.size; ++e) {
        const Reach across(cols_, e);
        for (std::size_t a = 0; a < rows_.size; ++a) {
          const Reach down(rows_, a);
          for (std::size_t j = from; j < to; ++j, window += rows_.out) {
            const bool inside = j >= across.first && j < across.end && down.first < down.end;
            const std::size_t col = across.in + (j - across.first) * cols_.stride;
            use(window, down, inside ? x + (c * cols_.in + col) * rows_.in + down.in : nullptr);
          }
        }
      }
  }

  void unfold(const T* x, std::size_t from, std::size_t positions) const {
    const std::size_t n = rows_.out, stride = rows_.stride;
    over_taps(x, from, positions,
              [&](T* __restrict window, const Reach& r, const T* __restrict in) {
                if (!in) return put_zeros(n, window);
                put_zeros(r.first, window);
                if (stride == 1)
                  in_vectors<T>(r.end - r.first, [&](std::size_t k, auto part) {
                    L::store(window + r.first + k, L::load(in + k, part), part);
                  });
                else
                  for (std::size_t k = r.first; k < r.end; ++k)
                    window[k] = in[(k - r.first) * stride];
                put_zeros(n - r.end, window + r.end);
              });
  }

  void fold(std::size_t from, std::size_t n, T* dx) const {
    const std::size_t stride = rows_.stride;
    over_taps(dx, from, n, [&](const T* __restrict window, const Reach& r, T* __restrict in) {
      if (!in) return;
      if (stride == 1)
        in_vectors<T>(r.end - r.first, [&](std::size_t k, auto part) {
          const auto sum = L::load(in + k, part) + L::load(window + r.first + k, part);
          L::store(in + k, sum, part);
        });
      else
        for (std::size_t k = r.first; k < r.end; ++k) in[(k - r.first) * stride] += window[k];
    });
  }

  static void put_zeros(std::size_t n, T* p) {
    in_vectors<T>(n, [&](std::size_t k, auto part) { L::store(p + k, typename L::V{}, part); });
  }

  const shape::Sliding &rows_, &cols_;
  std::size_t channels_, positions_, filters_, taps_;
  std::size_t step_;              // columns of positions per piece
  std::unique_ptr<T[]> windows_;  // null if the image itself is the matrix
  std::vector<const T*> in_;      // columns of a product
  std::vector<T*> out_;
  std::unique_ptr<bool[]> adds_;
  std::vector<T> transposed_, piece_, sum_;
  const T* transposed_of_ = nullptr;  // filter transposed last by image_gradient
};

/// Operands of a batch of convolutions.
struct Operands {
  explicit Operands(const Batch<T>& batch)
      : b(batch),
        rows(slide(0)),
        cols(slide(1)),
        channels(b.dim(1)[2]),
        filters(b.dim(1)[3]),
        taps(std::size_t{rows.size} * cols.size * channels),
        positions(std::size_t{rows.out} * cols.out) {}

  const T* x(std::size_t i, std::size_t e) const { return b.in(0, i) + of_x(e); }
  const T* f(std::size_t i, std::size_t e) const { return b.in(1, i) + of_f(e); }
  const T* bias(std::size_t i, std::size_t e) const {
    return b.arity > 2 ? b.in(2, i) + of_bias(e) : nullptr;
  }
  std::size_t of_x(std::size_t e) const { return b.dim(0).bd == 1 ? 0 : e * b.dim(0).batch_size(); }
  std::size_t of_f(std::size_t e) const { return b.dim(1).bd == 1 ? 0 : e * taps * filters; }
  std::size_t of_bias(std::size_t e) const { return b.dim(2).bd == 1 ? 0 : e * filters; }
  std::size_t of_y(std::size_t e) const { return e * positions * filters; }

  /// Calls f with a convolution by windows or, if `direct`, with one of the others.
  template <class F>
  void by(bool direct, F f) const {
    if (direct && WinogradConvolution<T>::suits(rows, cols, channels, filters))
      f(WinogradConvolution<T>(rows, cols, channels, filters));
    else if (direct)
      f(DirectConvolution<T>(rows, cols, channels, filters));
    else
      f(WindowConvolution(rows, cols, channels, filters));
  }
  bool reads_directly() const { return DirectConvolution<T>::suits(rows, cols, channels, filters); }

  const Batch<T>& b;
  shape::Sliding rows, cols;
  std::size_t channels, filters, taps, positions;

 private:
  shape::Sliding slide(unsigned k) const {
    const auto& a = b.attr<ConvolutionAttr>();
    return shape::slide(b.dim(0)[k], b.dim(1)[k], a.stride[k], a.valid != 0);
  }
};

}  // namespace

void conv2d_forward(const Batch<T>& b) {
  const Operands o(b);
  o.by(o.reads_directly(), [&](auto&& c) {
    for (std::size_t i = 0; i < b.count; ++i)
      for (std::size_t e = 0; e < b.dim().bd; ++e)
        c.forward(o.bias(i, e), o.x(i, e), o.f(i, e), b.out(i) + o.of_y(e));
  });
}

namespace {

void image_gradients(const GradientBatch<T>& b, const Operands& o) {
  if (std::none_of(b.d_ins, b.d_ins + b.count, [](const T* dx) { return dx; })) return;
  const bool direct = DirectConvolution<T>::suits_gradient(o.rows, o.cols, o.channels, o.filters);
  const T* last = nullptr;
  bool last_is_finite = true;
  const auto is_finite = [&](const T* f) {
    if (std::exchange(last, f) != f)
      last_is_finite = std::all_of(f, f + o.taps * o.filters, [](T x) { return std::isfinite(x); });
    return last_is_finite;
  };
  std::optional<WindowConvolution> windows;  // zero padding times infinity would be NaN
  o.by(direct, [&](auto&& c) {
    for (std::size_t i = 0; i < b.count; ++i)
      if (T* const dx = b.d_in(0, i))
        for (std::size_t e = 0; e < b.dim().bd; ++e) {
          const bool add = b.add(0, i) || (e > 0 && b.dim(0).bd == 1);
          const T *const f = o.f(i, e), *const dy = b.d_out(i) + o.of_y(e);
          if (!direct || is_finite(f)) {
            c.image_gradient(add, f, dy, dx + o.of_x(e));
          } else {
            if (!windows) windows.emplace(o.rows, o.cols, o.channels, o.filters);
            windows->image_gradient(add, f, dy, dx + o.of_x(e));
          }
        }
  });
}

void filter_gradients(const GradientBatch<T>& b, const Operands& o) {
  const std::size_t batch = b.dim().bd;
  const bool one = b.dim(1).bd == 1;
  o.by(o.reads_directly(), [&](auto&& c) {
    for (std::size_t i = 0; i < b.count; ++i)
      if (T* const df = b.d_in(1, i))
        for (std::size_t e = 0; e < batch; ++e) {
          c.add_filter_gradient(!one || e == 0, o.x(i, e), b.d_out(i) + o.of_y(e));
          if (one && e + 1 < batch) continue;
          transpose_to(o.filters, o.taps, c.filter_gradient(), df + o.of_f(e), o.taps, b.add(1, i));
        }
  });
}

void bias_gradients(const GradientBatch<T>& b, const Operands& o) {
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* const db = b.d_in(2, i))
      for (std::size_t e = 0; e < b.dim().bd; ++e) {
        const bool add = b.add(2, i) || (e > 0 && b.dim(2).bd == 1);
        const T* dy = b.d_out(i) + o.of_y(e);
        for (std::size_t k = 0; k < o.filters; ++k, dy += o.positions) {
          T& to = db[o.of_bias(e) + k];
          to = (add ? to : T(0)) + sum_in_order(array(dy, o.positions));
        }
      }
}

}  // namespace

void conv2d_backward(const GradientBatch<T>& b) {
  const Operands o(b);
  image_gradients(b, o);
  filter_gradients(b, o);
  if (b.arity > 2) bias_gradients(b, o);
}

}  // namespace dynet::cpu::DYNET_ISA
