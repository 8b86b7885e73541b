#include "examples/nlp/annotate/segmenter.h"

#include <utf8proc.h>

#include <algorithm>
#include <map>

#include "examples/nlp/annotate/edit_script.h"
#include "examples/nlp/common/check.h"
#include "examples/nlp/parser/encoder.h"

namespace annotate {

using dynet::Expression;

namespace {

/// Kinds of letters without a vector of their own, and the boundary of a paragraph.
enum Kind : unsigned { kBoundary, kSpace, kUpper, kLower, kOtherLetter, kDigit, kMark, kOther };
constexpr unsigned kKinds = 8;

Kind kind_of(char32_t letter) {
  if (is_space(letter)) return kSpace;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(letter))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return kUpper;
    case UTF8PROC_CATEGORY_LL:
      return kLower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
      return kOtherLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kDigit;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return kMark;
    default:
      return kOther;
  }
}

/// Letters that are read on either side of those that are cut.
constexpr std::size_t kContext = 40;
/// Share of the tokens whose vectors are hidden in training, so that letters must do, too.
constexpr float kHiddenTokens = 0.5f;
/// Letters of a sequence, besides the context.
constexpr std::size_t kSequence = 256;

/// End of the part of a text that is cut in one graph: a space where there is one.
std::size_t end_of_part(const std::u32string& letters, std::size_t begin) {
  const std::size_t end = begin + Segmenter::kPart;
  if (end >= letters.size()) return letters.size();
  for (std::size_t i = end; i > begin; --i)
    if (is_space(letters[i - 1])) return i;
  return end;
}

/// Computes nodes, of which some may be missing, all in batches.
void compute(const std::vector<Expression>& nodes) {
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
    if (node->pg) return void(node->value());
}

/// Number of the largest score.
unsigned best_of(const Expression& node) {
  const std::vector<float> scores = as_vector(node.value());
  nlp::require_scores(scores);
  return static_cast<unsigned>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

}  // namespace

void SegmenterDescription::check() const {
  nlp::require_size("letter size", letter);
  nlp::require_size("hidden size of the segmenter", hidden);
  nlp::require_dropout(dropout);
  nlp::require_texts("letters", letters, 0);
  nlp::require_texts("rules that split tokens", scripts, 0);
  nlp::require_texts("tokens", tokens, 0);
}

SegmenterDescription describe(SegmenterDescription description,
                              const std::vector<Paragraph>& train) {
  std::map<char32_t, std::size_t> letters;
  std::map<std::string, std::size_t> scripts, tokens;
  description.spaces_within = false;
  for (const Paragraph& paragraph : train) {
    for (const char32_t letter : paragraph.letters) ++letters[letter];
    for (const Tokens& sentence : paragraph.sentences)
      for (const Token& token : sentence) {
        ++tokens[paragraph.text(token.begin, token.end)];
        if (!token.words.empty())
          ++scripts[split_script(paragraph.text(token.begin, token.end), token.words)];
        description.spaces_within =
            description.spaces_within ||
            std::any_of(paragraph.letters.begin() + static_cast<std::ptrdiff_t>(token.begin),
                        paragraph.letters.begin() + static_cast<std::ptrdiff_t>(token.end),
                        is_space);
      }
  }
  description.letters.clear();
  for (const auto& [letter, count] : letters)
    if (count > 1 && !is_space(letter)) description.letters.push_back(utf8({&letter, 1}));
  description.scripts.clear();
  for (const auto& [script, count] : scripts)
    if (count > 1) description.scripts.push_back(script);
  description.tokens.clear();
  for (const auto& [token, count] : tokens)
    if (count > 1 && !description.scripts.empty()) description.tokens.push_back(token);
  return description;
}

Segmenter::Segmenter(const SegmenterDescription& description,
                     dynet::ParameterCollection& parameters)
    : description_(description),
      forward_(1, description.letter, description.hidden, parameters),
      backward_(1, description.letter, description.hidden, parameters) {
  for (const std::string& letter : description.letters)
    numbers_.emplace(code_points(letter)[0], kKinds + static_cast<unsigned>(numbers_.size()));
  for (const std::string& script : description.scripts)
    scripts_.emplace(script, 1 + static_cast<unsigned>(scripts_.size()));
  for (const std::string& token : description.tokens)
    tokens_.emplace(token, static_cast<unsigned>(tokens_.size()));
  const unsigned both = 2 * description.hidden;
  const auto zero = dynet::ParameterInitConst(0);
  letters_ = parameters.add_lookup_parameters(kKinds + static_cast<unsigned>(numbers_.size()),
                                              {description.letter}, "letters");
  end_weight_ = parameters.add_parameters({kEnds, both}, "end-weight");
  end_bias_ = parameters.add_parameters({kEnds}, zero, "end-bias");
  const unsigned scripts = 1 + static_cast<unsigned>(scripts_.size());
  script_weight_ = parameters.add_parameters({scripts, both}, "script-weight");
  script_bias_ = parameters.add_parameters({scripts}, zero, "script-bias");
  if (tokens_.empty()) return;
  token_vectors_ = parameters.add_lookup_parameters(static_cast<unsigned>(tokens_.size()),
                                                    {description.letter}, "tokens");
  token_weight_ = parameters.add_parameters({scripts, description.letter}, "token-weight");
}

