#include "dynet-like/structures/span_trees/span_decoding.h"

#include <algorithm>
#include <limits>

#include "dynet-like/base/random.h"
#include "dynet-like/layers/search/draw.h"
#include "dynet-like/layers/support.h"

namespace dynet {
namespace {

constexpr double kForbidden = -std::numeric_limits<double>::infinity();

/// A value for each span.
template <class T>
class Table {
 public:
  explicit Table(unsigned words) : words_(words), values_(std::size_t{words} * words) {}
  T& operator()(unsigned i, unsigned j) { return values_[std::size_t{i} * words_ + j]; }
  const T& operator()(unsigned i, unsigned j) const { return values_[std::size_t{i} * words_ + j]; }

 private:
  unsigned words_;
  std::vector<T> values_;
};

/// f(first, last) for all spans, shorter ones first.
template <class F>
void each_span(unsigned words, F f) {
  for (unsigned width = 1; width <= words; ++width)
    for (unsigned first = 0; first + width <= words; ++first) f(first, first + width - 1);
}

/// The n best trees of each span.
class Forest {
 public:
  Forest(const SpanScores& scores, std::size_t n) : s_(scores), n_(n), trees_(scores.words) {
    each_span(s_.words, [&](unsigned first, unsigned last) { grow(first, last); });
  }

  std::vector<ScoredSpans> best() const {
    std::vector<ScoredSpans> all;
    for (const Tree& t : trees_(0, s_.words - 1)) {
      all.push_back({{}, t.score});
      write(0, s_.words - 1, t, all.back().spans);
    }
    return all;
  }

 private:
  /// A tree of a span: its left part ends with word `split` and is tree `left` of that part. For a
  /// single word, `split` is the word.
  struct Tree {
    double score;
    unsigned split, label;
    std::uint32_t left, right;
  };

  const Tree& left_of(unsigned first, const Tree& t) const {
    return trees_(first, t.split)[t.left];
  }
  const Tree& right_of(unsigned last, const Tree& t) const {
    return trees_(t.split + 1, last)[t.right];
  }

  void grow(unsigned first, unsigned last) {
    std::vector<Tree>& trees = trees_(first, last);
    const std::vector<unsigned>& labels = best_labels(first, last);
    const auto offer = [&](std::size_t label, double parts, unsigned split, std::size_t left,
                           std::size_t right) {
      const double score = s_.score(first, last, labels[label]) + parts;
      if (score > kForbidden)
        trees.push_back({score, split, labels[label], static_cast<std::uint32_t>(left),
                         static_cast<std::uint32_t>(right)});
    };
    if (first == last)
      for (std::size_t k = 0; k < labels.size(); ++k) offer(k, 0, first, 0, 0);
    // The x-th label with the y-th and z-th parts (from 1) has at least x y z - 1 better trees.
    for (unsigned split = first; split < last; ++split) {
      const std::vector<Tree>&l = trees_(first, split), &r = trees_(split + 1, last);
      for (std::size_t x = 0; x < labels.size(); ++x)
        for (std::size_t y = 0; y < l.size() && (x + 1) * (y + 1) <= n_; ++y)
          for (std::size_t z = 0; z < r.size() && (x + 1) * (y + 1) * (z + 1) <= n_; ++z)
            offer(x, l[y].score + r[z].score, split, y, z);
    }
    nn_detail::keep_best(trees, n_, [&](const Tree& a, const Tree& b) {
      return a.score != b.score ? a.score > b.score : compare(first, last, a, b) < 0;
    });
  }

  // The labels of a span, at most n.
  const std::vector<unsigned>& best_labels(unsigned first, unsigned last) {
    labels_.resize(s_.labels);
    for (unsigned k = 0; k < s_.labels; ++k) labels_[k] = k;
    nn_detail::keep_best(labels_, n_, [&](unsigned a, unsigned b) {
      const double x = s_.score(first, last, a), y = s_.score(first, last, b);
      return x != y ? x > y : a < b;
    });
    return labels_;
  }

  // Negative if tree a of a span is lexicographically before tree b.
  int compare(unsigned first, unsigned last, const Tree& a, const Tree& b) const {
    if (a.split != b.split) return a.split < b.split ? -1 : 1;
    if (a.label != b.label) return a.label < b.label ? -1 : 1;
    if (first == last) return 0;
    if (a.left != b.left)
      if (const int c = compare(first, a.split, left_of(first, a), left_of(first, b))) return c;
    if (a.right == b.right) return 0;
    return compare(a.split + 1, last, right_of(last, a), right_of(last, b));
  }

  void write(unsigned first, unsigned last, const Tree& t, std::vector<LabelledSpan>& to) const {
    to.push_back({first, last, t.label});
    if (first == last) return;
    write(first, t.split, left_of(first, t), to);
    write(t.split + 1, last, right_of(last, t), to);
  }

