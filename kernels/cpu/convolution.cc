#include "kernels/cpu/convolution.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/cpu/eigen.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/sliding.h"

namespace dynet::cpu {
namespace {

template <class T>
using ConstColumns =
    Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;

/// A convolution as products. The windows of an image are the rows of a matrix with a column for
/// each tap: places x taps times the filter's taps x filters. The matrix is made piece by piece, a
/// few columns of the image's places at a time, small enough for the cache.
template <class T>
class Convolution {
 public:
  explicit Convolution(const Batch<T>& b)
      : b_(b),
        x_(b.dim(0)),
        f_(b.dim(1)),
        rows_(slide(0)),
        cols_(slide(1)),
        places_(std::size_t{rows_.out} * cols_.out),
        filters_(f_[3]),
        taps_(std::size_t{f_[0]} * f_[1] * f_[2]),
        step_(std::max(1u, cols_.out)),
        filter_(filters_),
        to_(filters_),
        adds_(std::make_unique<bool[]>(filters_)) {
    const bool windows_are_image =
        f_[0] == 1 && f_[1] == 1 && rows_.stride == 1 && cols_.stride == 1;
    if (windows_are_image) return;
    constexpr std::size_t kBytes = 1 << 20;
    const std::size_t column = taps_ * rows_.out;  // windows of one column of places
    step_ =
        std::clamp<std::size_t>(kBytes / std::max<std::size_t>(1, column * sizeof(T)), 1, step_);
    windows_ = std::make_unique_for_overwrite<T[]>(column * step_);
  }

  std::size_t places() const { return places_; }
  std::size_t filters() const { return filters_; }

  /// y = or += windows of x times f
  void forward(bool add, const T* x, const T* f, T* y) {
    aim(filter_, f, taps_);
    std::fill_n(adds_.get(), filters_, add);
    over_pieces([&](std::size_t from, std::size_t to) {
      aim(to_, y + from * rows_.out, places_);
      multiply<T>((to - from) * rows_.out, taps_, filters_, read(x, from, to), filter_.data(),
                  to_.data(), adds_.get());
    });
  }
  /// df = or += windows' dy. Here and below Eigen is faster: sums are over all places, or short.
  void filter_gradient(bool add, const T* x, const T* dy, T* df) {
    auto to_filter = matrix(df, taps_, filters_);
    if (!add) to_filter.setZero();
    over_pieces([&](std::size_t from, std::size_t to) {
      const std::size_t n = (to - from) * rows_.out;
      to_filter.noalias() += matrix(read(x, from, to), n, taps_).transpose() * results(dy, from, n);
    });
  }
  /// dx += what dy f' gives to the elements of each window
  void image_gradient(const T* f, const T* dy, T* dx) {
    const auto filter = matrix(f, taps_, filters_).transpose();
    over_pieces([&](std::size_t from, std::size_t to) {
      const std::size_t n = (to - from) * rows_.out;
      if (windows_) {
        matrix(windows_.get(), n, taps_).noalias() = results(dy, from, n) * filter;
        fold(from, to, dx);
      } else {
        matrix(dx, n, taps_).noalias() += results(dy, from, n) * filter;
      }
    });
  }

  const T* x(std::size_t i, std::size_t e) const { return b_.in(0, i) + of_x(e); }
  const T* f(std::size_t i, std::size_t e) const { return b_.in(1, i) + of_f(e); }
  std::size_t of_x(std::size_t e) const { return x_.bd == 1 ? 0 : e * x_.batch_size(); }
  std::size_t of_f(std::size_t e) const { return f_.bd == 1 ? 0 : e * taps_ * filters_; }

 private:
  shape::Sliding slide(unsigned k) const {
    const auto& a = b_.template attr<ConvolutionAttr>();
    return shape::slide(x_[k], f_[k], a.stride[k], a.valid != 0);
  }

