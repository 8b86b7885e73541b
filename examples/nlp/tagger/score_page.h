#pragma once

#include <string>
#include <vector>

#include "examples/nlp/tagger/evaluate.h"
#include "examples/nlp/tagger/model.h"

namespace tagger {

/// A page without scripts of how well a corpus was tagged: the scores beside the baseline's, by
/// class, for words seen and unseen in training, by length of the sentence, the most frequent
/// confusions, and the wrong tags of the highest probability in their context.
std::string score_page(const Report& report, const Corpus& corpus,
                       const std::vector<Tagging>& found, const Baseline& baseline);

}  // namespace tagger
