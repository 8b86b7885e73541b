#include <algorithm>
#include <array>
#include <optional>

#include "commands.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/sentence_input.h"
#include "examples/nlp/common/share_out.h"
#include "kingjames.h"
#include "model.h"
#include "tag_output.h"

namespace tagger {

using namespace nlp;

namespace {

bool are_universal(const std::vector<std::string>& tags) {
  constexpr std::array kUniversal = {"ADJ",   "ADP",   "ADV", "AUX",  "CCONJ", "DET",
                                     "INTJ",  "NOUN",  "NUM", "PART", "PRON",  "PROPN",
                                     "PUNCT", "SCONJ", "SYM", "VERB", "X"};
  return std::all_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return std::find(kUniversal.begin(), kUniversal.end(), tag) != kUniversal.end();
  });
}

/// Default CoNLL-U column of tags.
conllu::Column usual_column(const Description& description) {
  if (description.data.format == Format::kConllu && !description.data.column.empty())
    return conllu::column_of(description.data.column);
  return are_universal(description.tags) ? conllu::kUpos : conllu::kXpos;
}

class Tag : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "Sentences");
    app.add_option("--input-format", input_format_,
                   std::string(kInputFormatHelp) + "; conllu if --format is, else words");
    add_output(app, "Where the tagged sentences go");
    CLI::Option* const format = app.add_option(
        "--format", format_,
        "Of the output: pipe (word|TAG), columns (word and tag), conllu, json, or text (restored "
        "text, for models of it); text if the model restores text, else pipe");
    app.add_option("--column", column_,
                   "Column of CoNLL-U for the tags; that of training, else UPOS or XPOS");
    app.add_flag("--tags", tags_, "The same as --format pipe")->excludes(format);
    CLI::Option* const probabilities =
        app.add_flag("--probabilities,--confidence", probabilities_,
                     "Add how probable each tag is: to columns, conllu (Prob in MISC) or json");
    app.add_option("--nbest", best_,
                   "So many of the most probable sequences of tags, with their probabilities: in "
                   "pipe or json")
        ->transform(InRange(1, 10000))
        ->excludes(probabilities);
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    const Description& description = model.description();
    const bool restores = description.kind == TagKind::kMarks;
    const OutputFormat format = output_format(restores);
    const InputFormat input = input_format(format, restores);
    const conllu::Column column =
        column_.empty() ? usual_column(description) : conllu::column_of(column_);
    if (probabilities_ && !holds_probabilities(format)) {
      throw UserError(std::string("--format ") + name_of(kOutputFormats, format) +
                      " has no place for --probabilities: columns, conllu and json have");
    }
    if (best_ > 0) best_lines({}, {}, format);  // rejects unsupported formats before any output
    std::vector<InputSentence> waiting;
    const auto write = [&] {
      std::vector<std::vector<std::string>> words;
      for (const InputSentence& given : waiting)
        words.push_back(restores ? annotate(given.text).words : given.rows.words());
      if (best_ > 0) {
        write_best(model, waiting, words, format, out);
      } else {
        const std::vector<Tagging> found = tag_all(model, words, probabilities_);
        for (std::size_t i = 0; i < waiting.size(); ++i)
          for (const std::string& line :
               output_lines({words[i], found[i].tags, waiting[i].rows, found[i].probabilities},
                            format, column, restores))
            out.write(line);
      }
      waiting.clear();
    };
    const std::size_t most = kGroups * kTogether * model.threads();
    try {
      for_sentences(
          source(), input,
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

  void write_best(Model& model, const std::vector<InputSentence>& given,
                  const std::vector<std::vector<std::string>>& words, OutputFormat format,
                  OutputFile& out) const {
    write_shared(model, given.size(), out,
                 [&](Model& mine, dynet::ComputationGraph& graph, std::size_t i) {
                   if (words[i].size() > Model::kPiece)
                     given[i].rows.refuse(0, "the best tags of a sentence are found for at most " +
                                                 with_commas(Model::kPiece) + " words, not for " +
                                                 with_commas(words[i].size()));
                   return best_lines(words[i], mine.tag_best(graph, words[i], best_), format);
                 });
  }

  /// Sentences are buffered until there are so many groups per thread, since groups of similar
  /// length are tagged faster, or until the next read would block.
  static constexpr std::size_t kGroups = 16;

  OutputFormat output_format(bool restores) const {
    if (tags_) return OutputFormat::kPipe;
    if (format_.empty()) return restores ? OutputFormat::kText : OutputFormat::kPipe;
    const OutputFormat format = value_of(kOutputFormats, format_, "format");
    if (restores && format == OutputFormat::kConllu)
      throw UserError("--format conllu is for sentences, and the model restores text");
    if (!restores && format == OutputFormat::kText)
      throw UserError("--format text is for models that restore text, which this one does not");
    return format;
  }

  InputFormat input_format(OutputFormat output, bool restores) const {
    if (input_format_.empty())
      return output == OutputFormat::kConllu ? InputFormat::kConllu : InputFormat::kWords;
    const InputFormat format = value_of(kInputFormats, input_format_, "input format");
    if (restores && format != InputFormat::kWords)
      throw UserError("the model restores text: its input is lines, --input-format words");
    return format;
  }

  std::string input_format_, format_, column_;  ///< empty: default
  bool tags_ = false;
  bool probabilities_ = false;
  std::size_t best_ = 0;  ///< number of tag sequences; 0: the best tags only
};

}  // namespace

std::unique_ptr<Command> tag_command() { return std::make_unique<Tag>(); }

}  // namespace tagger
