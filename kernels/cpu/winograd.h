#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dynet-like/base/pod_vector.h"
#include "kernels/cpu/direct_convolution.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/sliding.h"

namespace dynet::cpu::DYNET_ISA {

/// Transforms of Winograd's minimal filtering F(2, 3): the two results at three taps g over four
/// numbers d are A'[(G g) * (B' d)], with four multiplications instead of six. `line` transforms
/// numbers that are `in` apart to numbers that are `out` apart.
namespace winograd {

struct Image {  // B'
  static constexpr int kIn = 4, kOut = 4;
  template <class V>
  static void line(const V* d, int in, V* v, int out) {
    v[0] = d[0] - d[2 * in];
    v[out] = d[in] + d[2 * in];
    v[2 * out] = d[2 * in] - d[in];
    v[3 * out] = d[in] - d[3 * in];
  }
};
struct Filter {  // G
  static constexpr int kIn = 3, kOut = 4;
  template <class V>
  static void line(const V* g, int in, V* u, int out) {
    const V ends = (g[0] + g[2 * in]) / 2, middle = g[in] / 2;
    u[0] = g[0];
    u[out] = ends + middle;
    u[2 * out] = ends - middle;
    u[3 * out] = g[2 * in];
  }
};
struct Result {  // A'
  static constexpr int kIn = 4, kOut = 2;
  template <class V>
  static void line(const V* m, int in, V* y, int out) {
    y[0] = m[0] + m[in] + m[2 * in];
    y[out] = m[in] - m[2 * in] - m[3 * in];
  }
};
struct FilterGradient {  // G'
  static constexpr int kIn = 4, kOut = 3;
  template <class V>
  static void line(const V* u, int in, V* g, int out) {
    const V sum = (u[in] + u[2 * in]) / 2;
    g[0] = u[0] + sum;
    g[out] = (u[in] - u[2 * in]) / 2;
    g[2 * out] = u[3 * in] + sum;
  }
};
struct ResultGradient {  // A
  static constexpr int kIn = 2, kOut = 4;
  template <class V>
  static void line(const V* y, int in, V* m, int out) {
    m[0] = y[0];
    m[out] = y[0] + y[in];
    m[2 * out] = y[0] - y[in];
    m[3 * out] = -y[in];
  }
};

/// Transforms kIn x kIn numbers along rows and columns.
template <class Transform, class V>
[[gnu::always_inline]] inline void transform(const V* from, V* to) {
  constexpr int kIn = Transform::kIn, kOut = Transform::kOut;
  V half[kIn * kOut];
#pragma GCC unroll 4
  for (int c = 0; c < kIn; ++c) Transform::line(from + c * kIn, 1, half + c * kOut, 1);
#pragma GCC unroll 4
  for (int r = 0; r < kOut; ++r) Transform::line(half + r, kOut, to + r, kOut);
}

}  // namespace winograd

/// Convolution by 3x3 taps at stride 1 by Winograd's F(2x2, 3x3) (Lavin, Gray: Fast algorithms for
/// convolutional neural networks, CVPR 2016, section 4.1): a tile of 2x2 results costs 16
/// multiplications for each channel and filter instead of 36. Images are transposed so that
/// vectors run along channels; place q of the 16 of all tiles is one product of matrices. The
/// transforms make NaN of infinities: such images are left to DirectConvolution. The error is
/// relative to the largest number of a tile, even where a tap is zero or does not read it.
template <class T>
class WinogradConvolution {
 public:
  WinogradConvolution(const shape::Sliding& rows, const shape::Sliding& cols, std::size_t channels,
                      std::size_t filters)
      : rows_(rows), cols_(cols), channels_(channels), filters_(filters) {}

  /// Whether it pays off where DirectConvolution::suits.
  static bool suits(const shape::Sliding& rows, const shape::Sliding& cols, std::size_t channels,
                    std::size_t filters) {
    const auto side = [](const shape::Sliding& s) {
      return s.size == 3 && s.stride == 1 && s.out >= kFewest;
    };
    return side(rows) && side(cols) && std::min(channels, filters) >= kFewestChannels;
  }

