// Gradients of tables that are handed out to be looked at and written to.

#include <algorithm>
#include <cstring>
#include <new>

#include "dynet-like/param/gradient_reader.h"

namespace dynet {
namespace {

bool is_zero(const float* v, std::size_t n) {
  return std::all_of(v, v + n, [](float x) { return x == 0; });
}

}  // namespace

void GradientBuffers::ShownRows::make(std::size_t r, std::size_t size) {
  if (now) return;
  now.reset(static_cast<float*>(std::calloc(std::max<std::size_t>(1, r * size), sizeof(float))));
  if (!now) throw std::bad_alloc();
  rows = r;
  row_size = size;
}

bool GradientBuffers::ShownRows::changed(std::uint32_t r) const {
  const auto at = then.find(r);
  return at == then.end() ? !is_zero(row(r), row_size)
                          : std::memcmp(row(r), at->second.data(), row_size * sizeof(float)) != 0;
}

bool GradientBuffers::ShownRows::changed() const {
  for (std::uint32_t r = 0; r < rows; ++r)
    if (changed(r)) return true;
  return false;
}

std::vector<std::uint32_t> GradientBuffers::ShownRows::changed_rows() const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t r = 0; live && r < rows; ++r)
    if (changed(r)) all.push_back(r);
  return all;
}

void GradientBuffers::ShownRows::correct(std::uint32_t r, float* sum) const {
  const auto at = then.find(r);
  for (std::size_t i = 0; i < row_size; ++i) {
    const float written = row(r)[i], before = at == then.end() ? 0.0f : at->second[i];
    if (written == before) continue;
    sum[i] = sum[i] == before ? written : written + (sum[i] - before);
  }
}

// Puts what was written into the sum of all.
void GradientBuffers::correct_rows(std::size_t table, ShownRows& shown, GradientBuffer& sum) {
  RowGradients& to = sum.rows(table, shown.rows, shown.row_size);
  for (const std::uint32_t r : shown.changed_rows()) {
    float* g = to.whole_written() ? to.whole() + r * shown.row_size : nullptr;
    if (!g) {
      const GradientSlot slot = to.use_row(r);
      g = slot.g;
      if (!slot.written) std::fill_n(g, shown.row_size, 0.0f);
    }
    shown.correct(r, g);
    std::copy_n(g, shown.row_size, shown.row(r));
    shown.then[r].assign(g, g + shown.row_size);
  }
}

float* GradientBuffers::show_rows(std::size_t table, std::size_t rows, std::size_t row_size) {
  GradientReader reader(*this);
  ShownRows& shown = shown_rows_[table];
  shown.make(rows, row_size);
  std::map<std::uint32_t, std::vector<float>> sums, written;
  for (const std::uint32_t r : reader.rows_of_buffers(table))
    if (const float* g = reader.find_row_sum(table, r)) sums[r].assign(g, g + row_size);
  for (const std::uint32_t r : shown.changed_rows()) {
    const auto at = sums.find(r);
    std::vector<float>& g = written[r];
    g = at == sums.end() ? std::vector<float>(row_size, 0.0f) : at->second;
    shown.correct(r, g.data());
  }
  for (std::uint32_t r = 0; r < rows; ++r)
    if (!is_zero(shown.row(r), row_size)) std::fill_n(shown.row(r), row_size, 0.0f);
  for (const auto& [r, g] : sums) std::copy(g.begin(), g.end(), shown.row(r));
  for (const auto& [r, g] : written) std::copy(g.begin(), g.end(), shown.row(r));
  shown.then = std::move(sums);
  shown.live = true;
  return shown.now.get();
}

}  // namespace dynet
