#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "corpus.h"
#include "dynet-like/dynet.h"

namespace rnnlm {

/// A sentence as numbers, without its end.
using Ids = std::vector<unsigned>;

/// The tokens that a model knows, from the most to the least frequent behind two special ones.
class Vocabulary {
 public:
  static constexpr unsigned kEnd = 0;  ///< ends every sentence, and stands before the first token
  static constexpr unsigned kUnknown = 1;  ///< stands for every other token

  explicit Vocabulary(std::vector<std::string> tokens);

  unsigned size() const { return static_cast<unsigned>(tokens_.size()); }
  const std::string& token(unsigned id) const { return tokens_[id]; }
  unsigned id(const std::string& token) const;
  Ids encode(const Sentence& sentence) const;

 private:
  std::vector<std::string> tokens_;
  dynet::Dict dict_;
};

/// The tokens of a vocabulary: those that training has at least `min_count` times.
std::vector<std::string> collect_tokens(const Corpus& train, std::size_t min_count);

}  // namespace rnnlm