  /// y = windows of x times f, plus `bias` if it is not null
  void forward(const T* bias, const T* x, const T* f, T* y) {
    if (std::exchange(forward_of_, f) != f) {
      by_tap_.resize_uninitialized(kTaps * channels_ * filters_);
      transpose(kTaps * channels_, filters_, f, by_tap_.data());
      forward_.resize_uninitialized(kPlaces * channels_ * filters_);
      for (std::size_t c = 0; c < channels_; ++c)
        transform_filter(by_tap_.data() + c * kTaps * filters_, filters_, c, channels_, false,
                         forward_);
    }
    if (!convolve(image(), result(), image_windows_, channels_, filters_, x, forward_, bias, false,
                  y))
      direct().forward(bias, x, f, y);
  }

  /// dx = or += dy f', scattered to the windows: itself a convolution, see DirectConvolution
  void image_gradient(bool add, const T* f, const T* dy, T* dx) {
    if (std::exchange(gradient_of_, f) != f) {
      by_tap_.resize_uninitialized(kTaps * channels_);
      gradient_.resize_uninitialized(kPlaces * channels_ * filters_);
      for (std::size_t k = 0; k < filters_; ++k) {
        transpose(kTaps, channels_, f + k * kTaps * channels_, by_tap_.data());
        transform_filter(by_tap_.data(), channels_, k, filters_, true, gradient_);
      }
    }
    const Plane from{rows_.out, cols_.out, 2 - rows_.before, 2 - cols_.before};
    if (!convolve(from, {rows_.in, cols_.in, 0, 0}, turned_windows_, filters_, channels_, dy,
                  gradient_, nullptr, add, dx))
      direct().image_gradient(add, f, dy, dx);
  }

  /// Adds dy' windows to the gradient of the filter, or starts a new sum.
  void add_filter_gradient(bool first, const T* x, const T* dy) {
    if (first) summed_.clear();
    summed_.push_back({x, dy});
    sums_.resize_uninitialized(kPlaces * channels_ * filters_);
    const T* const image_by_pixel = by_pixel(image(), channels_, x, x_);
    const T* const dy_by_pixel = by_pixel(result(), filters_, dy, y_);
    list_windows(image(), channels_, result(), 4, image_windows_);
    list_windows(result(), filters_, result(), 2, result_windows_);
    for_tiles(result(), [&](const Tiles& tiles) {
      spread<winograd::Image>(image_windows_, channels_, image_by_pixel, tiles, v_);
      spread<winograd::ResultGradient>(result_windows_, filters_, dy_by_pixel, tiles, m_);
      offsets_.clear();
      for (std::size_t t = 0; t < tiles.count; ++t)
        offsets_.push_back(static_cast<std::uint32_t>(t * channels_));
      set_adds(channels_, !first || tiles.first > 0);
      for (std::size_t q = 0; q < kPlaces; ++q) {
        aim(v_.data() + q * tiles.step(channels_), 1, sums_.data() + q * channels_ * filters_,
            filters_, channels_);
        multiply_at<T>(filters_, tiles.count, channels_, m_.data() + q * tiles.step(filters_),
                       in_.data(), offsets_.data(), out_.data(), adds_.data());
      }
    });
  }
  /// The sum, transposed: filters x taps
  const T* filter_gradient() {
    by_tap_.resize_uninitialized(kTaps * channels_ * filters_);
    V bad{};
    for (std::size_t c = 0; c < channels_; ++c)
      in_vectors<T>(filters_, [&](std::size_t k, auto part) {
        V u[kPlaces], g[kTaps];
        for (std::size_t q = 0; q < kPlaces; ++q)
          u[q] = L::load(sums_.data() + (q * channels_ + c) * filters_ + k, part);
        winograd::transform<winograd::FilterGradient>(u, g);
        for (std::size_t tap = 0; tap < kTaps; ++tap) {
          bad += g[tap] - g[tap];
          L::store(by_tap_.data() + (c * kTaps + tap) * filters_ + k, g[tap], part);
        }
      });
    if (is_finite(bad)) return by_tap_.data();
    for (std::size_t k = 0; k < summed_.size(); ++k)
      direct().add_filter_gradient(k == 0, summed_[k].first, summed_[k].second);
    return direct().filter_gradient();
  }

 private:
  using L = Lanes<T>;
  using V = typename L::V;
  using Numbers = PodVector<T>;
  static constexpr std::size_t kTaps = 9, kPlaces = 16, kFewestChannels = 16;
  static constexpr std::size_t kFewest = 4;  // results along a side: three half fill their tiles
  static constexpr std::size_t kBytes = std::size_t{1} << 19;  // of the tiles that are held