void Segmenter::begin_graph(dynet::ComputationGraph& graph, bool training) {
  graph_ = &graph;
  training_ = training;
  forward_.new_graph(graph);
  backward_.new_graph(graph);
  end_weight_node_ = parameter(graph, end_weight_);
  end_bias_node_ = parameter(graph, end_bias_);
  script_weight_node_ = parameter(graph, script_weight_);
  script_bias_node_ = parameter(graph, script_bias_);
  if (!tokens_.empty()) token_weight_node_ = parameter(graph, token_weight_);
}

unsigned Segmenter::number_of(char32_t letter) const {
  const auto found = numbers_.find(letter);
  return found == numbers_.end() ? kind_of(letter) : found->second;
}

std::vector<Expression> Segmenter::read(const Paragraph& paragraph, std::size_t begin,
                                        std::size_t end) {
  const std::size_t size = paragraph.letters.size();
  const std::size_t first = begin < kContext ? 0 : begin - kContext;
  const std::size_t last = std::min(size, end + kContext);
  const auto dropped = [&](const Expression& x) {
    return parser::dropped(x, description_.dropout, training_);
  };
  std::vector<unsigned> numbers;
  if (first == 0) numbers.push_back(kBoundary);
  for (std::size_t i = first; i < last; ++i) numbers.push_back(number_of(paragraph.letters[i]));
  if (last == size) numbers.push_back(kBoundary);
  std::vector<Expression> inputs, left(numbers.size()), right(numbers.size());
  for (const unsigned number : numbers)
    inputs.push_back(dropped(lookup(*graph_, letters_, number)));
  forward_.start_new_sequence();
  backward_.start_new_sequence();
  for (std::size_t i = 0; i < inputs.size(); ++i) left[i] = forward_.add_input(inputs[i]);
  for (std::size_t i = inputs.size(); i-- > 0;) right[i] = backward_.add_input(inputs[i]);
  std::vector<Expression> states;
  const std::size_t offset = first == 0 ? 1 : 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t at = i - first + offset;
    states.push_back(dropped(dynet::concatenate({left[at], right[at]})));
  }
  return states;
}

Expression Segmenter::end_scores(const Expression& state) const {
  return dynet::affine_transform({end_bias_node_, end_weight_node_, state});
}

Expression Segmenter::script_scores(const std::string& token, const Expression& state) const {
  const auto known = tokens_.find(token);
  if (known == tokens_.end())
    return dynet::affine_transform({script_bias_node_, script_weight_node_, state});
  Expression vector = lookup(*graph_, token_vectors_, known->second);
  if (training_) vector = dynet::block_dropout(vector, kHiddenTokens);
  return dynet::affine_transform(
      {script_bias_node_, script_weight_node_, state, token_weight_node_, vector});
}

Expression Segmenter::loss(const Paragraph& paragraph, std::size_t begin, std::size_t end) {
  const std::vector<Expression> states = read(paragraph, begin, end);
  std::vector<End> ends(end - begin, End::kNothing);
  std::vector<Expression> losses;
  for (const Tokens& sentence : paragraph.sentences) {
    if (sentence.back().end <= begin || sentence.front().begin >= end) continue;
    for (const Token& token : sentence) {
      if (token.end <= begin || token.end > end) continue;
      const std::size_t last = token.end - 1 - begin;
      ends[last] = token.end == sentence.back().end ? End::kSentence : End::kToken;
      if (scripts_.empty()) continue;
      unsigned script = 0;
      const std::string text = paragraph.text(token.begin, token.end);
      if (!token.words.empty()) {
        const auto found = scripts_.find(split_script(text, token.words));
        if (found == scripts_.end()) continue;
        script = found->second;
      }
      losses.push_back(pickneglogsoftmax(script_scores(text, states[last]), script));
    }
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (is_space(paragraph.letters[begin + i])) continue;
    losses.push_back(pickneglogsoftmax(end_scores(states[i]), static_cast<unsigned>(ends[i])));
  }
  return losses.empty() ? dynet::input(*graph_, 0.0f) : sum(losses);
}

