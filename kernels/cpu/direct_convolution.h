#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "dynet-like/base/pod_vector.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/sliding.h"

namespace dynet::cpu::DYNET_ISA {

/// Calls f(k, part) for n elements, a vector at a time: rows of images are often too short for
/// memcpy.
template <class T, class F>
void in_vectors(std::size_t n, F f) {
  using L = Lanes<T>;
  std::size_t k = 0;
  for (; k + L::kWidth <= n; k += L::kWidth) f(k, typename L::All());
  if (k < n) f(k, typename L::First(n - k));
}

/// Zero-padded images: channels of `rows.total` x `cols.total` elements with the image at offset
/// `before`. Images without padding are not copied.
template <class T>
class Framed {
 public:
  struct Side {
    std::size_t in, before, total;
    bool is_bare() const { return before == 0 && total <= in; }
  };

  Framed(Side rows, Side cols, std::size_t channels)
      : rows_(rows), cols_(cols), channels_(channels), bare_(rows.is_bare() && cols.is_bare()) {
    column_ = bare_ ? rows.in : rows.total;
    channel_ = column_ * (bare_ ? cols.in : cols.total);
  }

  /// The padded image, valid until the next call.
  const T* operator()(const T* x) {
    if (bare_) return x;
    if (!memory_) memory_ = std::make_unique<T[]>(channels_ * channel_);
    const std::size_t rows = std::min(rows_.in, rows_.total - rows_.before);
    const std::size_t cols = std::min(cols_.in, cols_.total - cols_.before);
    for (std::size_t c = 0; c < channels_; ++c)
      for (std::size_t j = 0; j < cols; ++j) {
        const T* const from = x + (c * cols_.in + j) * rows_.in;
        T* const to = memory_.get() + c * channel_ + (j + cols_.before) * column_ + rows_.before;
        in_vectors<T>(rows, [=](std::size_t k, auto part) {
          Lanes<T>::store(to + k, Lanes<T>::load(from + k, part), part);
        });
      }
    return memory_.get();
  }

  std::size_t column() const { return column_; }    ///< distance between columns
  std::size_t channel() const { return channel_; }  ///< distance between channels

 private:
  Side rows_, cols_;
  std::size_t channels_, column_, channel_;
  bool bare_;
  std::unique_ptr<T[]> memory_;
};

/// Convolution as products that read the zero-padded image in place: each output position is a
/// column, and all columns use one table of offsets. Vectors of these products run along the
/// filters in forward, and along the channels for the gradient of the image, which pays off for
/// enough filters or channels and taps. Results are transposed piece by piece.
template <class T>
class DirectConvolution {
 public:
  DirectConvolution(const shape::Sliding& rows, const shape::Sliding& cols, std::size_t channels,
                    std::size_t filters)
      : rows_(rows),
        cols_(cols),
        channels_(channels),
        filters_(filters),
        window_(std::size_t{rows.size} * cols.size),
        taps_(window_ * channels),
        positions_(std::size_t{rows.out} * cols.out),
        image_(side(rows), side(cols), channels) {
    for (std::size_t c = 0; c < channels; ++c)
      list(rows.size, cols.size, 1, image_.column(), c * image_.channel(), tap_places_);
    list(rows.out, cols.out, rows.stride, cols.stride * image_.column(), 0, places_);
  }

  static bool suits(const shape::Sliding& rows, const shape::Sliding& cols, std::size_t channels,
                    std::size_t filters) {
    const std::size_t window = std::size_t{rows.size} * cols.size;
    const bool is_product = window * rows.stride * cols.stride == 1;
    const std::size_t largest = (std::size_t{rows.in} + rows.size + rows.before) *
                                (std::size_t{cols.in} + cols.size + cols.before);
    return !is_product && rows.out > 0 && cols.out > 0 && filters >= kFewest &&
           window * channels >= kFewestTaps &&
           largest <= std::numeric_limits<std::uint32_t>::max() / std::max(channels, filters);
  }
  /// True if `image_gradient` pays off.
  static bool suits_gradient(const shape::Sliding& rows, const shape::Sliding& cols,
                             std::size_t channels, std::size_t filters) {
    return rows.stride == 1 && cols.stride == 1 && suits(rows, cols, filters, channels);
  }

  /// y = windows of x times f, plus `bias` if it is not null
  void forward(const T* bias, const T* x, const T* f, T* y) {
    if (std::exchange(forward_of_, f) != f) {
      filter_.resize(taps_ * filters_);
      transpose(taps_, filters_, f, filter_.data());
    }
    const T* const image = image_(x);
    multiply_pieces(filters_, taps_, positions_, filter_.data(), image, places_, tap_places_, bias,
                    false, y);
  }

