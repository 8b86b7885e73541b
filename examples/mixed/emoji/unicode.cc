#include "examples/mixed/emoji/unicode.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <pugixml.hpp>
#include <set>

#include "examples/nlp/common/characters.h"
#include "examples/nlp/common/text.h"

namespace emoji {
namespace {

constexpr char32_t kJoiner = 0x200D, kEmojiStyle = 0xFE0F;

/// Trims and normalizes white space.
std::string trimmed(const std::string& text) { return nlp::join(nlp::split_words(text), " "); }

/// Line of a Unicode data file, without its comment.
struct Line {
  const std::string& file;
  std::size_t number;
  std::string text;

  [[noreturn]] void fail(const std::string& what) const {
    throw nlp::LineError(file, number, what + ", found " + nlp::in_quotes(text));
  }

  char32_t point(const std::string& digits) const {
    char* end = nullptr;
    const unsigned long value = std::strtoul(digits.c_str(), &end, 16);
    if (digits.empty() || digits.size() > 6 || *end != '\0' || value > 0x10FFFF)
      fail("expected a code point such as 1F408");
    return static_cast<char32_t>(value);
  }
  std::u32string points(const std::string& field) const {
    std::u32string all;
    for (const std::string& digits : nlp::split_words(field)) all += point(digits);
    if (all.empty()) fail("expected code points such as 1F408");
    return all;
  }
  /// Fields separated by semicolons; throws if there are fewer than `least`.
  std::vector<std::string> fields(std::size_t least) const {
    std::vector<std::string> pieces;
    for (const std::string& piece : nlp::split_fields(text, ';')) pieces.push_back(trimmed(piece));
    if (pieces.size() < least)
      fail("expected " + std::to_string(least) + " fields with ; between them");
    return pieces;
  }
};

/// Calls `read(line, comment)` for each line with data, and for comment lines as well if `all`.
template <typename Read>
void for_lines(const nlp::TextSource& source, Read read, bool all = false) {
  nlp::InputFile in(source);
  for (std::string text; in.next(text);) {
    const std::size_t mark = text.find('#');
    const std::string comment = mark == std::string::npos ? "" : trimmed(text.substr(mark + 1));
    Line line{in.name(), in.number(), text.substr(0, mark)};
    if (all || !nlp::is_blank(line.text)) read(line, comment);
  }
}

bool is_tone(char32_t point) { return point >= 0x1F3FB && point <= 0x1F3FF; }

/// The text after the prefix `start`; empty if the text does not start with it.
std::string behind(const std::string& start, const std::string& text) {
  return text.rfind(start, 0) == 0 ? text.substr(start.size()) : "";
}

/// A word without plural endings.
std::string stem_of(std::string word) {
  const auto ends_in = [&](const std::string& end) {
    return word.size() > end.size() + 1 &&
           word.compare(word.size() - end.size(), end.size(), end) == 0;
  };
  if (ends_in("ies")) return word.substr(0, word.size() - 3) + "y";
  if (ends_in("s") && !ends_in("ss")) word.pop_back();
  return word;
}

}  // namespace

std::string Entry::text() const { return nlp::utf8(points); }

std::vector<Entry> read_entries(const nlp::TextSource& source, bool tones) {
  std::vector<Entry> entries;
  std::string group, subgroup;
  for_lines(
      source,
      [&](const Line& line, const std::string& comment) {
        if (nlp::is_blank(line.text)) {
          if (const std::string name = behind("group: ", comment); !name.empty()) group = name;
          if (const std::string name = behind("subgroup: ", comment); !name.empty())
            subgroup = name;
          return;
        }
        const std::vector<std::string> fields = line.fields(2);
        Entry entry{line.points(fields[0]), 0, group, subgroup};
        if (fields[1] != "fully-qualified") return;
        if (group.empty() || subgroup.empty()) line.fail("expected a group and a subgroup above");
        if (!tones && std::any_of(entry.points.begin(), entry.points.end(), is_tone)) return;
        const std::vector<std::string> said = nlp::split_words(comment);
        const std::string version = said.size() < 2 || said[1][0] != 'E' ? "" : said[1].substr(1);
        char* end = nullptr;
        entry.version = std::strtod(version.c_str(), &end);
        if (version.empty() || *end != '\0' || !std::isfinite(entry.version))
          line.fail("expected a version such as E1.0");
        entries.push_back(std::move(entry));
      },
      true);
  if (entries.empty()) throw nlp::UserError(source.name() + " holds no emoji");
  return entries;
}

std::string family_of(const std::u32string& points) {
  constexpr char32_t kPerson = 0x1F9D1, kChild = 0x1F9D2, kOlder = 0x1F9D3;
  static const std::map<char32_t, char32_t> kSame = {{0x1F468, kPerson}, {0x1F469, kPerson},
                                                     {0x1F466, kChild},  {0x1F467, kChild},
                                                     {0x1F474, kOlder},  {0x1F475, kOlder}};
  std::u32string common;
  for (const char32_t point : points) {
    const bool gender = point == 0x2640 || point == 0x2642;
    if (gender && !common.empty() && common.back() == kJoiner) common.pop_back();
    if (is_tone(point) || point == kEmojiStyle || (gender && points.size() > 2)) continue;
    const auto same = kSame.find(point);
    common += same == kSame.end() ? point : same->second;
  }
  // Families of adults and children reduce to one adult and one child.
  const auto is_human = [](char32_t p) { return p == kPerson || p == kChild || p == kJoiner; };
  if (common.find(kChild) != std::u32string::npos && common.size() > 1 &&
      std::all_of(common.begin(), common.end(), is_human))
    common = {kPerson, kChild};
  std::string text;
  for (const char32_t point : common) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%s%04X", text.empty() ? "" : " ",
                  static_cast<unsigned>(point));
    text += digits;
  }
  return text;
}

