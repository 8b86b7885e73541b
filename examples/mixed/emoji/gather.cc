#include "examples/mixed/emoji/gather.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "examples/mixed/emoji/font.h"
#include "examples/mixed/emoji/unicode.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/text.h"

namespace emoji {
namespace {

using namespace nlp;

std::string existing(const std::string& path, const std::string& package) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown)) return path;
  throw UserError("there is no file " + path + ": the Debian package " + package + " has it");
}

/// Columns of the table.
class Table {
 public:
  explicit Table(const std::string& folder)
      : block_(file(folder, "Blocks.txt")),
        category_(file(folder, "extracted/DerivedGeneralCategory.txt")),
        age_(file(folder, "DerivedAge.txt")),
        width_(file(folder, "EastAsianWidth.txt")),
        line_break_(file(folder, "LineBreak.txt")),
        presentation_(file(folder, "emoji/emoji-data.txt"), "Emoji_Presentation"),
        modifier_base_(file(folder, "emoji/emoji-data.txt"), "Emoji_Modifier_Base"),
        carriers_(read_carriers(file(folder, "EmojiSources.txt"))) {}

  Row row_of(const Entry& entry) const {
    const std::u32string& points = entry.points;
    const char32_t first = points.front();
    Row row;
    row["code points"] = static_cast<double>(points.size());
    row["emoji version"] = entry.version;
    for (const auto& [name, property] : {std::pair{"block", &block_},
                                         {"category", &category_},
                                         {"width", &width_},
                                         {"line break", &line_break_}}) {
      if (property->has(first)) row[name] = property->of(first);
    }
    if (age_.has(first)) row["age"] = std::stod(age_.of(first));
    const auto flag = [](bool value) { return value ? 1.0 : 0.0; };
    row["presentation"] = flag(presentation_.has(first));
    row["modifier base"] = flag(modifier_base_.has(first));
    row["joined"] = flag(points.find(U'\u200D') != std::u32string::npos);
    const auto had = carriers_.find(points.substr(0, points.find(U'\uFE0F')));
    const char* const names[] = {"docomo", "kddi", "softbank"};
    for (std::size_t i = 0; i < 3; ++i)
      row[names[i]] = flag(had != carriers_.end() && had->second[i]);
    return row;
  }

 private:
  static std::string file(const std::string& folder, const std::string& name) {
    return existing(folder + "/" + name, "unicode-data");
  }

  Property block_, category_, age_, width_, line_break_, presentation_, modifier_base_;
  std::map<std::u32string, std::vector<bool>> carriers_;
};

Annotations annotations_of(const Sources& sources) {
  Annotations annotations;
  for (const char* const folder : {"annotations", "annotationsDerived"}) {
    const std::string path = sources.cldr + "/common/" + folder + "/" + sources.language + ".xml";
    annotations.read(existing(path, "unicode-cldr-core"));
  }
  return annotations;
}

class Gather : public Command {
 public:
  void add_options(CLI::App& app) override {
    begin_group(app, kDataOptions);
    app.add_option("--unicode", sources_.unicode, "The folder of the Debian package unicode-data")
        ->type_name("DIR")
        ->capture_default_str();
    app.add_option("--cldr", sources_.cldr, "The folder of the Debian package unicode-cldr-core")
        ->type_name("DIR")
        ->capture_default_str();
    app.add_option("--font", sources_.font, "The font of the Debian package fonts-noto-color-emoji")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("--language", sources_.language, "Of names and keywords: en, de, ja, ...")
        ->capture_default_str();
    app.add_option("--size", sources_.size, "Lines and columns of the pictures")
        ->transform(InRange(8, 128));
    app.add_flag("--tones", sources_.tones, "Take the variants in tones of skin, too");
    app.add_flag("--keep-label-words", sources_.keep_label_words,
                 "Leave words in that groups and subgroups are named by");
    begin_group(app, kOutputOptions);
    app.add_option("--output,-o,--out", output_, "Where the lines of JSON go")->type_name("FILE");
  }

  void run() override {
    OutputFile out({"--output", output_}, {{"--font", sources_.font}});
    for (const Sample& sample : gather(sources_)) out.write(line_of(sample));
    out.finish();
  }

 private:
  Sources sources_;
  std::string output_ = "-";
};

}  // namespace

Corpus gather(const Sources& sources) {
  const std::string list = existing(sources.unicode + "/emoji/emoji-test.txt", "unicode-data");
  const std::vector<Entry> entries = read_entries(list, sources.tones);
  const Table table(sources.unicode);
  const Annotations annotations = annotations_of(sources);
  const Font font(existing(sources.font, "fonts-noto-color-emoji"));
  LabelWords labels;
  if (!sources.keep_label_words) {
    for (const Entry& entry : entries) {
      labels.add(entry.group);
      labels.add(entry.subgroup);
    }
  }
  Corpus corpus;
  for (const Entry& entry : entries) {
    Sample sample{
        entry.text(), family_of(entry.points), entry.group, entry.subgroup, {}, {}, {}, 0};
    for (std::string& word : annotations.words_of(sample.emoji)) {
      if (!labels.contain(word)) sample.words.push_back(std::move(word));
    }
    sample.row = table.row_of(entry);
    sample.image = font.draw(entry.points, sources.size);
    sample.line = corpus.size() + 1;
    corpus.push_back(std::move(sample));
  }
  return corpus;
}

std::unique_ptr<Command> gather_command() { return std::make_unique<Gather>(); }

}  // namespace emoji