  // Pixels of an image in memory, and the rows and columns of padding before it.
  struct Plane {
    std::size_t rows, cols, rows_before, cols_before;
    std::size_t size() const { return rows * cols; }
  };
  struct Tiles {  // column by column
    std::size_t first, count, down;
    // Distance of the places of tiles with n numbers: an odd number of vectors, so that the places
    // of a tile are in different sets of the caches.
    std::size_t step(std::size_t n) const {
      return ((count * n + L::kWidth - 1) / L::kWidth | 1) * L::kWidth;
    }
  };
  // Positions of the numbers of each tile's window in an image by pixel.
  using Windows = PodVector<std::uint32_t>;

  Plane image() const { return {rows_.in, cols_.in, rows_.before, cols_.before}; }
  Plane result() const { return {rows_.out, cols_.out, 0, 0}; }
  DirectConvolution<T>& direct() {
    if (!direct_) direct_.emplace(rows_, cols_, channels_, filters_);
    return *direct_;
  }
  static bool is_finite(V zero) {
    for (std::size_t k = 0; k < L::kWidth; ++k)
      if (!(zero[k] == 0)) return false;
    return true;
  }

  // The image with its n channels side by side at each pixel, and behind it zeros.
  static const T* by_pixel(const Plane& plane, std::size_t n, const T* image, Numbers& to) {
    to.resize_uninitialized((plane.size() + 1) * n);
    transpose(plane.size(), n, image, to.data());
    std::fill_n(to.data() + plane.size() * n, n, T(0));
    return to.data();
  }

  // Lists the windows of `side` x `side` pixels for the tiles of the results, once.
  static void list_windows(const Plane& plane, std::size_t n, const Plane& results,
                           std::size_t side, Windows& to) {
    if (!to.empty()) return;
    for (std::size_t j = 0; j < results.cols; j += 2)
      for (std::size_t i = 0; i < results.rows; i += 2)
        for (std::size_t c = j - plane.cols_before; c != j + side - plane.cols_before; ++c)
          for (std::size_t r = i - plane.rows_before; r != i + side - plane.rows_before; ++r) {
            const bool inside = r < plane.rows && c < plane.cols;  // before 0 they wrap around
            to.push_back(
                static_cast<std::uint32_t>((inside ? c * plane.rows + r : plane.size()) * n));
          }
  }

  // Calls f for blocks of nearly as many tiles, which have memory for their numbers.
  template <class F>
  void for_tiles(const Plane& results, F f) {
    const std::size_t down = (results.rows + 1) / 2, all = down * ((results.cols + 1) / 2);
    const std::size_t most =
        std::max<std::size_t>(kBytes / (kPlaces * (channels_ + filters_) * sizeof(T)), 8);
    std::size_t first = 0;
    for (std::size_t blocks = (all + most - 1) / most; blocks > 0; --blocks) {
      const Tiles tiles{first, (all - first) / blocks, down};
      v_.resize_uninitialized(kPlaces * tiles.step(std::max(channels_, filters_)));
      m_.resize_uninitialized(v_.size());
      f(tiles);
      first += tiles.count;
    }
  }

  // Transforms the taps of one channel, with n numbers each, into channel `at` of `channels`.
  static void transform_filter(const T* taps, std::size_t n, std::size_t at, std::size_t channels,
                               bool reversed, Numbers& to) {
    in_vectors<T>(n, [&](std::size_t k, auto part) {
      V g[kTaps], u[kPlaces];
      for (std::size_t tap = 0; tap < kTaps; ++tap)
        g[tap] = L::load(taps + (reversed ? kTaps - 1 - tap : tap) * n + k, part);
      winograd::transform<winograd::Filter>(g, u);
      for (std::size_t q = 0; q < kPlaces; ++q)
        L::store(to.data() + (q * channels + at) * n + k, u[q], part);
    });
  }

  // Transforms the windows of tiles of an image with n channels: [place][tile][channel].
  template <class Transform>
  void spread(const Windows& windows, std::size_t n, const T* image, const Tiles& tiles,
              Numbers& numbers) const {
    constexpr std::size_t kIn = Transform::kIn * Transform::kIn;
    const std::size_t step = tiles.step(n);
    const std::uint32_t* pixels = windows.data() + tiles.first * kIn;
    T* to = numbers.data();
    for (std::size_t t = 0; t < tiles.count; ++t, pixels += kIn, to += n)
      in_vectors<T>(
          n, [=](std::size_t k, auto part) __attribute__((always_inline)) {
            V d[kIn], v[kPlaces];
#pragma GCC unroll 16
            for (std::size_t q = 0; q < kIn; ++q) d[q] = L::load(image + pixels[q] + k, part);
            winograd::transform<Transform>(d, v);
#pragma GCC unroll 16
            for (std::size_t q = 0; q < kPlaces; ++q) L::store(to + q * step + k, v[q], part);
          });
  }

