#include "examples/nlp/annotate/commands.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "examples/nlp/annotate/pipeline.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/score_options.h"

namespace annotate {

using namespace nlp;

namespace {

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "A treebank in CoNLL-U, whose text is annotated");
    begin_group(app, kOutputOptions);
    scores_.add_json(app);
  }

 private:
  void evaluate(Model& model) override {
    const Report report = annotate::evaluate(model, read_treebank(source()), data_);
    if (scores_.json)
      std::cout << json_line(
                       scores_json(Model::kProgram, report.name, report.counts(), report.figures()))
                << '\n';
    else
      report.print(std::cout);
    std::cout.flush();
  }

  ScoreOptions scores_;
};

class Run : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "Text; a blank line ends a paragraph");
    add_output(app, "Where the sentences go, as CoNLL-U");
    app.add_flag("--ranges", ranges_,
                 "Say where each token is in the text: TokenRange in MISC, in code points");
  }

 private:
  /// Letters of the paragraphs that are annotated together.
  static constexpr std::size_t kTogether = 1 << 16;

  void write_lines(Model& model, OutputFile& out) override {
    std::vector<Paragraph> waiting;
    std::size_t letters = 0;  // waiting
    Counts written;
    const auto write = [&] {
      write_sentences(annotate_text(model, std::exchange(waiting, {}), ""), out, written);
      letters = 0;
    };
    InputFile in(source(), write);
    Paragraph paragraph;
    bool has_text = false, is_complete = false;  // the paragraph
    const auto end_paragraph = [&] {
      if (!has_text) return;
      letters += paragraph.letters.size();
      waiting.push_back(std::exchange(paragraph, {}));
      has_text = is_complete = false;
      if (letters > kTogether) write();
    };
    PlainText plain;
    for (std::string line; in.next(line);) {
      const std::u32string found = code_points(line + in.line_end());
      const bool blank = std::all_of(found.begin(), found.end(), annotate::is_space);
      if (!blank && is_complete) end_paragraph();
      if (!blank) plain.check(line, in);
      has_text = has_text || !blank;
      is_complete = blank && has_text;
      paragraph.letters += found;
    }
    end_paragraph();
    write();
  }

  struct Counts {
    std::size_t sentences = 0, letters = 0;
  };

  void write_sentences(const Annotated& annotated, OutputFile& out, Counts& written) const {
    auto annotation = annotated.sentences.begin();
    for (const Paragraph& paragraph : annotated.paragraphs) {
      std::optional<std::size_t> offset;
      if (ranges_) offset = written.letters;
      bool first = true;
      for (const Tokens& sentence : paragraph.sentences) {
        if (std::exchange(first, false)) out.write("# newpar");
        out.write("# sent_id = " + std::to_string(++written.sentences));
        out.write("# text = " + text_of(paragraph, sentence));
        for (const std::string& line : conllu_lines(paragraph, sentence, *annotation++, offset))
          out.write(line);
        out.write("");
      }
      written.letters += paragraph.letters.size();
    }
  }

  bool ranges_ = false;
};

}  // namespace

std::unique_ptr<Command> run_command() { return std::make_unique<Run>(); }
std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }

}  // namespace annotate
