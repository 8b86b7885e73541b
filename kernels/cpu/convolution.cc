#include "kernels/cpu/convolution.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/cpu/eigen.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/sliding.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

/// A convolution as products. The windows of an image are the rows of a matrix with a column for
/// each tap: positions x taps times the filter's taps x filters. The matrix is made piece by piece,
/// a few columns of the image's positions at a time, small enough for the cache.
///
/// Where the stride is one and there are many taps for each filter, the image is first copied with
/// its zeros around it, and a column of the matrix is all of a channel from some element on: a long
/// run, not one for each column of positions. Between columns of positions it has rows that are no
/// positions; what they give is left out, even if it is not finite.
template <class T>
class Convolution {
 public:
  explicit Convolution(const Batch<T>& b)
      : b_(b),
        x_(b.dim(0)),
        f_(b.dim(1)),
        rows_(slide(0)),
        cols_(slide(1)),
        positions_(std::size_t{rows_.out} * cols_.out),
        filters_(f_[3]),
        taps_(std::size_t{f_[0]} * f_[1] * f_[2]),
        step_(std::max(1u, cols_.out)),
        in_(std::max(filters_, taps_)),
        out_(in_.size()),
        adds_(std::make_unique<bool[]>(in_.size())) {
    const bool windows_are_image =
        f_[0] == 1 && f_[1] == 1 && rows_.stride == 1 && cols_.stride == 1;
    if (windows_are_image) return;
    constexpr std::size_t kBytes = 1 << 21;
    const std::size_t column = taps_ * rows_.out;  // windows of one column of positions
    const std::size_t pieces = (column * step_ * sizeof(T) + kBytes - 1) / kBytes;
    if (pieces > 1) step_ = (step_ + pieces - 1) / pieces;
    // With many filters the products take nearly all of the time, and more rows are a loss.
    const std::size_t most = rows_.out <= L::kWidth ? 64 : 32;
    padded_ = rows_.stride == 1 && cols_.stride == 1 && positions_ > 0 && filters_ <= most &&
              taps_ >= 2 * filters_;
    if (padded_) {
      pitch_ = std::size_t{rows_.out} + f_[0] - 1;
      channel_ = pitch_ * (std::size_t{cols_.out} + f_[1] - 1);
      image_.resize(channel_ * f_[2]);
      piece_.resize(apart(step_) * filters_);
    }
    windows_ = std::make_unique_for_overwrite<T[]>(taps_ * apart(step_));
  }

  std::size_t positions() const { return positions_; }
  std::size_t filters() const { return filters_; }
  std::size_t taps() const { return taps_; }

  /// y = or += windows of x times f
  void forward(bool add, const T* x, const T* f, T* y) {
    aim(in_, f, filters_, taps_);
    if (padded_) return forward_padded(add, x, y);
    std::fill_n(adds_.get(), filters_, add);
    over_pieces([&](std::size_t from, std::size_t n) {
      aim(out_, y + from, filters_, positions_);
      multiply<T>(n, taps_, filters_, read(x, from, n), in_.data(), out_.data(), adds_.get());
    });
  }
  /// The transpose of df, filters x taps: dy' windows, or += that.
  void filter_gradient(bool add, const T* x, const T* dy, T* transposed) {
    transposed_of_ = nullptr;
    aim(out_, transposed, taps_, filters_);
    if (padded_) return filter_gradient_padded(add, x, dy);
    transposed_.resize(positions_ * filters_);
    transpose(positions_, filters_, dy, transposed_.data());
    if (positions_ == 0 && !add) std::fill_n(transposed, taps_ * filters_, T(0));
    over_pieces([&](std::size_t from, std::size_t n) {
      aim(in_, read(x, from, n), taps_, n);
      std::fill_n(adds_.get(), taps_, add || from > 0);
      multiply<T>(filters_, n, taps_, transposed_.data() + from * filters_, in_.data(), out_.data(),
                  adds_.get());
    });
  }
  /// dx += what dy f' gives to the elements of each window
  void image_gradient(const T* f, const T* dy, T* dx) {
    if (f != transposed_of_) {
      transposed_.resize(taps_ * filters_);
      transpose(taps_, filters_, f, transposed_.data());
      transposed_of_ = f;
    }
    aim(in_, static_cast<const T*>(transposed_.data()), taps_, filters_);
    if (padded_) return image_gradient_padded(dy, dx);
    std::fill_n(adds_.get(), taps_, !windows_);
    over_pieces([&](std::size_t from, std::size_t n) {
      aim(out_, windows_ ? windows_.get() : dx, taps_, n);
      multiply<T>(n, filters_, taps_, results(dy, from, n), in_.data(), out_.data(), adds_.get());
      if (windows_) fold(from, n, dx);
    });
  }

