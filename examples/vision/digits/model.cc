#include "examples/vision/digits/model.h"

#include <algorithm>
#include <utility>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/text_input.h"
#include "examples/nlp/common/vocabulary.h"

namespace digits {
namespace {

using dynet::Expression;

constexpr unsigned kWindow = 3, kBlocks = 4;
constexpr unsigned kLargest = 16;  ///< pictures with at least as many rows or columns are halved
constexpr std::size_t kTogether = 64;

dynet::Parameter filters(dynet::ParameterCollection& to, unsigned in, unsigned out,
                         const std::string& name) {
  const float variance = 2.0f / static_cast<float>(kWindow * kWindow * in);
  return to.add_parameters({kWindow, kWindow, in, out}, dynet::ParameterInitNormal(0, variance),
                           name);
}

}  // namespace

void ModelSettings::check() const {
  nlp::require_number("number of channels", channels, 1, 1024);
  nlp::require_dropout(dropout);
  nlp::require_number("shift", shift, 0, 64);
}

void Description::check() const {
  split.check();
  settings.check();
  nlp::require_number("height of pictures", height, 1, kLargestSide);
  nlp::require_number("width of pictures", width, 1, kLargestSide);
  nlp::require_texts("labels", labels);
  nlp::require_among("most frequent label", most_frequent, labels);
}

Description describe(const nlp::Split& split, const ModelSettings& settings, const Corpus& train) {
  const Picture& first = train.at(0).picture;
  return {split, settings, first.height, first.width, labels_of(train), most_frequent_label(train)};
}

Pixels encode(const Picture& picture) {
  Pixels pixels;
  pixels.reserve(picture.pixels.size());
  for (unsigned column = 0; column < picture.width; ++column) {
    for (unsigned row = 0; row < picture.height; ++row)
      pixels.push_back(static_cast<float>(picture.at(row, column)) / 127.5f - 1.0f);
  }
  return pixels;
}

Pixels varied(const Pixels& pixels, unsigned height, unsigned width, int down, int right,
              bool mirrored) {
  const int rows = static_cast<int>(height), columns = static_cast<int>(width);
  Pixels result(pixels.size(), -1.0f);
  for (int column = std::max(0, right); column < std::min(columns, columns + right); ++column) {
    const int from = mirrored ? columns - 1 - (column - right) : column - right;
    for (int row = std::max(0, down); row < std::min(rows, rows + down); ++row) {
      result[static_cast<std::size_t>(column * rows + row)] =
          pixels[static_cast<std::size_t>(from * rows + row - down)];
    }
  }
  return result;
}

Model::Model(Description description, const nlp::Start& start)
    : DescribedModel(std::move(description), start), labels_(nlp::make_dict(description_.labels)) {
  const unsigned channels = description_.settings.channels;
  first_ = filters(parameters_, 1, channels, "first");
  first_norm_ = dynet::ImageNorm(parameters_, {channels});
  for (unsigned k = 0; k < kBlocks; ++k) {
    if (k == kBlocks / 2) {
      wider_ = filters(parameters_, channels, 2 * channels, "wider");
      wider_norm_ = dynet::ImageNorm(parameters_, {2 * channels});
    }
    blocks_.emplace_back(parameters_, dynet::ResidualConvolution::Settings{
                                          k < kBlocks / 2 ? channels : 2 * channels, kWindow});
  }
  output_ =
      dynet::Linear(parameters_, {4 * channels, static_cast<unsigned>(description_.labels.size())});
}

unsigned Model::label_number(const std::string& label) const {
  return static_cast<unsigned>(labels_.convert(label));
}

void Model::report_unknown_labels(const Corpus& corpus, const std::string& name) const {
  nlp::UnknownNames unknown("label", name);
  for (const Sample& sample : corpus) {
    if (!has_label(sample.label)) unknown.add(sample.label, sample.place);
  }
  unknown.report("it gets none of them right");
}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  training_ = training;
  first_node_ = parameter(graph, first_);
  wider_node_ = parameter(graph, wider_);
  first_norm_.new_graph(graph);
  wider_norm_.new_graph(graph);
  for (dynet::ResidualConvolution& block : blocks_) block.new_graph(graph);
  output_.new_graph(graph);
}

Expression Model::scores(dynet::ComputationGraph& graph, std::span<const Pixels> pictures) {
  const Description& d = description_;
  std::vector<float> all;
  all.reserve(pictures.size() * d.height * d.width);
  for (const Pixels& pixels : pictures) all.insert(all.end(), pixels.begin(), pixels.end());
  const auto count = static_cast<unsigned>(pictures.size());
  Expression x = input(graph, dynet::Dim({d.height, d.width, 1}, count), all);
  x = rectify(first_norm_.apply(conv2d(x, first_node_, {1, 1}, false)));
  while (std::max(x.dim()[0], x.dim()[1]) >= kLargest) x = maxpooling2d(x, {2, 2}, {2, 2}, false);
  for (unsigned k = 0; k < kBlocks; ++k) {
    if (k == kBlocks / 2) x = rectify(wider_norm_.apply(conv2d(x, wider_node_, {2, 2}, false)));
    x = blocks_[k].apply(x);
  }
  const unsigned channels = x.dim()[2], places = x.dim()[0] * x.dim()[1];
  const Expression flat = reshape(x, dynet::Dim({places, channels}, count));
  Expression seen = dynet::concatenate({mean_dim(flat, {0}), max_dim(flat, 0)});
  if (training_ && d.settings.dropout > 0) seen = dropout(seen, d.settings.dropout);
  return output_.apply(seen);
}

Expression Model::loss(dynet::ComputationGraph& graph, std::span<const Pixels> pictures,
                       const std::vector<unsigned>& labels) {
  return sum_batches(pickneglogsoftmax(scores(graph, pictures), labels));
}

std::vector<Prediction> Model::predict(dynet::ComputationGraph& graph,
                                       std::span<const Pixels> pictures) {
  std::vector<Prediction> predictions;
  if (pictures.empty()) return predictions;
  graph.clear();
  begin_graph(graph, false);
  const std::vector<float> values = as_vector(graph.forward(softmax(scores(graph, pictures))));
  const auto labels = static_cast<std::ptrdiff_t>(description_.labels.size());
  nlp::require_scores(values);
  for (auto at = values.begin(); at != values.end(); at += labels) {
    const auto best = std::max_element(at, at + labels);
    predictions.push_back({static_cast<unsigned>(best - at), {at, at + labels}});
  }
  return predictions;
}

Report evaluate(Model& model, const Corpus& corpus, const std::string& name) {
  const Description& description = model.description();
  const std::vector<std::string>& labels = description.labels;
  Report report{name, {}, {}, 0, 0};
  const auto predictions = nlp::predict_in_parts(
      model, corpus, kTogether, name, "pictures",
      [](Model& mine, dynet::ComputationGraph& graph, std::span<const Sample> samples) {
        std::vector<Pixels> pictures;
        for (const Sample& sample : samples) pictures.push_back(encode(sample.picture));
        return mine.predict(graph, pictures);
      });
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const std::string& label = corpus[i].label;
    const Prediction& prediction = predictions[i];
    report.model.count(labels[prediction.label] == label);
    report.baseline.count(description.most_frequent == label);
    report.labels.count(label, labels[prediction.label]);
    if (model.has_label(label)) {
      report.sureness += static_cast<double>(prediction.probabilities[model.label_number(label)]);
    } else {
      ++report.unknown;
    }
  }
  return report;
}

}  // namespace digits
