#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace dynet {

/// A matrix in 8 bits, for products with numbers that are rounded to 8 bits as well: element (i, j)
/// is scales[i] times an integer from -127 to 127.
struct Int8Matrix {
  /// Integers are packed in blocks of 16 rows and 4 columns, each with the columns of a row side by
  /// side; a panel has the blocks of 16 rows. Missing rows and columns are zero.
  static constexpr std::size_t kRows = 16, kColumns = 4;
  /// Matrices with more columns are multiplied in float: a sum of products fits into 32 bits.
  static constexpr std::size_t kMostColumns = 1 << 16;

  /// `values`: the integers, column-major; `row_scales`: one for each row.
  Int8Matrix(std::size_t rows, std::size_t columns, const float* row_scales,
             const std::int8_t* values);

  std::size_t panels() const { return (rows + kRows - 1) / kRows; }
  std::size_t blocks() const { return (columns + kColumns - 1) / kColumns; }  ///< of a panel
  const std::int8_t* panel(std::size_t i) const {
    return packed.get() + i * blocks() * kRows * kColumns;
  }

  std::size_t rows, columns;
  std::vector<float> scales;                                      ///< of the rows of all panels
  std::vector<std::int32_t> sums;                                 ///< of the integers of each row
  std::unique_ptr<std::int8_t[], void (*)(std::int8_t*)> packed;  ///< the panels, aligned
};

/// Integers that stand for numbers, each with one of some scales: number i has the scale of row i
/// modulo `rows`, or of part i / (count / rows) if `by_part`.
struct Int8Values {
  std::vector<float> scales;
  std::vector<std::int8_t> values;
};
/// Rounds numbers to the nearest integer times max |x| / 127, where the maximum is that of their
/// row or part. Throws ArgumentError for numbers that are not finite.
Int8Values to_int8(const float* numbers, std::size_t count, std::size_t rows, bool by_part);
/// The numbers that integers stand for.
void from_int8(const float* scales, const std::int8_t* values, std::size_t count, std::size_t rows,
               bool by_part, float* numbers);

}  // namespace dynet
