#include <memory>
#include <string>
#include <utility>

#include "examples/nlp/common/names.h"
#include "examples/nlp/parser/commands.h"
#include "examples/nlp/parser/model.h"
#include "examples/nlp/parser/output.h"
#include "examples/nlp/serve/sentence_service.h"
#include "examples/nlp/serve/serve_command.h"

namespace parser {

using namespace nlp;

namespace {

struct Settings {
  bool json = false, probabilities = false;
};

/// Parses the sentences of POST /parse?format=conllu, see SentenceService.
struct Service : SentenceService<Service, Model, Sentence, Settings> {
  static constexpr const char* kPath = "/parse";
  static constexpr std::size_t kMostWords = 1000;  // the search takes the square of it, or more

  Service(const Model& model, const std::string& /*file*/) : model_(model) {}

  Settings settings(const HttpRequest& http) const {
    auto options = query_options(http, {"format", "probabilities"});
    const Names<bool> formats = {{false, "conllu"}, {true, "json"}};
    const bool json = !options["format"].empty() && value_of(formats, options["format"], "format");
    return {json, is_set(options, "probabilities")};
  }
  static InputFormat input(const Settings& /*settings*/) { return InputFormat::kConllu; }
  static std::string type(const Settings& settings) { return settings.json ? kJsonLines : kConllu; }
  static Sentence sentence(const InputSentence& given) {
    return sentence_of(given.rows, Trees::kIgnored);
  }
  void check(const std::vector<Piece>& pieces) const {
    Unknown unknown(model_, "the text");
    for (const Piece& piece : pieces)
      for (const Sentence& sentence : piece.sentences) unknown.add(sentence);
    if (unknown.words_in_vain() > 0) unknown.report();
  }

  static void process(Model& model, std::span<Piece> pieces, dynet::Interrupt& interrupt) {
    interrupt.look();
    Treebank sentences;
    ParseOptions options;
    for (const Piece& piece : pieces) {
      options.probabilities = options.probabilities || piece.settings.probabilities;
      sentences.insert(sentences.end(), piece.sentences.begin(), piece.sentences.end());
    }
    Parsed parsed = parse_all(model, sentences, options, "");
    auto tree = parsed.trees.begin();
    for (Piece& piece : pieces)
      for (const Sentence& sentence : piece.sentences) {
        if (!piece.settings.probabilities) tree->probabilities.clear();
        piece.add(output_lines(sentence, *tree++, piece.settings.json));
      }
  }

 private:
  const Model model_;
};

}  // namespace

std::unique_ptr<Command> serve_command() {
  return std::make_unique<ServeCommand<Service>>(Service::kMostWeight, 8003);
}

}  // namespace parser
