#include "examples/nlp/annotate/edit_script.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>
#include <vector>

#include "examples/nlp/annotate/text.h"
#include "examples/nlp/common/text.h"

namespace annotate {
namespace {

char32_t upper(char32_t letter) {
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(letter)));
}

/// The word in the case that a letter of a rule names; nothing for another letter.
std::optional<std::u32string> in_case(char kind, std::u32string word) {
  switch (kind) {
    case 'k':
      return word;
    case 'l':
    case 't':
      word = lower_case(std::move(word));
      if (kind == 't' && !word.empty()) word[0] = upper(word[0]);
      return word;
    case 'u':
      std::transform(word.begin(), word.end(), word.begin(), upper);
      return word;
    default:
      return std::nullopt;
  }
}

struct Substring {
  std::size_t from = 0, to = 0, size = 0;  ///< begins in both words
};

/// The longest substring of both words, the first of several.
Substring shared(const std::u32string& from, const std::u32string& to) {
  Substring longest;
  std::vector<std::size_t> ending(to.size() + 1, 0);  // sizes of those that end at a letter of `to`
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t j = to.size(); j-- > 0;) {
      ending[j + 1] = from[i] == to[j] ? ending[j] + 1 : 0;
      if (ending[j + 1] > longest.size)
        longest = {i + 1 - ending[j + 1], j + 1 - ending[j + 1], ending[j + 1]};
    }
  }
  return longest;
}

/// Case in which a word shares most with `to`.
char best_case(const std::u32string& from, const std::u32string& to) {
  if (in_case('l', to) == to) return 'l';
  char best = 'k';
  std::size_t most = shared(from, to).size;
  for (const char kind : {'t', 'u'}) {
    const std::size_t size = shared(*in_case(kind, from), to).size;
    if (size > most) most = size, best = kind;
  }
  return best;
}

}  // namespace

std::string edit_script(std::string_view from_text, std::string_view to_text) {
  const std::u32string to = code_points(to_text);
  std::u32string from = code_points(from_text);
  const char kind = best_case(from, to);
  from = *in_case(kind, from);
  const Substring same = shared(from, to);
  if (same.size == 0) return "=" + std::string(to_text);
  const auto before = [&](const std::u32string& word, std::size_t end) {
    return std::u32string_view(word).substr(0, end);
  };
  const auto behind = [&](const std::u32string& word, std::size_t begin) {
    return std::u32string_view(word).substr(begin + same.size);
  };
  std::u32string_view old_head = before(from, same.from), new_head = before(to, same.to);
  std::u32string_view old_tail = behind(from, same.from), new_tail = behind(to, same.to);
  // Letters of the sides that stay.
  const std::size_t head = static_cast<std::size_t>(
      std::mismatch(old_head.begin(), old_head.end(), new_head.begin(), new_head.end()).first -
      old_head.begin());
  const std::size_t tail = static_cast<std::size_t>(
      std::mismatch(old_tail.rbegin(), old_tail.rend(), new_tail.rbegin(), new_tail.rend()).first -
      old_tail.rbegin());
  new_head.remove_prefix(head);
  new_tail.remove_suffix(tail);
  std::string script(1, kind);
  for (const std::size_t number :
       {head, old_head.size() - head, new_head.size(), tail, old_tail.size() - tail})
    script += std::to_string(number) + ",";
  script.back() = ':';
  return script + utf8(new_head) + utf8(new_tail);
}

namespace {

/// Change of one side of a word: next to the `kept` outermost letters, `removed` letters become
/// those `inserted`.
struct SideEdit {
  std::size_t kept = 0, removed = 0;
  std::u32string inserted;
};

/// A rule with a colon.
struct Edit {
  char kind = 'k';  ///< see in_case
  SideEdit head, tail;
};

std::optional<Edit> parse_edit_script(std::string_view script) {
  if (script.empty()) return std::nullopt;
  std::array<std::size_t, 5> numbers;
  const char *at = script.data() + 1, *const end = script.data() + script.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || next == end || *next != (i + 1 < numbers.size() ? ',' : ':'))
      return std::nullopt;
    at = next + 1;
  }
  const std::u32string inserted = code_points({at, static_cast<std::size_t>(end - at)});
  if (numbers[2] > inserted.size()) return std::nullopt;
  return Edit{script[0],
              {numbers[0], numbers[1], inserted.substr(0, numbers[2])},
              {numbers[3], numbers[4], inserted.substr(numbers[2])}};
}

}  // namespace

std::optional<std::string> apply_edit_script(std::string_view script, std::string_view word) {
  if (script.substr(0, 1) == "=") return std::string(script.substr(1));
  const std::optional<Edit> edit = parse_edit_script(script);
  if (!edit) return std::nullopt;
  std::optional<std::u32string> letters = in_case(edit->kind, code_points(word));
  if (!letters) return std::nullopt;
  const SideEdit &head = edit->head, &tail = edit->tail;
  for (const std::size_t number : {head.kept, head.removed, tail.kept, tail.removed})
    if (number > letters->size()) return std::nullopt;  // so that their sum stays in range
  if (head.kept + head.removed + tail.kept + tail.removed >= letters->size()) return std::nullopt;
  letters->replace(letters->size() - tail.kept - tail.removed, tail.removed, tail.inserted);
  letters->replace(head.kept, head.removed, head.inserted);
  return utf8(*letters);
}

std::vector<std::string> parts_of_edit_script(std::string_view script) {
  const std::optional<Edit> edit = parse_edit_script(script);
  if (!edit) return {};
  const auto part = [](char name, const SideEdit& side) {
    return name + std::to_string(side.kept) + "," + std::to_string(side.removed) + ":" +
           utf8(side.inserted);
  };
  return {std::string(1, edit->kind), part('h', edit->head), part('t', edit->tail)};
}

std::string split_script(std::string_view token, const std::vector<std::string>& words) {
  if (nlp::join(words, "") != token) return "e" + edit_script(token, nlp::join(words, " "));
  std::vector<std::string> cuts;
  std::size_t rest = code_points(token).size();
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    cuts.push_back(std::to_string(rest -= code_points(words[i]).size()));
  return "c" + nlp::join(cuts, ",");
}

std::vector<std::string> apply_split_script(std::string_view script, std::string_view token) {
  std::vector<std::string> words;
  if (script.substr(0, 1) == "e") {
    const std::optional<std::string> text = apply_edit_script(script.substr(1), token);
    if (text) words = nlp::split_fields(*text, ' ');
  } else if (script.substr(0, 1) == "c") {
    const std::u32string letters = code_points(token);
    std::size_t begin = 0;
    for (const std::string& cut : nlp::split_fields(script.substr(1), ',')) {
      std::size_t rest = 0;
      const auto [end, error] = std::from_chars(cut.data(), cut.data() + cut.size(), rest);
      if (error != std::errc() || end != cut.data() + cut.size() || rest >= letters.size() - begin)
        return {};
      const std::size_t at = letters.size() - rest;
      words.push_back(utf8(std::u32string_view(letters).substr(begin, at - begin)));
      begin = at;
    }
    words.push_back(utf8(std::u32string_view(letters).substr(begin)));
  }
  const bool whole = words.size() > 1 && std::none_of(words.begin(), words.end(),
                                                      [](const auto& w) { return w.empty(); });
  return whole ? words : std::vector<std::string>();
}

}  // namespace annotate
