// Functions of the WebAssembly module, called by tagger.mjs. Strings are UTF-8. A result lives
// until the next call.
#include <emscripten/emscripten.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "examples/nlp/common/model_file.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/tagger/model.h"

namespace {

std::unique_ptr<tagger::Model> model;
std::string result;

/// "=" and the answer, or "!" and what is wrong.
template <class Function>
const char* answer(const Function& function) {
  try {
    result = '=' + function();
  } catch (const std::exception& e) {
    result = std::string("!") + e.what();
  }
  return result.c_str();
}

}  // namespace

/// Loads the model in the file. Returns all its tags, one a line.
extern "C" EMSCRIPTEN_KEEPALIVE const char* load_model(const char* file) {
  return answer([&] {
    model.reset();
    auto loaded = nlp::load_model<tagger::Model>(file);
    if (loaded->description().kind == tagger::TagKind::kMarks)
      throw nlp::UserError(std::string(file) + " restores text, and does not tag words");
    for (const std::string& tag : loaded->description().tags)
      for (const char c : tag)
        if (static_cast<unsigned char>(c) < 0x20)
          throw nlp::UserError(std::string(file) + " has a tag with a control character, " +
                               nlp::in_quotes(tag));
    model = std::move(loaded);
    return nlp::join(model->description().tags, "\n");
  });
}

/// Tags sentences: a word a line, an empty line between sentences. Returns the same lines with a
/// tag and its probability in place of the word.
extern "C" EMSCRIPTEN_KEEPALIVE const char* tag(const char* text) {
  return answer([&] {
    if (model == nullptr) throw nlp::UserError("no model has been loaded");
    std::vector<std::vector<std::string>> sentences;
    bool is_new = true;
    for (const std::string& line : nlp::split_fields(text, '\n')) {
      if (is_new && !line.empty()) sentences.emplace_back();
      if (!line.empty()) sentences.back().push_back(line);
      is_new = line.empty();
    }
    std::string lines;
    for (const tagger::Tagging& found : tag_all(*model, tagger::addresses_of(sentences), true)) {
      for (std::size_t i = 0; i < found.tags.size(); ++i) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "\t%.9g\n",
                      static_cast<double>(found.probabilities[i]));
        lines += found.tags[i] + digits;
      }
      lines += '\n';
    }
    return lines;
  });
}
