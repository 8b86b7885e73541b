#include <memory>
#include <string>
#include <utility>

#include "commands.h"
#include "examples/nlp/serve/sentence_service.h"
#include "examples/nlp/serve/serve_command.h"
#include "tag_output.h"

namespace tagger {

using namespace nlp;

namespace {

/// Tags the sentences of POST /tag?input=words&format=pipe, see SentenceService.
struct Service : SentenceService<Service, Model, InputSentence, Formats> {
  static constexpr const char* kPath = "/tag";
  static constexpr std::size_t kMostWords = nlp::kMostWords;

  Service(const Model& model, const std::string& /*file*/) : model_(model) {}

  Formats settings(const HttpRequest& http) const {
    auto options = query_options(http, {"input", "format", "column", "probabilities"});
    return formats_of(model_.description(), options["input"], options["format"], options["column"],
                      is_set(options, "probabilities"));
  }
  static InputFormat input(const Formats& formats) { return formats.input; }
  static std::string type(const Formats& formats) {
    return formats.output == OutputFormat::kJson     ? kJsonLines
           : formats.output == OutputFormat::kConllu ? kConllu
                                                     : kText;
  }
  static InputSentence sentence(const InputSentence& given) { return given; }
  static void check(const std::vector<Piece>& /*pieces*/) {}

  static void process(Model& model, std::span<Piece> pieces, dynet::Interrupt& interrupt) {
    interrupt.look();
    std::vector<std::vector<std::string>> words;
    bool probabilities = false;
    for (const Piece& piece : pieces) {
      probabilities = probabilities || piece.settings.probabilities;
      for (const InputSentence& given : piece.sentences)
        words.push_back(words_of(given, piece.settings));
    }
    std::vector<Tagging> found = tag_all(model, addresses_of(words), probabilities);
    std::size_t i = 0;
    for (Piece& piece : pieces)
      for (const InputSentence& given : piece.sentences) {
        if (!piece.settings.probabilities) found[i].probabilities.clear();
        piece.add(output_lines({words[i], found[i].tags, given.rows, found[i].probabilities},
                               piece.settings));
        ++i;
      }
  }

 private:
  const Model model_;
};

}  // namespace

std::unique_ptr<Command> serve_command() {
  return std::make_unique<ServeCommand<Service>>(Service::kMostWeight, 8002);
}

}  // namespace tagger
