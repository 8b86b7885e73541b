#include "examples/mixed/emoji/model.h"

#include <algorithm>
#include <utility>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/vocabulary.h"

namespace emoji {

using dynet::Expression;

namespace {

unsigned size_of(const std::vector<std::string>& texts) {
  return static_cast<unsigned>(texts.size());
}

/// Index of a label in a sorted list that contains it.
unsigned place_in(const std::vector<std::string>& labels, const std::string& label) {
  return static_cast<unsigned>(std::lower_bound(labels.begin(), labels.end(), label) -
                               labels.begin());
}

bool is_in(const std::vector<std::string>& labels, const std::string& label) {
  return std::binary_search(labels.begin(), labels.end(), label);
}

unsigned largest_of(const std::vector<float>& values) {
  return static_cast<unsigned>(std::max_element(values.begin(), values.end()) - values.begin());
}

/// Counts of labels.
using Counts = std::map<std::string, std::size_t>;

std::vector<std::string> names_of(const Counts& counts) {
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) names.push_back(name);
  return names;
}

/// Most frequent label; among equally frequent labels the alphabetically first.
std::string most_frequent(const Counts& counts) {
  const auto rarer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(counts.begin(), counts.end(), rarer);
  return most == counts.end() ? "" : most->first;
}

}  // namespace

void ModelSettings::check() const {
  inputs.check();
  nlp::require_size("number of filters", filters);
  nlp::require_size("word size", word);
  nlp::require_size("hidden size", hidden);
  nlp::require_dropout(dropout);
  nlp::require_dropout(drop_parts);
}

void Description::check() const {
  split.check();
  settings.check();
  nlp::require_number("size of a picture", picture, 0, 65536);
  nlp::require_known_texts("words", words);
  for (const Column& column : columns) column.check();
  const auto check_labels = [](const std::vector<std::string>& labels, const std::string& most) {
    nlp::require_texts("labels", labels);
    nlp::require(std::is_sorted(labels.begin(), labels.end()), "its labels are not sorted");
    nlp::require_among("most frequent label", most, labels);
  };
  check_labels(groups, frequent_group);
  check_labels(subgroups, frequent_subgroup);
}

Description describe(Description chosen, const Corpus& train, const std::string& file) {
  nlp::Collector words;
  Counts groups, subgroups;
  for (const Sample& sample : train) {
    for (const std::string& word : sample.words) words.add(nlp::lower_cased(word));
    if (sample.image) chosen.picture = sample.image->size;
    ++groups[sample.group];
    ++subgroups[sample.subgroup];
  }
  chosen.words = words.take();
  chosen.columns = columns_of(train, file);
  chosen.groups = names_of(groups);
  chosen.subgroups = names_of(subgroups);
  chosen.frequent_group = most_frequent(groups);
  chosen.frequent_subgroup = most_frequent(subgroups);
  return chosen;
}

Model::Model(Description description, const nlp::Start& start)
    : DescribedModel(std::move(description), start), words_(nlp::make_dict(description_.words)) {
  const ModelSettings& s = description_.settings;
  const auto add_gate = [&](Input input, unsigned size) {
    gates_[input] = {dynet::Linear(parameters_, {size, s.hidden}),
                     dynet::LayerNorm(parameters_, {s.hidden})};
  };
  if (s.inputs.has(Input::kImage) && description_.picture > 0) {
    pictures_ = PictureEncoder(parameters_, description_.picture, s.filters);
    add_gate(Input::kImage, pictures_.output());
  }
  if (s.inputs.has(Input::kText) && description_.words.size() > 1) {
    table_ = parameters_.add_lookup_parameters(size_of(description_.words), {s.word}, "words");
    add_gate(Input::kText, s.word);
  }
  if (s.inputs.has(Input::kTable) && !description_.columns.empty()) {
    unsigned cells = 0;
    for (const Column& column : description_.columns)
      cells += static_cast<unsigned>(column.width());
    row_ = dynet::Linear(parameters_, {cells, s.hidden});
    add_gate(Input::kTable, s.hidden);
  }
  always_ = parameters_.add_parameters({s.hidden}, dynet::ParameterInitConst(0), "always");
  groups_ = dynet::Linear(parameters_, {s.hidden, size_of(description_.groups)});
  subgroups_ = dynet::Linear(parameters_, {s.hidden, size_of(description_.subgroups)});
}

Model::Encoded Model::encode(const Sample& sample, const Shift& shift) const {
  Encoded encoded;
  if (const std::string why = why_unreadable(sample); !why.empty()) throw nlp::UserError(why);
  if (sample.image && gates_.count(Input::kImage) > 0)
    encoded.picture = picture_numbers(*sample.image, shift);
  if (gates_.count(Input::kText) > 0) {
    for (const std::string& word : sample.words)
      encoded.words.push_back(static_cast<unsigned>(words_.convert(nlp::lower_cased(word))));
  }
  if (!sample.row.empty() && gates_.count(Input::kTable) > 0)
    encoded.row = row_numbers(sample.row, description_.columns);
  return encoded;
}

std::string Model::why_unreadable(const Sample& sample) const {
  if (!sample.image || gates_.count(Input::kImage) == 0) return "";
  const unsigned size = sample.image->size;
  if (size == description_.picture) return "";
  return "the picture of " + nlp::in_quotes(sample.emoji) + " has " + std::to_string(size) +
         " lines, those that the model knows have " + std::to_string(description_.picture);
}

unsigned Model::group_number(const std::string& group) const {
  return place_in(description_.groups, group);
}
unsigned Model::subgroup_number(const std::string& subgroup) const {
  return place_in(description_.subgroups, subgroup);
}

