#include "corpus.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "dynet-like/base/utf8.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/text.h"

namespace rnnlm {

using namespace nlp;

namespace {

const char* const kEndToken = "</s>";
const char* const kUnknownToken = "<unk>";

bool is_letter_or_digit(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c) || static_cast<unsigned char>(c) > 127;
}

/// Words keep inner hyphens and apostrophes; other marks are tokens.
std::vector<std::string> verse_tokens(std::string_view text) {
  const auto is_word_byte = [&](std::size_t at) {
    if (is_letter_or_digit(text[at])) return true;
    const bool after = at > 0 && is_letter_or_digit(text[at - 1]);
    const bool before = at + 1 < text.size() && is_letter_or_digit(text[at + 1]);
    return after && (text[at] == '\'' || (text[at] == '-' && before));
  };
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_word_byte(at)) ++at;
    if (at == begin) ++at;
    tokens.emplace_back(text.substr(begin, at - begin));
  }
  return tokens;
}

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, dynet::first_utf8_character(text).bytes);
    characters.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return characters;
}

std::vector<std::string> words_of(std::string_view text, Format format) {
  return format == Format::kBible ? verse_tokens(text) : split_words(text);
}

}  // namespace

const char* format_name(Format format) { return name_of(kFormats, format); }
Format format_from_name(const std::string& name) { return value_of(kFormats, name, "format"); }

Sentence read_sentence(const std::string& line, const ReadOptions& options) {
  std::string_view text = line;
  if (options.format == Format::kBible) text.remove_prefix(verse_reference_length(text));
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  const std::string chosen = options.lower ? lower_cased(text) : std::string(text);
  Sentence sentence;
  std::vector<std::string> words = words_of(chosen, options.format);
  sentence.words = words.size() + 1;
  if (options.level == Level::kChar) {
    sentence.tokens = characters_of(chosen);
    sentence.characters = sentence.tokens.size() + 1;
  } else {
    sentence.characters = characters_of(text_of(words, options)).size() + 1;
    sentence.tokens = std::move(words);
  }
  return sentence;
}

std::string text_of(const std::vector<std::string>& tokens, const ReadOptions& options) {
  if (options.level == Level::kChar) return join(tokens, "");
  if (options.format != Format::kBible) return join(tokens, " ");
  std::string text;
  bool space = false;
  for (const std::string& token : tokens) {
    const bool closes =
        token.size() == 1 && std::string_view(".,;:?!)'-").find(token[0]) != std::string_view::npos;
    if (space && !closes) text += ' ';
    text += token;
    space = token != "(" && token != "-";
  }
  return text;
}

Corpus read_corpus(std::istream& in, const TextSource& source, ReadOptions& options) {
  const std::string name = source.name();
  const std::vector<std::string> lines = read_lines(in, source);
  Corpus corpus;
  SampleReader reader(source, "sentence");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_blank(lines[i])) continue;
    const std::size_t reference = verse_reference_length(lines[i]);
    if (options.format == Format::kAuto) {
      require_plain(lines[i], i + 1, name);
      options.format = reference > 0 ? Format::kBible : Format::kText;
    }
    reader.read([&] {
      if (options.format == Format::kBible && reference == 0) {
        throw LineError(
            name, i + 1,
            "expected a verse such as 'Ge1:1 In the beginning ...', found " + in_quotes(lines[i]));
      }
      Sentence sentence = read_sentence(lines[i], options);
      if (sentence.tokens.empty())
        throw LineError(name, i + 1, "expected words, found " + in_quotes(lines[i]));
      corpus.push_back(std::move(sentence));
    });
  }
  if (corpus.empty()) throw UserError(name + " holds no sentence");
  return corpus;
}

Corpus read_corpus(const TextSource& source, ReadOptions& options) {
  InputFile file(source);
  return read_corpus(file.stream(), source, options);
}

std::size_t count_words(const Corpus& corpus) {
  return std::accumulate(
      corpus.begin(), corpus.end(), std::size_t{0},
      [](std::size_t sum, const Sentence& sentence) { return sum + sentence.words; });
}

std::size_t count_tokens(const Corpus& corpus) {
  return std::accumulate(
      corpus.begin(), corpus.end(), std::size_t{0},
      [](std::size_t sum, const Sentence& sentence) { return sum + sentence.tokens.size() + 1; });
}

Vocabulary::Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  for (const std::string& token : tokens_) dict_.convert(token);
  dict_.freeze();
  dict_.set_unk(kUnknownToken);
}

unsigned Vocabulary::id(const std::string& token) const {
  const auto id = static_cast<unsigned>(dict_.convert(token));
  return id == kEnd ? kUnknown : id;  // an end-of-sentence token within a text is unknown
}

Ids Vocabulary::encode(const Sentence& sentence) const {
  Ids ids;
  ids.reserve(sentence.tokens.size());
  for (const std::string& token : sentence.tokens) ids.push_back(id(token));
  return ids;
}

std::vector<std::string> collect_tokens(const Corpus& train, std::size_t min_count) {
  std::unordered_map<std::string, std::size_t> counts;
  std::vector<std::string> order;
  for (const Sentence& sentence : train) {
    for (const std::string& token : sentence.tokens) {
      if (++counts[token] == 1) order.push_back(token);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](const std::string& a, const std::string& b) {
    return counts[a] > counts[b];
  });
  std::vector<std::string> tokens = {kEndToken, kUnknownToken};
  for (const std::string& token : order) {
    if (counts[token] < min_count) break;
    if (token != kEndToken && token != kUnknownToken) tokens.push_back(token);
  }
  return tokens;
}

Minibatch::Minibatch(std::vector<const Ids*> sentences) : sentences_(std::move(sentences)) {
  for (const Ids* sentence : sentences_) {
    steps_ = std::max(steps_, sentence->size() + 1);
    tokens_ += sentence->size() + 1;
  }
}

std::vector<unsigned> Minibatch::inputs(std::size_t t) const {
  std::vector<unsigned> ids;
  ids.reserve(size());
  for (const Ids* sentence : sentences_) {
    ids.push_back(t > 0 && t <= sentence->size() ? (*sentence)[t - 1] : Vocabulary::kEnd);
  }
  return ids;
}

std::vector<unsigned> Minibatch::targets(std::size_t begin, std::size_t end) const {
  std::vector<unsigned> ids;
  ids.reserve((end - begin) * size());
  for (std::size_t t = begin; t < end; ++t) {
    for (const Ids* sentence : sentences_) {
      ids.push_back(t < sentence->size() ? (*sentence)[t] : Vocabulary::kEnd);
    }
  }
  return ids;
}

std::vector<float> Minibatch::mask(std::size_t begin, std::size_t end) const {
  std::vector<float> mask;
  mask.reserve((end - begin) * size());
  for (std::size_t t = begin; t < end; ++t) {
    for (const Ids* sentence : sentences_) mask.push_back(t <= sentence->size() ? 1.0f : 0.0f);
  }
  return mask;
}

std::vector<std::vector<std::size_t>> batches_of(const std::vector<Ids>& sentences,
                                                 std::vector<std::size_t> order,
                                                 const BatchLimits& limits) {
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sentences[a].size() < sentences[b].size();
  });
  std::vector<std::vector<std::size_t>> batches;
  for (std::size_t i : order) {
    const bool full = batches.empty() || batches.back().size() >= limits.sentences ||
                      (batches.back().size() + 1) * (sentences[i].size() + 1) > limits.tokens;
    if (full) batches.emplace_back();
    batches.back().push_back(i);
  }
  return batches;
}

}  // namespace rnnlm
