#pragma once

#include <string>
#include <vector>

#include "examples/nlp/annotate/model.h"
#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/json.h"

namespace annotate {

// Sentences of CoNLL-U whose tokens are given.

/// Splits tokens into the words that the model finds in them, in sentences that have nothing but
/// forms yet; the other sentences, and multiword tokens that the file has, stay as they are.
std::vector<nlp::conllu::Sentence> with_multiwords(Model& model,
                                                   std::vector<nlp::conllu::Sentence> sentences);

/// Fields to fill.
struct Fill {
  bool columns = true;   ///< LEMMA, UPOS, XPOS and FEATS
  bool trees = true;     ///< HEAD and DEPREL
  bool replace = false;  ///< true: also fields that are filled already
};

/// Fills the fields that are `_`; FEATS, and HEAD with DEPREL, if all of them are `_`.
void fill(nlp::conllu::Sentence& sentence, const Annotation& found, const Fill& what);

/// Comments, words and multiword tokens of a sentence. FEATS and MISC are objects; fields that are
/// `_` are left out.
nlp::Json json_of(const nlp::conllu::Sentence& sentence);

}  // namespace annotate