  const SpanScores& s_;
  std::size_t n_;
  Table<std::vector<Tree>> trees_;
  std::vector<unsigned> labels_;
};

/// Forest for n = 1, faster: stores only the best scores, and finds the tree with these scores from
/// the whole sentence down.
class BestTree {
 public:
  explicit BestTree(const SpanScores& scores)
      : s_(scores), labels_(scores.words), by_first_(scores.words), by_last_(scores.words) {
    each_span(s_.words, [&](unsigned first, unsigned last) {
      unsigned& label = labels_(first, last);
      for (unsigned k = 1; k < s_.labels; ++k)
        if (s_.score(first, last, k) > s_.score(first, last, label)) label = k;
      double parts = first == last ? 0 : kForbidden;
      const double *const left = &by_first_(first, 0), *const right = &by_last_(last, 0);
      for (unsigned m = first; m < last; ++m) {
        const double both = left[m] + right[m + 1];
        parts = both > parts ? both : parts;
      }
      by_first_(first, last) = by_last_(last, first) = score(first, last, parts);
    });
  }

  std::vector<ScoredSpans> best() const {
    ScoredSpans all{{}, by_first_(0, s_.words - 1)};
    if (!(all.score > kForbidden)) return {};
    write(0, s_.words - 1, all.spans);
    return {all};
  }

 private:
  double score(unsigned first, unsigned last, double parts) const {
    return s_.score(first, last, labels_(first, last)) + parts;
  }

  void write(unsigned first, unsigned last, std::vector<LabelledSpan>& to) const {
    to.push_back({first, last, labels_(first, last)});
    if (first == last) return;
    unsigned m = first;
    while (score(first, last, by_first_(first, m) + by_first_(m + 1, last)) !=
           by_first_(first, last))
      ++m;
    write(first, m, to);
    write(m + 1, last, to);
  }

  const SpanScores& s_;
  Table<unsigned> labels_;
  Table<double> by_first_, by_last_;  // the best score of each span
};

/// Log sums over the trees of each span, for drawing trees.
class Draws {
 public:
  Draws(const SpanScores& scores, std::uint64_t key)
      : s_(scores), random_(key), inside_(scores.words) {
    each_span(s_.words, [&](unsigned first, unsigned last) {
      inside_(first, last) = nn_detail::log_sum(label_scores(first, last));
      if (first < last) inside_(first, last) += nn_detail::log_sum(split_scores(first, last));
    });
  }

  std::vector<LabelledSpan> draw() {
    std::vector<LabelledSpan> spans;
    if (inside_(0, s_.words - 1) > kForbidden) draw(0, s_.words - 1, spans);
    return spans;
  }

 private:
  const std::vector<double>& label_scores(unsigned first, unsigned last) {
    scores_.clear();
    for (unsigned k = 0; k < s_.labels; ++k) scores_.push_back(s_.score(first, last, k));
    return scores_;
  }
  const std::vector<double>& split_scores(unsigned first, unsigned last) {
    scores_.clear();
    for (unsigned m = first; m < last; ++m)
      scores_.push_back(inside_(first, m) + inside_(m + 1, last));
    return scores_;
  }

  // Index drawn by score; not all scores may be minus infinity.
  unsigned draw(const std::vector<double>& scores) {
    return static_cast<unsigned>(nn_detail::draw_by_score(scores, random_.uniform(draws_++)));
  }

  void draw(unsigned first, unsigned last, std::vector<LabelledSpan>& to) {
    to.push_back({first, last, draw(label_scores(first, last))});
    if (first == last) return;
    const unsigned split = first + draw(split_scores(first, last));
    draw(first, split, to);
    draw(split + 1, last, to);
  }

  const SpanScores& s_;
  RandomStream random_;
  std::uint64_t draws_ = 0;
  Table<double> inside_;
  std::vector<double> scores_;
};

void need_scores(const char* who, const SpanScores& s) {
  each_span(s.words, [&](unsigned first, unsigned last) {
    for (unsigned k = 0; k < s.labels; ++k) {
      const auto score = static_cast<float>(s.score(first, last, k));
      nn_detail::need_scores(who, {&score, 1});
    }
  });
}

}  // namespace

SpanScores span_scores(const Expression& spans, SourceLocation at) {
  const Dim d = spans.dim(at);
  if (d.bd > 1)
    nn_detail::fail("span_scores", "takes the scores of one sentence, got " + to_string(d), at);
  if (d.rank() > 3 || d.rows() != d.cols() || d[2] == 0)
    nn_detail::fail("span_scores",
                    "the scores of spans must be {n,n} or {n,n,labels}, got " + to_string(d), at);
  return {d.rows(), d[2], as_vector(spans.value(at))};
}

std::vector<ScoredSpans> best_span_trees(const SpanScores& scores, std::size_t n) {
  need_scores("best_span_trees", scores);
  if (n == 0) return {};
  if (scores.words == 0) return {{{}, 0.0}};
  if (n == 1) return BestTree(scores).best();
  return Forest(scores, n).best();
}

std::vector<LabelledSpan> best_span_tree(const SpanScores& scores) {
  std::vector<ScoredSpans> all = best_span_trees(scores, 1);
  return all.empty() ? std::vector<LabelledSpan>() : std::move(all[0].spans);
}

std::vector<LabelledSpan> sample_span_tree(const SpanScores& scores, std::uint64_t key) {
  need_scores("sample_span_tree", scores);
  return scores.words == 0 ? std::vector<LabelledSpan>() : Draws(scores, key).draw();
}

}  // namespace dynet