  // Results of tiles, by pixel. Adds zero to `bad` if they are finite.
  void gather(const Plane& plane, std::size_t n, const Tiles& tiles, const T* bias, T* to,
              V& bad) const {
    const std::size_t step = tiles.step(n), right = plane.rows * n;
    const T* in = m_.data();
    for (std::size_t t = tiles.first; t < tiles.first + tiles.count; ++t, in += n) {
      const std::size_t row = 2 * (t % tiles.down), col = 2 * (t / tiles.down);
      const bool has_low = row + 1 < plane.rows, has_right = col + 1 < plane.cols;
      T* const out = to + col * right + row * n;
      in_vectors<T>(
          n, [&, in, out ](std::size_t k, auto part) __attribute__((always_inline)) {
            V m[kPlaces], y[4];
#pragma GCC unroll 16
            for (std::size_t q = 0; q < kPlaces; ++q) m[q] = L::load(in + q * step + k, part);
            winograd::transform<winograd::Result>(m, y);
            const V all = (y[0] + y[1]) + (y[2] + y[3]);
            bad += all - all;
            const V start = bias ? L::load(bias + k, part) : V{};
            L::store(out + k, y[0] + start, part);
            if (has_low) L::store(out + n + k, y[1] + start, part);
            if (has_right) L::store(out + right + k, y[2] + start, part);
            if (has_low && has_right) L::store(out + right + n + k, y[3] + start, part);
          });
    }
  }

  // to = or += the convolution of an image with n channels, by transformed filters (16 x n x m).
  // Returns false, and writes nothing, if there are results that are not finite.
  bool convolve(const Plane& from, const Plane& results, Windows& windows, std::size_t n,
                std::size_t m, const T* image, const Numbers& filters, const T* bias, bool add,
                T* to) {
    const T* const x = by_pixel(from, n, image, x_);
    list_windows(from, n, results, 4, windows);
    y_.resize_uninitialized(results.size() * m);
    V bad{};
    for_tiles(results, [&](const Tiles& tiles) {
      spread<winograd::Image>(windows, n, x, tiles, v_);
      set_adds(tiles.count, false);
      for (std::size_t q = 0; q < kPlaces; ++q) {
        aim(v_.data() + q * tiles.step(n), n, m_.data() + q * tiles.step(m), m, tiles.count);
        multiply<T>(m, n, tiles.count, filters.data() + q * n * m, in_.data(), out_.data(),
                    adds_.data());
      }
      gather(results, m, tiles, bias, y_.data(), bad);
    });
    if (!is_finite(bad)) return false;
    transpose_to(m, results.size(), static_cast<const T*>(y_.data()), to, results.size(), add);
    return true;
  }

  // Sets the columns of a product.
  void aim(const T* in, std::size_t in_step, T* out, std::size_t out_step, std::size_t n) {
    in_.resize_uninitialized(n);
    out_.resize_uninitialized(n);
    for (std::size_t j = 0; j < n; ++j) {
      in_[j] = in + j * in_step;
      out_[j] = out + j * out_step;
    }
  }
  void set_adds(std::size_t n, bool add) {
    adds_.resize_uninitialized(n);
    std::fill(adds_.begin(), adds_.end(), add);
  }

  const shape::Sliding &rows_, &cols_;
  std::size_t channels_, filters_;
  Numbers by_tap_, forward_, gradient_, sums_;
  const T *forward_of_ = nullptr, *gradient_of_ = nullptr;  // filters transformed last
  Windows image_windows_, result_windows_, turned_windows_;
  Numbers x_, y_, v_, m_;                              // by pixel, and by tile
  std::vector<std::pair<const T*, const T*>> summed_;  // x and dy
  PodVector<std::uint32_t> offsets_;
  PodVector<const T*> in_;  // columns of a product
  PodVector<T*> out_;
  PodVector<bool> adds_;
  std::optional<DirectConvolution<T>> direct_;
};

}  // namespace dynet::cpu::DYNET_ISA