Segmenter::Cut Segmenter::begin_cut(const Paragraph& paragraph, Find find) {
  // In training there is no white space at the ends of a paragraph.
  const std::u32string& all = paragraph.letters;
  const auto text = std::find_if_not(all.begin(), all.end(), is_space);
  const auto behind = std::find_if_not(all.rbegin(), all.rend(), is_space).base();
  if (text >= behind) return {};
  Cut cut{{std::u32string(text, behind), {}}, static_cast<std::size_t>(text - all.begin())};
  if (find != Find::kWords) return cut;
  cut.paragraph.sentences = paragraph.sentences;
  for (Tokens& sentence : cut.paragraph.sentences)
    for (Token& token : sentence) token.begin -= cut.offset, token.end -= cut.offset;
  return cut;
}

void Segmenter::read_next(Cut& cut, Find find) {
  const std::u32string& letters = cut.paragraph.letters;
  cut.begin = cut.end;
  cut.end = end_of_part(letters, cut.begin);
  cut.states.clear();
  cut.scores.assign(cut.end - cut.begin, {});
  for (std::size_t at = cut.begin; at < cut.end; at += kSequence) {
    const std::vector<Expression> some = read(cut.paragraph, at, std::min(cut.end, at + kSequence));
    cut.states.insert(cut.states.end(), some.begin(), some.end());
  }
  for (std::size_t i = 0; i < cut.scores.size() && find != Find::kWords; ++i)
    if (!is_space(letters[cut.begin + i])) cut.scores[i] = end_scores(cut.states[i]);
}

void Segmenter::cut_tokens(Cut& cut, Find find) const {
  std::vector<Tokens>& sentences = cut.paragraph.sentences;
  for (std::size_t i = cut.begin; i < cut.end; ++i) {
    if (is_space(cut.paragraph.letters[i])) {
      cut.in_token = cut.in_token && description_.spaces_within;
      continue;
    }
    if (!cut.in_sentence) sentences.emplace_back();
    Tokens& tokens = sentences.back();
    if (!cut.in_token) tokens.push_back({i, i});
    tokens.back().end = i + 1;
    const auto what = static_cast<End>(best_of(cut.scores[i - cut.begin]));
    cut.in_token = what == End::kNothing;
    cut.in_sentence = what != End::kSentence || find == Find::kTokens;
  }
}

void Segmenter::split_tokens(std::span<Cut> cuts) const {
  struct Found {
    Token* token;
    const Cut* cut;
  };
  std::vector<Found> found;
  std::vector<Expression> scores;
  for (Cut& cut : cuts) {
    for (Tokens& sentence : cut.paragraph.sentences) {
      if (sentence.back().end <= cut.begin) continue;
      for (Token& token : sentence) {
        if (token.end <= cut.begin || token.end > cut.end) continue;
        found.push_back({&token, &cut});
        scores.push_back(script_scores(cut.paragraph.text(token.begin, token.end),
                                       cut.states[token.end - 1 - cut.begin]));
      }
    }
  }
  compute(scores);
  for (std::size_t i = 0; i < found.size(); ++i) {
    // Also clears the words of a token that went on behind the part before.
    const unsigned script = best_of(scores[i]);
    Token& token = *found[i].token;
    token.words.clear();
    if (script > 0)
      token.words = apply_split_script(description_.scripts[script - 1],
                                       found[i].cut->paragraph.text(token.begin, token.end));
  }
}

std::vector<std::vector<Tokens>> Segmenter::segment(dynet::ComputationGraph& graph,
                                                    std::span<const Paragraph> paragraphs,
                                                    Find find) {
  std::vector<Cut> cuts;
  for (const Paragraph& paragraph : paragraphs) cuts.push_back(begin_cut(paragraph, find));
  const auto is_done = [&](std::size_t i) {
    return cuts[i].end == cuts[i].paragraph.letters.size();
  };
  for (std::size_t first = 0, last; first < cuts.size(); first = last) {
    if (interrupt_ != nullptr) interrupt_->look();
    last = first;
    graph.clear();
    begin_graph(graph, false);
    std::vector<Expression> scores;
    for (std::size_t letters = 0; last < cuts.size() && letters < kPart;) {
      Cut& cut = cuts[last];
      if (!is_done(last)) read_next(cut, find);
      letters += cut.scores.size();
      scores.insert(scores.end(), cut.scores.begin(), cut.scores.end());
      if (!is_done(last)) break;  // the rest of it comes into the next graph
      ++last;
    }
    const std::span<Cut> together(&cuts[first], std::min(last + 1, cuts.size()) - first);
    compute(scores);
    for (Cut& cut : together)
      if (find != Find::kWords) cut_tokens(cut, find);
    if (!scripts_.empty()) split_tokens(together);
  }
  std::vector<std::vector<Tokens>> found;
  for (Cut& cut : cuts) {
    for (Tokens& sentence : cut.paragraph.sentences)
      for (Token& token : sentence) token.begin += cut.offset, token.end += cut.offset;
    found.push_back(std::move(cut.paragraph.sentences));
  }
  return found;
}

}  // namespace annotate
