#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dynet-like/io/model_file.h"
#include "examples/nlp/common/model_file.h"

/// Hostile model files of the programs, with right checksums.

/// A model file whose description need not be one that a model can be made of.
template <class Model>
struct Forged {
  const std::string kind = nlp::model_kind(Model::kProgram);
  const typename Model::Description& description;
  const dynet::ParameterCollection& weights;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive << kind << description << weights;
  }
};
template <class Model>
void forge(const std::string& path, const typename Model::Description& description,
           const dynet::ParameterCollection& weights) {
  dynet::save(path, Forged<Model>{.description = description, .weights = weights});
}

/// The file `to`, as `from` but for its first archive.
inline void forge_archive(const std::string& from, const std::string& to,
                          const std::function<void(std::string&)>& change) {
  const dynet::ModelFile file(from);
  std::vector<std::string> sections;
  for (const dynet::SavedThing& thing : file.index().things)
    sections.push_back(file.read(thing.data));
  for (const dynet::SavedGroup& group : file.index().groups)
    for (const dynet::SavedTensor& tensor : group.tensors)
      sections.push_back(file.read(tensor.data));
  change(sections[0]);
  dynet::write_model_file(to, file.index(), {sections.begin(), sections.end()});
}