  const T* x(std::size_t i, std::size_t e) const { return b_.in(0, i) + of_x(e); }
  const T* f(std::size_t i, std::size_t e) const { return b_.in(1, i) + of_f(e); }
  std::size_t of_x(std::size_t e) const { return x_.bd == 1 ? 0 : e * x_.batch_size(); }
  std::size_t of_f(std::size_t e) const { return f_.bd == 1 ? 0 : e * taps_ * filters_; }

 private:
  using L = Lanes<T>;

  shape::Sliding slide(unsigned k) const {
    const auto& a = b_.template attr<ConvolutionAttr>();
    return shape::slide(x_[k], f_[k], a.stride[k], a.valid != 0);
  }

  // Rows of the matrix for so many columns of positions.
  std::size_t apart(std::size_t columns) const {
    return padded_ ? (columns - 1) * pitch_ + rows_.out : columns * rows_.out;
  }

  void forward_padded(bool add, const T* x, T* y) {
    pad(x);
    std::fill_n(adds_.get(), filters_, false);
    over_columns([&](std::size_t from, std::size_t columns) {
      const std::size_t n = apart(columns);
      aim(out_, piece_.data(), filters_, n);
      unfold_padded(from, n);
      multiply<T>(n, taps_, filters_, windows_.get(), in_.data(), out_.data(), adds_.get());
      over_results(y, from, columns, [&](T* result, std::size_t k) {
        copy_or_add(add, rows_.out, piece_.data() + k, result);
      });
    });
  }
  void filter_gradient_padded(bool add, const T* x, const T* dy) {
    pad(x);
    over_columns([&](std::size_t from, std::size_t columns) {
      const std::size_t n = apart(columns);
      spread(dy, from, columns);
      transposed_.resize(n * filters_);
      transpose(n, filters_, piece_.data(), transposed_.data());
      unfold_padded(from, n);
      clear_between(columns);
      aim(in_, static_cast<const T*>(windows_.get()), taps_, n);
      std::fill_n(adds_.get(), taps_, from > 0 || add);
      multiply<T>(filters_, n, taps_, transposed_.data(), in_.data(), out_.data(), adds_.get());
    });
  }
  void image_gradient_padded(const T* dy, T* dx) {
    std::fill(image_.begin(), image_.end(), T(0));
    std::fill_n(adds_.get(), taps_, false);
    over_columns([&](std::size_t from, std::size_t columns) {
      const std::size_t n = apart(columns);
      spread(dy, from, columns);
      aim(out_, windows_.get(), taps_, n);
      multiply<T>(n, filters_, taps_, piece_.data(), in_.data(), out_.data(), adds_.get());
      clear_between(columns);
      over_runs(from, n, [&](T* __restrict in, const T* __restrict window) {
        copy_or_add(true, n, window, in);
      });
    });
    over_image([&](std::size_t place, const T* padded) {
      copy_or_add(true, rows_.in, padded, dx + place);
    });
    std::fill(image_.begin(), image_.end(), T(0));  // around the next image
  }

