#include "examples/mixed/emoji/encoders.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/text.h"

namespace emoji {

using dynet::Expression;

void Column::check() const {
  const std::string which = "its column " + nlp::in_quotes(name);
  nlp::require(std::isfinite(mean) && std::isfinite(deviation) && deviation > 0,
               which + " has no mean or deviation");
  nlp::require_texts("words of the column " + nlp::in_quotes(name), values, 0);
  nlp::require(std::is_sorted(values.begin(), values.end()), which + " is not sorted");
}

std::vector<Column> columns_of(const Corpus& corpus, const std::string& file) {
  struct Found {
    double sum = 0, squares = 0, count = 0;
    std::set<std::string> values;
  };
  std::map<std::string, Found> found;
  for (const Sample& sample : corpus) {
    for (const auto& [name, cell] : sample.row) {
      Found& column = found[name];
      if (const auto* const number = std::get_if<double>(&cell)) {
        column.sum += *number;
        column.squares += *number * *number;
        ++column.count;
      } else {
        column.values.insert(std::get<std::string>(cell));
      }
      if (column.count > 0 && !column.values.empty())
        throw nlp::LineError(file, sample.line,
                             "the column " + nlp::in_quotes(name) +
                                 " has both numbers and words: expected one of them");
    }
  }
  std::vector<Column> columns;
  for (const auto& [name, column] : found) {
    Column made{name, 0, 1, {column.values.begin(), column.values.end()}};
    if (made.values.empty()) {
      made.mean = column.sum / column.count;
      const double variance = column.squares / column.count - made.mean * made.mean;
      if (variance > 1e-12) made.deviation = std::sqrt(variance);
    }
    columns.push_back(std::move(made));
  }
  return columns;
}

std::vector<float> row_numbers(const Row& row, const std::vector<Column>& columns) {
  std::vector<float> numbers;
  for (const Column& column : columns) {
    const std::size_t begin = numbers.size();
    numbers.resize(begin + column.width());
    const auto cell = row.find(column.name);
    if (cell == row.end()) continue;
    const auto* const number = std::get_if<double>(&cell->second);
    if (column.values.empty() && number != nullptr) {
      numbers[begin] = static_cast<float>((*number - column.mean) / column.deviation);
    } else if (!column.values.empty() && number == nullptr) {
      const auto& word = std::get<std::string>(cell->second);
      const auto at = std::lower_bound(column.values.begin(), column.values.end(), word);
      if (at != column.values.end() && *at == word)
        numbers[begin + static_cast<std::size_t>(at - column.values.begin())] = 1;
    }
  }
  return numbers;
}

std::vector<float> picture_numbers(const Picture& picture, const Shift& shift) {
  const auto size = static_cast<int>(picture.size);
  const std::size_t plane = std::size_t{picture.size} * picture.size;
  std::vector<float> numbers(plane * Picture::kChannels);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const int from_y = y - shift.down, column = x - shift.right;
      const int from_x = shift.mirrored ? size - 1 - column : column;
      if (from_y < 0 || from_y >= size || from_x < 0 || from_x >= size) continue;
      const auto from = static_cast<std::size_t>(from_y * size + from_x) * Picture::kChannels;
      const auto to = static_cast<std::size_t>(x * size + y);
      for (std::size_t channel = 0; channel < Picture::kChannels; ++channel)
        numbers[to + channel * plane] = static_cast<float>(picture.points[from + channel]) / 255;
    }
  }
  return numbers;
}

PictureEncoder::PictureEncoder(dynet::ParameterCollection& parameters, unsigned picture,
                               unsigned filters) {
  if (picture < kSmallest)
    throw nlp::UserError("pictures need " + std::to_string(kSmallest) +
                         " lines or more, these have " + std::to_string(picture));
  unsigned input = Picture::kChannels;
  for (unsigned layer = 0; layer < kLayers; ++layer) {
    const unsigned output = filters << layer;
    const std::string name = "filters" + std::to_string(layer);
    const float deviation = std::sqrt(2.0f / static_cast<float>(9 * input));
    layers_.push_back(
        {output,
         parameters.add_parameters({3, 3, input, output},
                                   dynet::ParameterInitNormal(0, deviation * deviation), name),
         parameters.add_parameters({output}, dynet::ParameterInitConst(0), name + "-bias"),
         {},
         {}});
    input = output;
  }
}

void PictureEncoder::begin_graph(dynet::ComputationGraph& graph) {
  for (Layer& layer : layers_) {
    layer.filters_node = parameter(graph, layer.filters);
    layer.bias_node = parameter(graph, layer.bias);
  }
}

Expression PictureEncoder::encode(const Expression& image) const {
  Expression x = image;
  for (const Layer& layer : layers_) {
    x = rectify(conv2d(x, layer.filters_node, layer.bias_node, {1, 1}, false));
    x = maxpooling2d(x, {2, 2}, {2, 2});
    dynet::ComputationGraph& graph = *x.pg;
    x = layer_norm(x, ones(graph, x.dim()), zeros(graph, x.dim()), 1e-5f);
  }
  return mean_dim(x, {0, 1});
}

}  // namespace emoji