void Model::report_unknown_labels(const Corpus& corpus, const std::string& name) const {
  nlp::UnknownNames unknown("subgroup", name);
  for (const Sample& sample : corpus) {
    if (!is_in(description_.subgroups, sample.subgroup)) unknown.add(sample.subgroup, sample.line);
  }
  unknown.report("it gets none of them right");
}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  training_ = training;
  if (gates_.count(Input::kImage) > 0) pictures_.begin_graph(graph);
  if (gates_.count(Input::kTable) > 0) row_.new_graph(graph);
  for (auto& [input, gate] : gates_) {
    gate.linear.new_graph(graph);
    gate.norm.new_graph(graph);
  }
  always_node_ = parameter(graph, always_);
  groups_.new_graph(graph);
  subgroups_.new_graph(graph);
}

Expression Model::dropped(const Expression& x) const {
  const float rate = description_.settings.dropout;
  return training_ && rate > 0 ? dropout(x, rate) : x;
}

Model::Vectors Model::read(dynet::ComputationGraph& graph, const Encoded& sample,
                           const Inputs& inputs) {
  Vectors vectors;
  const auto add = [&](Input input, const Expression& part) {
    const Gate& gate = gates_.at(input);
    vectors[input] = gate.norm.apply(gate.linear.apply(part));
  };
  if (inputs.has(Input::kImage) && !sample.picture.empty()) {
    const unsigned size = description_.picture;
    add(Input::kImage, pictures_.encode(input(graph, dynet::Dim({size, size, Picture::kChannels}),
                                              sample.picture)));
  }
  if (inputs.has(Input::kText) && !sample.words.empty())
    add(Input::kText, dropped(mean_batches(lookup(graph, table_, sample.words))));
  if (inputs.has(Input::kTable) && !sample.row.empty()) {
    const auto cells = static_cast<unsigned>(sample.row.size());
    add(Input::kTable, rectify(row_.apply(input(graph, dynet::Dim({cells}), sample.row))));
  }
  return vectors;
}

Model::Scores Model::scores(const Vectors& parts, const Inputs& inputs) const {
  std::vector<Expression> found = {always_node_};
  for (const auto& [input, vector] : parts) {
    if (inputs.has(input)) found.push_back(vector);
  }
  const Expression hidden = dropped(silu(sum(found), 1.0f));
  return {groups_.apply(hidden), subgroups_.apply(hidden)};
}

Expression Model::loss(dynet::ComputationGraph& graph, const Encoded& sample, const Inputs& inputs,
                       unsigned group, unsigned subgroup) {
  const Scores all = scores(read(graph, sample, inputs), inputs);
  return pickneglogsoftmax(all.groups, group) + pickneglogsoftmax(all.subgroups, subgroup);
}

std::vector<std::vector<Prediction>> Model::predict(dynet::ComputationGraph& graph,
                                                    std::span<const Sample> samples,
                                                    std::span<const Inputs> choices) {
  graph.clear();
  begin_graph(graph, false);
  std::vector<Expression> groups, subgroups;
  for (const Sample& sample : samples) {
    const Vectors parts = read(graph, encode(sample), Inputs::all());
    for (const Inputs& inputs : choices) {
      const Scores all = scores(parts, inputs);
      groups.push_back(softmax(all.groups));
      subgroups.push_back(softmax(all.subgroups));
    }
  }
  std::vector<std::vector<Prediction>> predictions(samples.size());
  if (groups.empty()) return predictions;
  const Expression both[] = {concatenate_to_batch(groups), concatenate_to_batch(subgroups)};
  graph.forward(dynet::concatenate({both[0], both[1]}));
  const std::vector<float> g = as_vector(both[0].value()), s = as_vector(both[1].value());
  nlp::require_scores(g);
  nlp::require_scores(s);
  const auto piece = [](const std::vector<float>& values, std::size_t i, std::size_t count) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * count);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    predictions[i / choices.size()].push_back(
        {piece(g, i, description_.groups.size()), piece(s, i, description_.subgroups.size())});
  }
  return predictions;
}

Report evaluate(Model& model, const Corpus& corpus, const std::string& name, const Inputs& inputs) {
  const Description& description = model.description();
  Report report;
  report.name = name;
  const std::vector<Inputs> choices = inputs.both(description.settings.inputs).choices();
  if (choices.empty())
    throw nlp::UserError("the model knows nothing but " + description.settings.inputs.names());
  for (const Inputs& choice : choices) report.choices.push_back({choice, {}});
  const auto predictions = nlp::predict_in_parts(
      model, corpus, kSamplesPerGraph, name, "emoji",
      [&](Model& mine, dynet::ComputationGraph& graph, std::span<const Sample> samples) {
        return mine.predict(graph, samples, choices);
      });
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const Sample& sample = corpus[i];
    const std::vector<Prediction>& found = predictions[i];
    for (std::size_t k = 0; k < choices.size(); ++k) {
      Accuracy& accuracy = report.choices[k].accuracy;
      accuracy.group.count(description.groups[largest_of(found[k].groups)] == sample.group);
      accuracy.subgroup.count(description.subgroups[largest_of(found[k].subgroups)] ==
                              sample.subgroup);
    }
    const Prediction& whole = found.back();
    report.labels.count(sample.group, description.groups[largest_of(whole.groups)]);
    report.baseline.group.count(description.frequent_group == sample.group);
    report.baseline.subgroup.count(description.frequent_subgroup == sample.subgroup);
    if (is_in(description.groups, sample.group))
      report.sureness += static_cast<double>(whole.groups[model.group_number(sample.group)]);
    if (is_in(description.subgroups, sample.subgroup)) {
      report.sureness +=
          static_cast<double>(whole.subgroups[model.subgroup_number(sample.subgroup)]);
    } else {
      ++report.unknown;
    }
  }
  return report;
}

}  // namespace emoji
