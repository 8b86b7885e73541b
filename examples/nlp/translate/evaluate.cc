#include "examples/nlp/translate/evaluate.h"

#include "examples/nlp/common/progress.h"

namespace translate {

nlp::Figures Report::figures() const {
  return {{"BLEU", model.bleu(), baseline.bleu()},
          {"chrF", model.chrf(), baseline.chrf()},
          {"exact", model.exact(), baseline.exact()},
          {"word errors", model.word_error_rate(), baseline.word_error_rate()}};
}

nlp::Counts Report::counts() const {
  return {{"sentences", model.sentences()}, {"words", model.words()}};
}

void Report::print(std::ostream& out) const {
  nlp::print_counts(name, counts(), out);
  nlp::print_table("  translation        ", "  the text as it is  ", figures(), out);
}

}  // namespace translate
