#pragma once

#include <string>
#include <vector>

#include "examples/nlp/parser/conllu.h"

namespace parser {

/// Lines of a parsed sentence: CoNLL-U with the tree and a blank line, or an object of JSON.
std::vector<std::string> output_lines(const Sentence& sentence, const Tree& tree, bool json);

}  // namespace parser
