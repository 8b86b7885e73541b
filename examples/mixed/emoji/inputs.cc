#include "examples/mixed/emoji/inputs.h"

#include <algorithm>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text.h"

namespace emoji {
namespace {

const nlp::Names<Input> kNames = {
    {Input::kImage, "image"}, {Input::kText, "text"}, {Input::kTable, "table"}};

}  // namespace

Inputs Inputs::all() { return Inputs(bit(Input::kImage) | bit(Input::kText) | bit(Input::kTable)); }

void Inputs::check() const {
  nlp::require(!empty() && *this == both(all()),
               "its inputs are number " + std::to_string(bits_) + ", which is no choice of them");
}

Inputs Inputs::parse(const std::string& names) {
  Inputs inputs;
  for (const std::string& name : nlp::split_fields(names, ','))
    inputs = inputs.with(nlp::value_of(kNames, name, "part"));
  return inputs;
}

Inputs Inputs::of(const Sample& sample) {
  Inputs inputs;
  if (sample.image) inputs = inputs.with(Input::kImage);
  if (!sample.words.empty()) inputs = inputs.with(Input::kText);
  if (!sample.row.empty()) inputs = inputs.with(Input::kTable);
  return inputs;
}

std::size_t Inputs::size() const {
  return static_cast<std::size_t>(
      std::count_if(kAllInputs.begin(), kAllInputs.end(), [&](Input input) { return has(input); }));
}

std::string Inputs::names() const {
  std::vector<std::string> names;
  for (const Input input : kAllInputs) {
    if (has(input)) names.emplace_back(nlp::name_of(kNames, input));
  }
  return nlp::join(names, ",");
}

std::vector<Inputs> Inputs::choices() const {
  std::vector<Inputs> choices;
  for (unsigned bits = 1; bits <= bits_; ++bits) {
    if ((bits & ~bits_) == 0) choices.push_back(Inputs(bits));
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Inputs& a, const Inputs& b) { return a.size() < b.size(); });
  return choices;
}

}  // namespace emoji
