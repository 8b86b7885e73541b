#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"

namespace nlp {

/// Unknown word.
inline const char* const kUnknown = "<unk>";

/// Distinct texts in order of first appearance, after the unknown one.
class Collector {
 public:
  void add(const std::string& text) {
    if (seen_.insert(text).second) texts_.push_back(text);
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_ = {kUnknown};
  std::unordered_set<std::string> seen_ = {kUnknown};
};

/// Numbers of these texts; a text outside the list gets that of the unknown word, if that is the
/// first.
inline dynet::Dict make_dict(const std::vector<std::string>& texts) {
  dynet::Dict dict;
  for (const std::string& text : texts) dict.convert(text);
  dict.freeze();
  if (!texts.empty() && texts[0] == kUnknown) dict.set_unk(kUnknown);
  return dict;
}

}  // namespace nlp
