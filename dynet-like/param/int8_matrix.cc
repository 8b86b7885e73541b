#include "dynet-like/param/int8_matrix.h"

#include <algorithm>
#include <cmath>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

constexpr std::size_t kRoom = 1024;  // tiles of AMX read as many bytes at a time

std::size_t scale_of(std::size_t i, std::size_t count, std::size_t rows, bool by_part) {
  return by_part ? i / (count / rows) : i % rows;
}

}  // namespace

Int8Matrix::Int8Matrix(std::size_t m, std::size_t n, const float* row_scales,
                       const std::int8_t* values)
    : rows(m),
      columns(n),
      scales(panels() * kRows),
      sums(panels() * kRows),
      packed(static_cast<std::int8_t*>(
                 allocate_zeroed(panels() * kRows * blocks() * kColumns + kRoom)),
             [](std::int8_t* p) { free_aligned(p); }) {
  std::copy_n(row_scales, rows, scales.begin());
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i) {
      const std::int8_t v = values[j * rows + i];
      const std::size_t block = i / kRows * blocks() + j / kColumns;
      packed[(block * kRows + i % kRows) * kColumns + j % kColumns] = v;
      sums[i] += v;
    }
}

Int8Values to_int8(const float* numbers, std::size_t count, std::size_t rows, bool by_part) {
  Int8Values result{std::vector<float>(rows), std::vector<std::int8_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(numbers[i])) throw ArgumentError("it has numbers that are not finite");
    float& scale = result.scales[scale_of(i, count, rows, by_part)];
    scale = std::max(scale, std::abs(numbers[i]));
  }
  for (float& scale : result.scales) {
    scale /= 127;
    if (!std::isfinite(127 * scale)) throw ArgumentError("it has numbers that are too large");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const float scale = result.scales[scale_of(i, count, rows, by_part)];
    const float q = scale > 0 ? std::nearbyint(numbers[i] / scale) : 0;
    result.values[i] = static_cast<std::int8_t>(std::clamp(q, -127.0f, 127.0f));
  }
  return result;
}

void from_int8(const float* scales, const std::int8_t* values, std::size_t count, std::size_t rows,
               bool by_part, float* numbers) {
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = scales[scale_of(i, count, rows, by_part)] * static_cast<float>(values[i]);
}

}  // namespace dynet
