#include "examples/nlp/classifier/model.h"

#include <algorithm>
#include <utility>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/vocabulary.h"

namespace classifier {
namespace {

using dynet::Expression;

/// Widths of the convolutions, in words.
constexpr unsigned kWidths[] = {2, 3, 4};

constexpr std::size_t kTextsPerGraph = 64;

/// Maximum of each row over all columns.
Expression largest(const Expression& columns) { return max_dim(columns, 1); }

}  // namespace

std::string view_of(const std::string& word, const ModelSettings& settings) {
  return settings.keep_case ? word : nlp::lower_cased(word);
}

void ModelSettings::check() const {
  nlp::require_named("encoder", kEncoders, encoder);
  nlp::require_size("word size", word);
  nlp::require_size("hidden size", hidden);
  nlp::require_size("number of filters", filters);
  nlp::require_dropout(dropout);
}

void Description::check() const {
  split.check();
  settings.check();
  nlp::require_known_texts("words", words);
  nlp::require_texts("labels", labels);
  nlp::require_among("most frequent label", most_frequent, labels);
}

Description describe(const nlp::Split& split, const ModelSettings& settings, const Corpus& train) {
  nlp::Collector words;
  for (const Sample& sample : train) {
    for (const std::string& word : sample.words) words.add(view_of(word, settings));
  }
  return {split, settings, words.take(), labels_of(train), most_frequent_label(train)};
}

Model::Model(Description description, const nlp::Start& start)
    : DescribedModel(std::move(description), start),
      words_(nlp::make_dict(description_.words)),
      labels_(nlp::make_dict(description_.labels)) {
  const ModelSettings& settings = description_.settings;
  table_ = parameters_.add_lookup_parameters(static_cast<unsigned>(description_.words.size()),
                                             {settings.word}, "words");
  unsigned size = 0;  // size of the text vector
  if (settings.has_lstm()) {
    lstm_.emplace_back(1u, settings.word, 2 * settings.hidden, parameters_);
    size += 2 * settings.hidden;
  }
  if (settings.has_cnn()) {
    for (const unsigned width : kWidths) {
      const std::string name = "filters" + std::to_string(width);
      convolutions_.push_back(
          {parameters_.add_parameters({width, 1, settings.word, settings.filters}, name),
           parameters_.add_parameters({settings.filters}, dynet::ParameterInitConst(0),
                                      name + "-bias"),
           {},
           {}});
      size += settings.filters;
    }
  }
  const auto labels = static_cast<unsigned>(description_.labels.size());
  weight_ = parameters_.add_parameters({labels, size}, "label-weight");
  bias_ = parameters_.add_parameters({labels}, dynet::ParameterInitConst(0), "label-bias");
}

std::vector<unsigned> Model::encode(const std::vector<std::string>& words) const {
  std::vector<unsigned> numbers;
  for (const std::string& word : words) {
    numbers.push_back(static_cast<unsigned>(words_.convert(view_of(word, description_.settings))));
  }
  return numbers;
}

void Model::report_unknown_labels(const Corpus& corpus, const std::string& name) const {
  nlp::UnknownNames unknown("label", name);
  for (const Sample& sample : corpus) {
    if (!labels_.contains(sample.label)) unknown.add(sample.label, sample.line);
  }
  unknown.report("it gets none of them right");
}

unsigned Model::label_number(const std::string& label) const {
  return static_cast<unsigned>(labels_.convert(label));
}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  training_ = training;
  for (auto& lstm : lstm_) lstm.new_graph(graph);
  for (Convolution& convolution : convolutions_) {
    convolution.filters_node = parameter(graph, convolution.filters);
    convolution.bias_node = parameter(graph, convolution.bias);
  }
  weight_node_ = parameter(graph, weight_);
  bias_node_ = parameter(graph, bias_);
}

Expression Model::dropped(const Expression& x) const {
  const float rate = description_.settings.dropout;
  return training_ && rate > 0 ? dropout(x, rate) : x;
}

Expression Model::read_by_lstm(const Expression& vectors) {
  std::vector<Expression> words;
  for (unsigned i = 0; i < vectors.dim().batch_elems(); ++i) {
    words.push_back(pick_batch_elem(vectors, i));
  }
  return largest(concatenate_cols(lstm_[0].transduce(words)));
}

Expression Model::read_by_cnn(const Expression& vectors) const {
  const auto& settings = description_.settings;
  const unsigned words = vectors.dim().batch_elems();
  // Image of height `words` and width one, with the vector elements as channels.
  const Expression image =
      reshape(transpose(reshape(vectors, {settings.word, words})), {words, 1, settings.word});
  std::vector<Expression> found;
  for (const Convolution& convolution : convolutions_) {
    const Expression y =
        conv2d(image, convolution.filters_node, convolution.bias_node, {1, 1}, false);
    found.push_back(max_dim(reshape(y, {words, settings.filters}), 0));
  }
  return rectify(concatenate(found));
}

Expression Model::scores(dynet::ComputationGraph& graph, const std::vector<unsigned>& words) {
  const Expression vectors = dropped(lookup(graph, table_, words));  // one batch of words
  std::vector<Expression> text;
  if (!lstm_.empty()) text.push_back(read_by_lstm(vectors));
  if (!convolutions_.empty()) text.push_back(read_by_cnn(vectors));
  return dynet::affine_transform({bias_node_, weight_node_, dropped(concatenate(text))});
}

Expression Model::loss(dynet::ComputationGraph& graph, const std::vector<unsigned>& words,
                       unsigned label) {
  return pickneglogsoftmax(scores(graph, words), label);
}

std::vector<Prediction> Model::predict(dynet::ComputationGraph& graph,
                                       std::span<const std::vector<std::string>> texts) {
  std::vector<Prediction> predictions;
  if (texts.empty()) return predictions;
  graph.clear();
  begin_graph(graph, false);
  std::vector<Expression> all;
  for (const std::vector<std::string>& words : texts) {
    all.push_back(softmax(scores(graph, encode(words))));
  }
  const std::vector<float> values = as_vector(graph.forward(concatenate_to_batch(all)));
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
      model, corpus, kTextsPerGraph, name, "texts",
      [](Model& mine, dynet::ComputationGraph& graph, std::span<const Sample> samples) {
        std::vector<std::vector<std::string>> texts;
        for (const Sample& sample : samples) texts.push_back(sample.words);
        return mine.predict(graph, texts);
      });
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const std::string& label = corpus[i].label;
    const Prediction& prediction = predictions[i];
    report.model.count(labels[prediction.label] == label);
    report.baseline.count(description.most_frequent == label);
    report.labels.count(label, labels[prediction.label]);
    if (std::binary_search(labels.begin(), labels.end(), label)) {
      report.sureness += static_cast<double>(prediction.probabilities[model.label_number(label)]);
    } else {
      ++report.unknown;
    }
  }
  return report;
}

}  // namespace classifier