  /// Adds dy' windows to the gradient of the filter, or starts a new sum.
  void add_filter_gradient(bool first, const T* x, const T* dy) {
    dy_.resize(positions_ * filters_);
    transpose(positions_, filters_, dy, dy_.data());
    sum_.resize(taps_ * filters_);
    aim(taps_, image_(x), tap_places_.data(), sum_.data(), filters_);
    std::fill(adds_.begin(), adds_.end(), !first);
    multiply_at<T>(filters_, positions_, taps_, dy_.data(), in_.data(), places_.data(), out_.data(),
                   adds_.data());
  }
  /// The sum, transposed: filters x taps
  const T* filter_gradient() const { return sum_.data(); }

  /// dx = or += dy f', scattered to the windows: itself a convolution, of zero-padded dy with
  /// reversed taps, and filters as channels
  void image_gradient(bool add, const T* f, const T* dy, T* dx) {
    if (!gradient_) gradient_ = std::make_unique<Framed<T>>(back(rows_), back(cols_), filters_);
    if (std::exchange(gradient_of_, f) != f) {
      turned_.resize(taps_ * filters_);
      turned_places_.clear();
      source_places_.clear();
      for (std::size_t k = 0; k < filters_; ++k) {
        transpose(window_, channels_, f + k * taps_, turned_.data() + k * taps_);
        list(rows_.size, cols_.size, 1, gradient_->column(), k * gradient_->channel(),
             turned_places_);
        std::reverse(turned_places_.end() - static_cast<std::ptrdiff_t>(window_),
                     turned_places_.end());
      }
      list(rows_.in, cols_.in, 1, gradient_->column(), 0, source_places_);
    }
    multiply_pieces(channels_, window_ * filters_, source_places_.size(), turned_.data(),
                    (*gradient_)(dy), source_places_, turned_places_, nullptr, add, dx);
  }

 private:
  using Places = std::vector<std::uint32_t>;
  static constexpr std::size_t kFewest = 16, kFewestTaps = 64;
  static constexpr std::size_t kPiece = std::size_t{1} << 16;  // in bytes of results

  static typename Framed<T>::Side side(const shape::Sliding& s) {
    return {s.in, s.before, std::size_t{s.out - 1} * s.stride + s.size};
  }
  static typename Framed<T>::Side back(const shape::Sliding& s) {
    return {s.out, s.size - 1 - s.before, std::size_t{s.in} + s.size - 1};
  }
  // Offsets of rows x cols elements, starting at `first`, with these distances.
  static void list(std::size_t rows, std::size_t cols, std::size_t row, std::size_t col,
                   std::size_t first, Places& places) {
    for (std::size_t j = 0; j < cols; ++j)
      for (std::size_t i = 0; i < rows; ++i)
        places.push_back(static_cast<std::uint32_t>(first + j * col + i * row));
  }

  // Sets the columns of a product: n columns of the image at these offsets, and n columns of
  // results.
  void aim(std::size_t n, const T* image, const std::uint32_t* places, T* out, std::size_t step) {
    in_.resize_uninitialized(n);
    out_.resize_uninitialized(n);
    adds_.resize_uninitialized(n);
    for (std::size_t j = 0; j < n; ++j) {
      in_[j] = image + places[j];
      out_[j] = out + j * step;
    }
  }

  // to = or += the transpose of w times n image columns, plus `start` if it is not null.
  void multiply_pieces(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* image,
                       const Places& columns, const Places& numbers, const T* start, bool add,
                       T* to) {
    const std::size_t most = std::max<std::size_t>(kPiece / sizeof(T) / m, 16);
    piece_.resize(std::min(n, most) * m);
    for (std::size_t from = 0; from < n; from += most) {
      const std::size_t here = std::min(most, n - from);
      aim(here, image, columns.data() + from, piece_.data(), m);
      std::fill(adds_.begin(), adds_.end(), false);
      multiply_at<T>(m, k, here, w, in_.data(), numbers.data(), out_.data(), adds_.data(), start);
      transpose_to(m, here, static_cast<const T*>(piece_.data()), to + from, n, add);
    }
  }

  const shape::Sliding &rows_, &cols_;
  std::size_t channels_, filters_, window_, taps_, positions_;
  Framed<T> image_;
  std::unique_ptr<Framed<T>> gradient_;  // padded dy
  Places tap_places_, places_, turned_places_, source_places_;
  std::vector<T> filter_, turned_, dy_, piece_, sum_;
  const T *forward_of_ = nullptr, *gradient_of_ = nullptr;  // filters transposed last
  PodVector<const T*> in_;                                  // columns of a product
  PodVector<T*> out_;
  PodVector<bool> adds_;
};

}  // namespace dynet::cpu::DYNET_ISA