  template <class F>
  void over_columns(F f) const {
    for (std::size_t from = 0; from < cols_.out; from += step_)
      f(from, std::min<std::size_t>(step_, cols_.out - from));
  }
  // f(column of results, its place in a piece) for some columns of positions, filter by filter.
  template <class P, class F>
  void over_results(P* y, std::size_t from, std::size_t columns, F f) const {
    const std::size_t n = apart(columns);
    for (std::size_t k = 0; k < filters_; ++k)
      for (std::size_t j = 0; j < columns; ++j)
        f(y + k * positions_ + (from + j) * rows_.out, k * n + j * pitch_);
  }
  // f(place in the image, the same with zeros around it) for the columns of all channels.
  template <class F>
  void over_image(F f) {
    for (std::size_t c = 0; c < f_[2]; ++c)
      for (std::size_t j = 0; j < cols_.in; ++j)
        f((c * cols_.in + j) * rows_.in,
          image_.data() + c * channel_ + (j + cols_.before) * pitch_ + rows_.before);
  }
  // f(run of the image with zeros around it, column of the windows) for each tap.
  template <class F>
  void over_runs(std::size_t from, std::size_t n, F f) {
    T* window = windows_.get();
    for (std::size_t c = 0; c < f_[2]; ++c)
      for (std::size_t e = 0; e < f_[1]; ++e)
        for (std::size_t a = 0; a < f_[0]; ++a, window += n)
          f(image_.data() + c * channel_ + (from + e) * pitch_ + a, window);
  }
  void pad(const T* x) {
    over_image(
        [&](std::size_t place, T* padded) { copy_or_add(false, rows_.in, x + place, padded); });
  }
  void unfold_padded(std::size_t from, std::size_t n) {
    over_runs(from, n, [&](const T* __restrict in, T* __restrict window) {
      copy_or_add(false, n, in, window);
    });
  }
  // Makes the rows of the matrix zero that are no positions.
  void clear_between(std::size_t columns) {
    const std::size_t n = apart(columns);
    for (std::size_t t = 0; t < taps_; ++t)
      for (std::size_t j = 1; j < columns; ++j) {
        T* const next = windows_.get() + t * n + j * pitch_;
        std::fill(next - (pitch_ - rows_.out), next, T(0));
      }
  }
  // The results of some columns of positions as a piece, zero where there is no position.
  void spread(const T* y, std::size_t from, std::size_t columns) {
    std::fill_n(piece_.data(), apart(columns) * filters_, T(0));
    over_results(y, from, columns, [&](const T* result, std::size_t k) {
      copy_or_add(false, rows_.out, result, piece_.data() + k);
    });
  }
  static void copy_or_add(bool add, std::size_t n, const T* __restrict from, T* __restrict to) {
    if (add)
      in_lanes(n, [&](std::size_t k, auto... rest) {
        L::store(to + k, L::load(to + k, rest...) + L::load(from + k, rest...), rest...);
      });
    else
      in_lanes(n, [&](std::size_t k, auto... rest) {
        L::store(to + k, L::load(from + k, rest...), rest...);
      });
  }

  // The n results of a piece, each filter's behind that of the one before.
  const T* results(const T* y, std::size_t from, std::size_t n) {
    if (n == positions_) return y;
    piece_.resize(n * filters_);
    for (std::size_t k = 0; k < filters_; ++k)
      std::copy_n(y + k * positions_ + from, n, piece_.data() + k * n);
    return piece_.data();
  }

  // f(from, n) for n positions from the one numbered `from`: whole columns of them.
  template <class F>
  void over_pieces(F f) const {
    if (positions_ == 0) return;
    for (std::size_t from = 0; from < cols_.out; from += step_)
      f(from * rows_.out, std::min<std::size_t>(step_, cols_.out - from) * rows_.out);
  }

  // n columns, `step` apart.
  template <class P>
  static void aim(std::vector<P*>& columns, P* p, std::size_t n, std::size_t step) {
    for (std::size_t k = 0; k < n; ++k) columns[k] = p + k * step;
  }

  // The windows of n positions: n rows, a column for each tap.
  const T* read(const T* x, std::size_t from, std::size_t n) const {
    if (!windows_) return x;
    unfold(x, from, n);
    return windows_.get();
  }

