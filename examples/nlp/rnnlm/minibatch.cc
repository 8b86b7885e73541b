#include "minibatch.h"

#include <algorithm>
#include <utility>

namespace rnnlm {

Minibatch::Minibatch(std::vector<const Ids*> sentences) : sentences_(std::move(sentences)) {
  for (const Ids* sentence : sentences_) {
    steps_ = std::max(steps_, sentence->size() + 1);
    tokens_ += sentence->size() + 1;
  }
}

std::vector<unsigned> Minibatch::inputs(std::size_t t) const {
  std::vector<unsigned> ids;
  ids.reserve(size());
  for (const Ids* sentence : sentences_) {
    ids.push_back(t > 0 && t <= sentence->size() ? (*sentence)[t - 1] : Vocabulary::kEnd);
  }
  return ids;
}

std::vector<unsigned> Minibatch::targets(std::size_t begin, std::size_t end) const {
  std::vector<unsigned> ids;
  ids.reserve((end - begin) * size());
  for (std::size_t t = begin; t < end; ++t) {
    for (const Ids* sentence : sentences_) {
      ids.push_back(t < sentence->size() ? (*sentence)[t] : Vocabulary::kEnd);
    }
  }
  return ids;
}

std::vector<float> Minibatch::mask(std::size_t begin, std::size_t end) const {
  std::vector<float> mask;
  mask.reserve((end - begin) * size());
  for (std::size_t t = begin; t < end; ++t) {
    for (const Ids* sentence : sentences_) mask.push_back(t <= sentence->size() ? 1.0f : 0.0f);
  }
  return mask;
}

std::vector<std::vector<std::size_t>> batches_of(const std::vector<Ids>& sentences,
                                                 std::vector<std::size_t> order,
                                                 const BatchLimits& limits) {
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sentences[a].size() < sentences[b].size();
  });
  std::vector<std::vector<std::size_t>> batches;
  for (std::size_t i : order) {
    const bool full = batches.empty() || batches.back().size() >= limits.sentences ||
                      (batches.back().size() + 1) * (sentences[i].size() + 1) > limits.tokens;
    if (full) batches.emplace_back();
    batches.back().push_back(i);
  }
  return batches;
}

}  // namespace rnnlm
