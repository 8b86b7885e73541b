#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

using SettingsOf =
    std::function<AttentionSettings(unsigned keys, unsigned batch, unsigned variant)>;

unsigned batch_of(const std::vector<Dim>& dims) {
  unsigned batch = 1;
  for (const Dim& d : dims) batch = std::max(batch, d.bd);
  return batch;
}

/// Scores and their softmax one by one.
Array naive_attention(const Arrays& x, const AttentionSettings& s) {
  const unsigned key_heads = s.key_heads == 0 ? s.heads : s.key_heads, group = s.heads / key_heads;
  const unsigned size = x[0].dim.rows() / s.heads, value_size = x[2].dim.rows() / key_heads;
  const unsigned queries = x[0].dim.cols(), keys = x[1].dim.cols();
  const double scale = s.scale != 0 ? s.scale : 1 / std::sqrt(std::max(1.0, 1.0 * size));
  std::vector<Dim> dims;
  for (const Array& a : x) dims.push_back(a.dim);
  const unsigned batch = batch_of(dims);
  const Array scores = fill(Dim({keys, queries, s.heads}, batch), [&](const Place& p) {
    const unsigned j = p[0], i = p[1], head = p[2], e = p[kBatch];
    const int off = static_cast<int>(j + queries) - static_cast<int>(i + keys);
    const bool is_seen = s.key_lengths.empty() || j < s.key_lengths[e];
    if (!is_seen || (s.causal && off > 0)) return -kInfinity;
    double score = 0;
    for (unsigned r = 0; r < size; ++r)
      score += x[0].at(head * size + r, i, e) * x[1].at(head / group * size + r, j, e);
    score *= scale;
    if (x.size() > 3) {
      const int reach = static_cast<int>(x[3].dim.rows() / 2);
      score += x[3].at(static_cast<unsigned>(std::clamp(off, -reach, reach) + reach), head, e);
    }
    return score;
  });
  return fill(Dim({value_size * s.heads, queries}, batch), [&](const Place& p) {
    const unsigned head = p[0] / value_size, row = head / group * value_size + p[0] % value_size;
    Place at = {0, p[1], head, 0, 0, 0, 0, p[kBatch]};
    double most = -kInfinity, sum = 0, y = 0;
    for (at[0] = 0; at[0] < keys; ++at[0]) most = std::max(most, scores.at(at));
    if (most == -kInfinity) return 0.0;
    for (at[0] = 0; at[0] < keys; ++at[0]) {
      const double weight = std::exp(scores.at(at) - most);
      sum += weight;
      y += weight * x[2].at(row, at[0], p[kBatch]);
    }
    return y / sum;
  });
}

OpCase attends(const std::string& name, const SettingsOf& settings, bool biased = false) {
  const AttentionSettings some = settings(1, 1, 0);
  const unsigned heads = some.heads, key_heads = some.key_heads == 0 ? heads : some.key_heads;
  OpCase c;
  c.name = name;
  c.shapes = [=](Shapes& s) {
    const unsigned size = s.size(), value_size = s.size(), queries = s.size(), keys = s.size();
    std::vector<Dim> dims = {Dim({size * heads, queries}, s.batch()),
                             Dim({size * key_heads, keys}, s.batch()),
                             Dim({value_size * key_heads, keys}, s.batch())};
    if (biased) dims.push_back(Dim({static_cast<unsigned>(1 + 2 * s.below(4)), heads}, s.batch()));
    return dims;
  };
  c.build = [=](const Operand& x) {
    std::vector<Dim> dims;
    for (const Expression& e : x) dims.push_back(e.dim());
    const AttentionSettings s = settings(dims[1].cols(), batch_of(dims), x.variant);
    return biased ? attention(x[0], x[1], x[2], x[3], s) : attention(x[0], x[1], x[2], s);
  };
  c.reference = [=](const Arrays& x) {
    std::vector<Dim> dims;
    for (const Array& a : x) dims.push_back(a.dim);
    return naive_attention(x, settings(dims[1].cols(), batch_of(dims), x.variant));
  };
  c.extremes = {-20, 20, 0};  // of which scores are products
  c.float_tolerance = 1e-4;
  c.draws = 40;
  const auto bad = [&](std::vector<Dim> dims, Throws type = Throws::shape_error) {
    if (biased && dims.size() < 4) dims.push_back(Dim({3, heads}));
    c.bad.push_back({std::move(dims), type});
  };
  const unsigned q = 2 * heads, k = 2 * key_heads;
  bad({Dim({q, 3, 2}), Dim({k, 4}), Dim({k, 4})});
  bad({Dim({q, 3}), Dim({k, 4, 2}), Dim({k, 4})});
  bad({Dim({q, 3}), Dim({k, 4}), Dim({k, 4, 2})});
  bad({Dim({q, 3}), Dim({2 * k, 4}), Dim({k, 4})});
  bad({Dim({q, 3}), Dim({k, 4}), Dim({k, 5})});
  bad({Dim({q, 3}, 2), Dim({k, 4}, 3), Dim({k, 4})});
  bad({Dim({q, 3}), Dim({k, 4}, 2), Dim({k, 4}, 3)});
  if (heads > 1) bad({Dim({q + 1, 3}), Dim({k, 4}), Dim({k, 4})});
  if (key_heads > 1) {
    bad({Dim({q, 3}), Dim({k + 1, 4}), Dim({k, 4})});
    bad({Dim({q, 3}), Dim({k, 4}), Dim({k + 1, 4})});
  }
  if (biased) {
    bad({Dim({q, 3}), Dim({k, 4}), Dim({k, 4}), Dim({2, heads})});
    bad({Dim({q, 3}), Dim({k, 4}), Dim({k, 4}), Dim({3, heads + 1})});
    bad({Dim({q, 3}), Dim({k, 4}), Dim({k, 4}), Dim({3, heads, 2})});
    bad({Dim({q, 3}, 2), Dim({k, 4}), Dim({k, 4}), Dim({3, heads}, 3)});
  }
  return c;
}