  // use(column of the windows, reach by rows, first element met in the image; null if there is
  // none), for every tap and every column of n positions.
  template <class P, class Use>
  void over_taps(P* x, std::size_t first_place, std::size_t n, Use use) const {
    const std::size_t from = first_place / rows_.out, to = from + n / rows_.out;
    T* window = windows_.get();
    for (std::size_t c = 0; c < f_[2]; ++c)
      for (std::size_t e = 0; e < f_[1]; ++e) {
        const Reach across(cols_, e);
        for (std::size_t a = 0; a < f_[0]; ++a) {
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
                  in_lanes(r.end - r.first, [&](std::size_t k, auto... rest) {
                    L::store(window + r.first + k, L::load(in + k, rest...), rest...);
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
        in_lanes(r.end - r.first, [&](std::size_t k, auto... rest) {
          const auto sum = L::load(in + k, rest...) + L::load(window + r.first + k, rest...);
          L::store(in + k, sum, rest...);
        });
      else
        for (std::size_t k = r.first; k < r.end; ++k) in[(k - r.first) * stride] += window[k];
    });
  }

  // f(k) for whole vectors of n elements, and f(k, First) for the rest: a row is often shorter than
  // a call of memcpy is worth.
  template <class F>
  static void in_lanes(std::size_t n, F f) {
    std::size_t k = 0;
    for (; k + L::kWidth <= n; k += L::kWidth) f(k);
    if (k < n) f(k, typename L::First(n - k));
  }
  static void put_zeros(std::size_t n, T* p) {
    in_lanes(n, [&](std::size_t k, auto... rest) { L::store(p + k, typename L::V{}, rest...); });
  }

  const Batch<T>& b_;
  const Dim &x_, &f_;
  shape::Sliding rows_, cols_;
  std::size_t positions_, filters_, taps_;
  std::size_t step_;              // columns of positions in one piece
  std::unique_ptr<T[]> windows_;  // none where they are the image itself
  std::vector<const T*> in_;      // columns of a product
  std::vector<T*> out_;
  std::unique_ptr<bool[]> adds_;
  std::vector<T> transposed_, piece_;
  bool padded_ = false;
  std::size_t pitch_ = 0, channel_ = 0;  // from column to column, and from channel to channel
  std::vector<T> image_;                 // with zeros around it
  const T* transposed_of_ = nullptr;     // the filter that image_gradient transposed last
};

}  // namespace

template <class T>
void conv2d_forward(const Batch<T>& b) {
  Convolution<T> c(b);
  const std::size_t n = c.positions(), size = b.dim().batch_size();
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      T* const y = b.out(i) + e * size;
      if (b.arity > 2) {
        const T* bias = b.in(2, i) + (b.dim(2).bd == 1 ? 0 : e * c.filters());
        for (std::size_t k = 0; k < c.filters(); ++k) std::fill_n(y + k * n, n, bias[k]);
      }
      c.forward(b.arity > 2, c.x(i, e), c.f(i, e), y);
    }
}

namespace {

template <class T>
void filter_gradients(const GradientBatch<T>& b, Convolution<T>& c) {
  const std::size_t size = b.dim().batch_size(), batch = b.dim().bd;
  const std::size_t taps = c.taps(), filters = c.filters();
  const bool one = b.dim(1).bd == 1;
  std::vector<T> transposed(taps * filters), sum(taps * filters);
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* const df = b.d_in(1, i))
      for (std::size_t e = 0; e < batch; ++e) {
        c.filter_gradient(one && e > 0, c.x(i, e), b.d_out(i) + e * size, transposed.data());
        if (one && e + 1 < batch) continue;
        transpose(filters, taps, transposed.data(), sum.data());
        store_or_add(b.add(1, i), array(df + c.of_f(e), sum.size()), array(sum.data(), sum.size()));
      }
}

}  // namespace

template <class T>
void conv2d_backward(const GradientBatch<T>& b) {
  Convolution<T> c(b);
  const std::size_t n = c.positions(), size = b.dim().batch_size(), batch = b.dim().bd;
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* const dx = b.d_in(0, i)) {
      if (!b.add(0, i)) std::fill_n(dx, b.dim(0).size(), T(0));
      for (std::size_t e = 0; e < batch; ++e)
        c.image_gradient(c.f(i, e), b.d_out(i) + e * size, dx + c.of_x(e));
    }
  filter_gradients(b, c);
  if (b.arity < 3) return;
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* const db = b.d_in(2, i))
      for (std::size_t e = 0; e < batch; ++e) {
        const bool one = b.dim(2).bd == 1, add = b.add(2, i) || (e > 0 && one);
        for (std::size_t k = 0; k < c.filters(); ++k) {
          T& to = db[(one ? 0 : e * c.filters()) + k];
          to = (add ? to : T(0)) + sum_in_order(array(b.d_out(i) + e * size + k * n, n));
        }
      }
}

template void conv2d_forward(const Batch<Scalar>&);
template void conv2d_backward(const GradientBatch<Scalar>&);

}  // namespace dynet::cpu::DYNET_ISA
