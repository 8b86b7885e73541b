#include "commands.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/sentence_input.h"
#include "examples/nlp/common/share_out.h"
#include "model.h"
#include "tag_output.h"

namespace tagger {

using namespace nlp;

namespace {

class Tag : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "Sentences");
    app.add_option("--input-format", input_format_,
                   std::string(kInputFormatHelp) + "; conllu if --format is, else words")
        ->check(named(kInputFormats));
    add_output(app, "Where the tagged sentences go");
    CLI::Option* const format =
        app.add_option("--format", format_,
                       "Of the output: pipe (word|TAG), columns (word and tag), conllu, json, or "
                       "text (restored "
                       "text, for models of it); text if the model restores text, else pipe")
            ->check(named(kOutputFormats));
    app.add_option("--column", column_,
                   "Column of CoNLL-U for the tags; that of training, else UPOS or XPOS");
    CLI::Option* const tags =
        app.add_flag("--tags", tags_, "The same as --format pipe")->excludes(format);
    CLI::Option* const html = add_html(app)->excludes(format)->excludes(tags);
    CLI::Option* const probabilities =
        app.add_flag("--probabilities,--confidence", probabilities_,
                     "Add how probable each tag is: to columns, conllu (Prob in MISC) or json");
    app.add_option("--nbest", best_,
                   "So many of the most probable sequences of tags, with their probabilities: in "
                   "pipe or json")
        ->transform(InRange(1, 10000))
        ->excludes(probabilities)
        ->excludes(html);
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    const Formats formats =
        formats_of(model.description(), html_ && input_format_.empty() ? "words" : input_format_,
                   tags_   ? "pipe"
                   : html_ ? "conllu"
                           : format_,
                   column_, probabilities_);
    if (best_ > 0) best_lines({}, {}, formats.output);  // rejects formats before any output
    std::vector<InputSentence> waiting;
    const auto write = [&] {
      if (best_ > 0)
        write_best(model, waiting, formats, out);
      else
        write_tagged(model, waiting, formats, out);
      waiting.clear();
    };
    const std::size_t most = kGroups * kTogether * model.threads();
    try {
      for_sentences(
          source(), formats.input,
          [&](const InputSentence& sentence) {
            waiting.push_back(sentence);
            if (waiting.size() == most) write();
          },
          write);
    } catch (const LineError&) {
      write();  // lines before the error
      throw;
    }
    write();
  }

  static void write_tagged(Model& model, const std::vector<InputSentence>& given,
                           const Formats& formats, OutputFile& out) {
    std::vector<std::vector<std::string>> words;
    for (const InputSentence& sentence : given) words.push_back(words_of(sentence, formats));
    const std::vector<Tagging> found = tag_all(model, addresses_of(words), formats.probabilities);
    for (std::size_t i = 0; i < given.size(); ++i)
      for (const std::string& line :
           output_lines({words[i], found[i].tags, given[i].rows, found[i].probabilities}, formats))
        out.write(line);
  }

  void write_best(Model& model, const std::vector<InputSentence>& given, const Formats& formats,
                  OutputFile& out) const {
    write_shared(model, given.size(), out,
                 [&](Model& mine, dynet::ComputationGraph& graph, std::size_t i) {
                   const std::vector<std::string> words = words_of(given[i], formats);
                   if (words.size() > Model::kPiece)
                     given[i].rows.refuse(0, "the best tags of a sentence are found for at most " +
                                                 with_commas(Model::kPiece) + " words, not for " +
                                                 with_commas(words.size()));
                   return best_lines(words, mine.tag_best(graph, words, best_), formats.output);
                 });
  }

  /// Sentences are buffered until there are so many groups per thread, since groups of similar
  /// length are tagged faster, or until the next read would block.
  static constexpr std::size_t kGroups = 16;

  std::string input_format_, format_, column_;  ///< empty: default
  bool tags_ = false;
  bool probabilities_ = false;
  std::size_t best_ = 0;  ///< number of tag sequences; 0: the best tags only
};

}  // namespace

std::unique_ptr<Command> tag_command() { return std::make_unique<Tag>(); }

}  // namespace tagger