std::vector<unsigned> some_lengths(unsigned keys, unsigned batch, unsigned variant) {
  std::vector<unsigned> lengths;
  for (unsigned e = 0; e < batch; ++e) lengths.push_back((variant * 5 + e * 3) % (keys + 1));
  return lengths;
}

}  // namespace

std::vector<OpCase> attention_cases() {
  const auto lengths = [](unsigned heads, unsigned key_heads, bool causal) {
    return [=](unsigned keys, unsigned batch, unsigned variant) {
      return AttentionSettings{.heads = heads,
                               .key_heads = key_heads,
                               .causal = causal,
                               .key_lengths = some_lengths(keys, batch, variant)};
    };
  };
  const auto always = [](const AttentionSettings& s) {
    return [=](unsigned, unsigned, unsigned) { return s; };
  };
  return {attends("attention", always({})),
          attends("attention of heads", always({.heads = 3, .scale = 0.5})),
          attends("attention of groups", always({.heads = 4, .key_heads = 2})),
          attends("attention, causal", always({.heads = 2, .key_heads = 1, .causal = true})),
          attends("attention to some keys", lengths(2, 2, false)),
          attends("attention with biases", always({.heads = 2, .scale = -1}), true),
          attends("attention with all", lengths(4, 2, true), true)};
}

DYNET_OP_TESTS("attention", attention_cases())

TEST_CASE("attention: queries and keys at the borders of blocks, and over several") {
  struct Shape {
    unsigned queries, keys, size, value_size;
  };
  for (const Shape& s : {Shape{1, 1, 1, 1}, Shape{3, 5, 4, 2}, Shape{31, 33, 8, 3},
                         Shape{32, 32, 3, 8}, Shape{33, 127, 5, 5}, Shape{5, 128, 4, 4},
                         Shape{40, 129, 2, 9}, Shape{70, 300, 16, 7}, Shape{65, 64, 1, 1}})
    for (const unsigned heads : {1u, 4u})
      for (const unsigned key_heads : {1u, 2u, 4u})
        for (const unsigned kind : {0u, 1u, 2u, 3u}) {
          if (key_heads > heads) continue;
          AttentionSettings settings{.heads = heads, .key_heads = key_heads};
          settings.causal = kind >= 2;
          if (kind == 3) settings.scale = 0.75;
          if (kind == 1) settings.key_lengths = {(s.keys + 1) / 2};
          std::vector<Dim> dims = {{s.size * heads, s.queries},
                                   {s.size * key_heads, s.keys},
                                   {s.value_size * key_heads, s.keys}};
          const bool biased = kind % 2 == 1;
          if (biased) dims.push_back({2 * (s.keys / 3) + 1, heads});
          check_large(attends(
                          "attention " + std::to_string(kind),
                          [=](unsigned, unsigned, unsigned) { return settings; }, biased),
                      dims);
        }
}

}  // namespace dynet::test