  // The n results of a piece.
  ConstColumns<T> results(const T* y, std::size_t from, std::size_t n) const {
    return {y + from * rows_.out, static_cast<Index>(n), static_cast<Index>(filters_),
            Eigen::OuterStride<>(static_cast<Index>(places_))};
  }

  // f(from, to) for the columns of places [from, to).
  template <class F>
  void over_pieces(F f) const {
    if (places_ == 0) return;
    for (std::size_t from = 0; from < cols_.out; from += step_)
      f(from, std::min<std::size_t>(from + step_, cols_.out));
  }

  // A column for each filter.
  template <class P>
  static void aim(std::vector<P*>& columns, P* p, std::size_t step) {
    for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = p + k * step;
  }

  // The windows of a piece.
  const T* read(const T* x, std::size_t from, std::size_t to) const {
    if (!windows_) return x;
    unfold(x, from, to);
    return windows_.get();
  }

  // use(column of the windows, reach by rows, first element met in the image; null if there is
  // none), for every tap and every column of places.
  template <class P, class Use>
  void over_taps(P* x, std::size_t from, std::size_t to, Use use) const {
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

  void unfold(const T* x, std::size_t from, std::size_t to) const {
    const std::size_t n = rows_.out, stride = rows_.stride;
    over_taps(x, from, to, [&](T* __restrict window, const Reach& r, const T* __restrict in) {
      if (!in) {
        std::fill_n(window, n, T(0));
        return;
      }
      std::fill_n(window, r.first, T(0));
      if (stride == 1)
        std::copy_n(in, r.end - r.first, window + r.first);
      else
        for (std::size_t k = r.first; k < r.end; ++k) window[k] = in[(k - r.first) * stride];
      std::fill_n(window + r.end, n - r.end, T(0));
    });
  }

  void fold(std::size_t from, std::size_t to, T* dx) const {
    const std::size_t stride = rows_.stride;
    over_taps(dx, from, to, [&](const T* __restrict window, const Reach& r, T* __restrict in) {
      if (!in) return;
      if (stride == 1)
        for (std::size_t k = r.first; k < r.end; ++k) in[k - r.first] += window[k];
      else
        for (std::size_t k = r.first; k < r.end; ++k) in[(k - r.first) * stride] += window[k];
    });
  }

  const Batch<T>& b_;
  const Dim &x_, &f_;
  shape::Sliding rows_, cols_;
  std::size_t places_, filters_, taps_;
  std::size_t step_;              // columns of places in one piece
  std::unique_ptr<T[]> windows_;  // none where they are the image itself
  std::vector<const T*> filter_;
  std::vector<T*> to_;
  std::unique_ptr<bool[]> adds_;
};

}  // namespace

template <class T>
void conv2d_forward(const Batch<T>& b) {
  Convolution<T> c(b);
  const std::size_t n = c.places(), size = b.dim().batch_size();
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

template <class T>
void conv2d_backward(const GradientBatch<T>& b) {
  Convolution<T> c(b);
  const std::size_t n = c.places(), size = b.dim().batch_size(), batch = b.dim().bd;
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* const dx = b.d_in(0, i)) {
      if (!b.add(0, i)) std::fill_n(dx, b.dim(0).size(), T(0));
      for (std::size_t e = 0; e < batch; ++e)
        c.image_gradient(c.f(i, e), b.d_out(i) + e * size, dx + c.of_x(e));
    }
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* const df = b.d_in(1, i))
      for (std::size_t e = 0; e < batch; ++e)
        c.filter_gradient(b.add(1, i) || (e > 0 && b.dim(1).bd == 1), c.x(i, e),
                          b.d_out(i) + e * size, df + c.of_f(e));
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

#define DYNET_INSTANTIATE(T)                     \
  template void conv2d_forward(const Batch<T>&); \
  template void conv2d_backward(const GradientBatch<T>&);
DYNET_INSTANTIATE(float)
DYNET_INSTANTIATE(double)

}  // namespace dynet::cpu