Property::Property(const nlp::TextSource& source) { read(source, nullptr); }
Property::Property(const nlp::TextSource& source, const std::string& value) {
  read(source, &value);
}

void Property::read(const nlp::TextSource& source, const std::string* only) {
  for_lines(source, [&](const Line& line, const std::string& /*comment*/) {
    const std::vector<std::string> fields = line.fields(2);
    const std::size_t dots = fields[0].find("..");
    const char32_t first = line.point(fields[0].substr(0, dots));
    const char32_t last =
        dots == std::string::npos ? first : line.point(fields[0].substr(dots + 2));
    if (last < first) line.fail("expected a range that ends behind its start");
    if (only == nullptr || fields[1] == *only) ranges_[first] = {last, fields[1]};
  });
  if (ranges_.empty())
    throw nlp::UserError(source.name() + " says nothing" +
                         (only == nullptr ? "" : " of " + nlp::in_quotes(*only)));
}

const std::string& Property::of(char32_t point) const {
  static const std::string kNone;
  auto behind = ranges_.upper_bound(point);
  if (behind == ranges_.begin()) return kNone;
  --behind;
  return point <= behind->second.last ? behind->second.value : kNone;
}

std::map<std::u32string, std::vector<bool>> read_carriers(const nlp::TextSource& source) {
  std::map<std::u32string, std::vector<bool>> carriers;
  for_lines(source, [&](const Line& line, const std::string& /*comment*/) {
    const std::vector<std::string> fields = line.fields(4);
    carriers[line.points(fields[0])] = {!fields[1].empty(), !fields[2].empty(), !fields[3].empty()};
  });
  if (carriers.empty()) throw nlp::UserError(source.name() + " holds no emoji");
  return carriers;
}

void Annotations::read(const std::string& path) {
  const nlp::InputFile can_be_read(path);  // throws if the file cannot be read
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_file(path.c_str());
  if (!parsed) throw nlp::UserError(path + " is no XML: " + parsed.description());
  const pugi::xml_node all = document.child("ldml").child("annotations");
  if (!all) throw nlp::UserError(path + " holds no annotations");
  for (const pugi::xml_node& annotation : all.children("annotation")) {
    std::string& text = texts_[annotation.attribute("cp").value()];
    text += std::string(" ") + annotation.child_value();
  }
}

std::vector<std::string> Annotations::words_of(const std::string& emoji) const {
  const auto without_style = [&] {
    std::string text = emoji;
    const std::string style = nlp::utf8({&kEmojiStyle, 1});
    for (std::size_t at; (at = text.find(style)) != std::string::npos;)
      text.erase(at, style.size());
    return text;
  };
  const auto found = texts_.find(without_style());
  if (found == texts_.end()) return {};
  std::vector<std::string> words;
  std::set<std::string> seen;
  for (std::string& word : plain_words(found->second)) {
    if (seen.insert(word).second) words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::string> plain_words(const std::string& text) {
  std::string plain = nlp::lower_cased(text);
  for (const char* const quote : {"\u201C", "\u201D"}) {
    for (std::size_t at; (at = plain.find(quote)) != std::string::npos;) plain.replace(at, 3, " ");
  }
  for (char& c : plain) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && !nlp::is_lower(c) && !nlp::is_digit(c)) c = ' ';
  }
  return nlp::split_words(plain);
}

void LabelWords::add(const std::string& label) {
  for (const std::string& word : plain_words(label)) stems_.insert(stem_of(word));
}

bool LabelWords::contain(const std::string& word) const { return stems_.count(stem_of(word)) > 0; }

}  // namespace emoji
