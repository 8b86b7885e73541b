#include "tests/layers/naive_transformer.h"
#include "tests/ops/sequences.h"

namespace transformer_test {

using namespace dynet;
using naive::columns_of;
using naive::difference;
using naive::numbers;
using naive::part;

namespace {

constexpr unsigned kSize = 4, kMemory = 3;

Expression some(ComputationGraph& cg, unsigned size, unsigned count, unsigned seed) {
  return input(cg, Dim({size, count}), numbers(std::size_t{size} * count, seed));
}

/// Each choice once, not all products of them.
std::vector<TransformerSettings> variants(unsigned memory) {
  TransformerSettings plain;
  plain.layers = 2;
  plain.size = kSize;
  plain.heads = 2;
  plain.hidden = 5;
  plain.memory = memory;
  std::vector<TransformerSettings> all(7, plain);
  all[1].norm_first = true;
  all[2].norm_first = all[2].final_norm = all[2].rms_norm = true;
  all[2].activation = Activation::swiglu;
  all[2].bias = false;
  all[2].rotary = true;
  all[2].key_heads = 1;
  all[3].relative = 2;
  all[3].activation = Activation::gelu;
  all[4].causal = true;
  all[4].norm_first = true;
  all[5].bias = false;
  all[5].epsilon = 0.1f;
  all[6].causal = all[6].rotary = all[6].final_norm = true;
  all[6].relative = 1;
  all[6].rotary_base = 50;
  return all;
}

}  // namespace

TEST_CASE("sinusoidal positions: their formula, from any position") {
  for (const unsigned size : {1u, 4u, 5u}) {
    ComputationGraph cg;
    const Expression x = sinusoidal_positions(cg, size, 9);
    CHECK(x.dim() == Dim({size, 9}));
    const std::vector<float> values = as_vector(x.value());
    for (unsigned p = 0; p < 9; ++p)
      for (unsigned i = 0; i < size; ++i) {
        const double angle = p * std::exp(-std::log(10000.0) * (i - i % 2) / size);
        CHECK(double(values[p * size + i]) ==
              Approx(i % 2 ? std::cos(angle) : std::sin(angle)).margin(1e-7));
      }
    CHECK(as_vector(sinusoidal_positions(cg, size, 4, 5).value()) ==
          part(values, 5 * size, 9 * size));
    CHECK(sinusoidal_positions(cg, size, 1, 3).dim() == Dim({size}));
    CHECK_THROWS_AS(sinusoidal_positions(cg, size, 0), ArgumentError);
    CHECK_THROWS_AS(sinusoidal_positions(cg, 0, size), ArgumentError);
  }
}

TEST_CASE("rotary positions: products depend on distances") {
  ComputationGraph cg;
  const Expression q = some(cg, 8, 1, 1), k = some(cg, 8, 1, 2);
  const auto product = [&](int i, int j) {
    return double(
        as_scalar(dot_product(rotary_positions(q, 2, i), rotary_positions(k, 2, j)).value()));
  };
  for (const int shift : {1, 7, -3}) CHECK(product(5 + shift, 2 + shift) == Approx(product(5, 2)));
  CHECK(product(5, 2) != Approx(product(2, 5)));
  CHECK(as_vector(rotary_positions(q, 2, 0).value()) == as_vector(q.value()));
  // Pairs are halves of a head.
  const std::vector<float> turned =
      as_vector(rotary_positions(input(cg, {8}, {1, 0, 0, 0, 0, 0, 0, 2}), 2, 3, 16).value());
  const std::vector<double> expected = {std::cos(3.0),       0, std::sin(3.0),     0, 0,
                                        -2 * std::sin(0.75), 0, 2 * std::cos(0.75)};
  CHECK(difference(expected, turned) < 1e-6);
  const Expression x = some(cg, 8, 6, 3);
  const std::vector<float> all = as_vector(rotary_positions(x, 2, 4).value());
  CHECK(as_vector(rotary_positions(pick_range(x, 2, 6, 1), 2, 6).value()) == part(all, 16, 48));
  const Expression batch = input(cg, Dim({8, 3}, 2), numbers(48, 3));
  const std::vector<float> two = as_vector(rotary_positions(batch, 2, 4).value());
  CHECK(part(two, 0, 24) == part(all, 0, 24));
  CHECK(part(two, 24, 48) == as_vector(rotary_positions(pick_range(x, 3, 6, 1), 2, 4).value()));
  CHECK_THROWS_AS(rotary_positions(x, 3), ShapeError);
  CHECK_THROWS_AS(rotary_positions(x, 8), ShapeError);
  CHECK_THROWS_AS(rotary_positions(x, 0), ArgumentError);
  CHECK_THROWS_AS(rotary_positions(x, 2, 0, 1.0f), ArgumentError);
}

TEST_CASE("learned positions: rows of a table") {
  ParameterCollection model;
  LearnedPositions positions(model, {6, 3});
  CHECK_THROWS_AS(LearnedPositions(model, {0, 3}), ArgumentError);
  CHECK_THROWS_WITH(LearnedPositions(model, {3, 0}), Catch::Contains("got 3 and 0"));
  ComputationGraph cg;
  positions.new_graph(cg);
  const std::vector<float> all = as_vector(positions.apply(6).value());
  CHECK(positions.apply(6).dim() == Dim({3, 6}));
  CHECK(as_vector(positions.apply(2, 4).value()) == part(all, 12, 18));
  CHECK(positions.apply(1, 5).dim() == Dim({3}));
  CHECK_THROWS_WITH(positions.apply(3, 4), Catch::Contains("there are 6 positions"));
  CHECK_THROWS_AS(positions.apply(7), ArgumentError);
  CHECK_THROWS_AS(positions.apply(0), ArgumentError);
}

TEST_CASE("multi-head attention: its formula and gradients") {
  using Settings = MultiHeadAttention::Settings;
  const std::vector<Settings> all = {
      {8, 2},
      {8, 1, 0, 0, false},
      {8, 4, 2, 3, true, true},
      {8, 4, 1, 3, false, false, 2},
      {8, 2, 0, 3, true, true, 1, true, 100},
      {8, 4, 2, 8, true, false, 0, true},
  };
  for (std::size_t n = 0; n < all.size(); ++n)
    for (const unsigned queries : {1u, 3u, 5u}) {
      CAPTURE(n, queries);
      const Settings& s = all[n];
      const unsigned memory = s.memory ? s.memory : 8;
      ParameterCollection model;
      MultiHeadAttention layer(model, s);
      naive::spread(model);
      const std::vector<float> x = numbers(8 * queries, 1), m = numbers(memory * 5, 2);
      for (const unsigned length : {5u, 4u}) {
        if (s.causal && length < 5) continue;  // queries without a key
        ComputationGraph cg;
        layer.new_graph(cg);
        naive::Reader reader(model);
        const Expression y =
            layer.apply(input(cg, Dim({8, queries}), x), input(cg, Dim({memory, 5}), m), {length});
        CHECK(y.dim() == Dim({8, queries}));
        CHECK(difference(reader.attention(columns_of(x, 8), columns_of(m, memory), s, length),
                         as_vector(y.value())) < 1e-5);
        CHECK(reader.done());
      }
      Parameter px = model.add_parameters({8, queries}), pm = model.add_parameters({memory, 5});
      naive::spread(model);
      const auto loss = [&](ComputationGraph& cg, bool update) {
        layer.new_graph(cg, update);
        return sum_elems(square(layer.apply(parameter(cg, px), parameter(cg, pm))));
      };
      check_slopes(loss, model.parameters_list().size(), 2);
    }
}

TEST_CASE("multi-head attention: a sentence is its own memory, and settings are checked") {
  ParameterCollection model;
  using Settings = MultiHeadAttention::Settings;
  CHECK_THROWS_WITH(MultiHeadAttention(model, {0, 1}), Catch::Contains("above zero"));
  CHECK_THROWS_WITH(MultiHeadAttention(model, {8, 0}), Catch::Contains("above zero"));
  CHECK_THROWS_WITH(MultiHeadAttention(model, {8, 3}), Catch::Contains("must divide the size"));
  CHECK_THROWS_WITH(MultiHeadAttention(model, {8, 4, 3}), Catch::Contains("heads of keys"));
  Settings odd{6, 2};
  odd.rotary = true;
  CHECK_THROWS_WITH(MultiHeadAttention(model, odd), Catch::Contains("of an even size, got 3"));
  odd.heads = 1;
  odd.rotary_base = 1;
  CHECK_THROWS_WITH(MultiHeadAttention(model, odd), Catch::Contains("base above one"));
  CHECK(model.parameters_list().empty());
  MultiHeadAttention layer(model, {8, 2});
  ComputationGraph cg;
  const Expression x = some(cg, 8, 3, 1);
  layer.new_graph(cg);
  CHECK_THROWS_WITH(layer.attend(x, {}), Catch::Contains("nothing to attend to"));
  CHECK_THROWS_AS(layer.apply(some(cg, 7, 3, 1)), ShapeError);
  CHECK_THROWS_AS(layer.apply(x, x, {4}), ArgumentError);
  CHECK(as_vector(layer.apply(x).value()) == as_vector(layer.apply(x, x, {3}).value()));
}

TEST_CASE("transformer encoder: its formula, gradients, columns and batches") {
  unsigned n = 0;
  for (const TransformerSettings& s : variants(0)) {
    CAPTURE(n++);
    ParameterCollection model;
    TransformerEncoder encoder(model, s);
    naive::spread(model);
    const std::vector<float> x = numbers(kSize * 6, 1);
    const auto reference = [&](const std::vector<float>& of, std::size_t length) {
      naive::Reader reader(model);
      naive::Matrix y = reader.transformer(columns_of(of, kSize), {}, s, length, 0);
      CHECK(reader.done());
      return y;
    };
    {
      ComputationGraph cg;
      encoder.new_graph(cg);
      CHECK(difference(reference(x, 6),
                       as_vector(encoder.apply(input(cg, {kSize, 6}, x)).value())) < 2e-5);
      const Expression one = encoder.apply(input(cg, {kSize}, part(x, 0, kSize)));
      CHECK(one.dim() == Dim({kSize}));
      CHECK(difference(reference(part(x, 0, kSize), 1), as_vector(one.value())) < 2e-5);
      const Expression batch = encoder.apply(input(cg, Dim({kSize, 3}, 2), x));
      CHECK(batch.dim() == Dim({kSize, 3}, 2));
      const std::vector<float> values = as_vector(batch.value());
      for (const unsigned b : {0u, 1u}) {
        const std::vector<float> each = part(x, b * 3 * kSize, (b + 1) * 3 * kSize);
        CHECK(part(values, b * 3 * kSize, (b + 1) * 3 * kSize) ==
              as_vector(encoder.apply(input(cg, {kSize, 3}, each)).value()));
      }
      if (!s.causal) {  // where the length is another, so is the answer
        const std::vector<float> cut =
            as_vector(encoder.apply(input(cg, Dim({kSize, 3}, 2), x), {3, 2}).value());
        CHECK(part(cut, 0, 3 * kSize) == part(values, 0, 3 * kSize));
        CHECK(difference(reference(part(x, 3 * kSize, 6 * kSize), 2),
                         part(cut, 3 * kSize, 6 * kSize)) < 2e-5);
      }
    }
    naive::gradients_are_right(encoder, model, {kSize, 3}, model.parameters_list().size(), 1);
  }
}

TEST_CASE("transformer decoder: its formula and gradients, and step by step the same") {
  unsigned n = 0;
  for (const unsigned memory : {kMemory, 0u})
    for (TransformerSettings s : variants(memory)) {
      CAPTURE(n++, memory);
      ParameterCollection model;
      TransformerDecoder decoder(model, s);
      naive::spread(model);
      CHECK(decoder.settings().causal);
      s.causal = true;
      const std::vector<float> x = numbers(kSize * 6, 1), m = numbers(kMemory * 4, 2);
      {
        ComputationGraph cg;
        decoder.new_graph(cg);
        const Expression read = input(cg, {kMemory, 4}, m);
        const auto whole = [&](const Expression& sentence) {
          return memory ? decoder.apply(sentence, read, {3}) : decoder.apply(sentence);
        };
        const std::vector<float> y = as_vector(whole(input(cg, {kSize, 6}, x)).value());
        naive::Reader reader(model);
        CHECK(difference(reader.transformer(columns_of(x, kSize), columns_of(m, kMemory), s, 6, 3),
                         y) < 2e-5);
        CHECK(reader.done());

        // Positions one by one, but two at a time in the middle.
        DecoderCache cache = memory ? decoder.start(read, {3}) : decoder.start();
        CHECK(cache.size() == 0);
        DecoderCache fork;
        for (const auto& [from, to] : {std::pair(0u, 1u), {1u, 2u}, {2u, 4u}, {4u, 5u}, {5u, 6u}}) {
          const auto [now, after] = decoder.step(
              cache, input(cg, Dim({kSize, to - from}), part(x, from * kSize, to * kSize)));
          CHECK(now.dim() == Dim({kSize, to - from}));
          CHECK(difference(columns_of(part(y, from * kSize, to * kSize), kSize),
                           as_vector(now.value())) < 1e-5);
          cache = after;
          CHECK(cache.size() == to);
          if (to == 4) fork = cache;
        }
        // Another way from the middle, as in a beam.
        std::vector<float> other = part(x, 0, 5 * kSize);
        std::reverse(other.end() - kSize, other.end());
        const auto [now, after] =
            decoder.step(fork, input(cg, {kSize}, part(other, 4 * kSize, 5 * kSize)));
        CHECK(after.size() == 5);
        CHECK(cache.size() == 6);
        CHECK(difference(columns_of(part(as_vector(whole(input(cg, {kSize, 5}, other)).value()),
                                         4 * kSize, 5 * kSize),
                                    kSize),
                         as_vector(now.value())) < 1e-5);
      }
      Parameter px = model.add_parameters({kSize, 3}), pm = model.add_parameters({kMemory, 2});
      naive::spread(model);
      for (const bool steps : {false, true}) {
        ComputationGraph cg;
        decoder.new_graph(cg);
        const Expression sentence = parameter(cg, px), read = parameter(cg, pm);
        DecoderCache cache = memory ? decoder.start(read) : decoder.start();
        std::vector<Expression> ys;
        if (steps) {
          for (unsigned t = 0; t < 3; ++t) {
            auto [y, after] = decoder.step(cache, pick(sentence, t, 1));
            ys.push_back(y);
            cache = after;
          }
        } else {
          ys.push_back(memory ? decoder.apply(sentence, read) : decoder.apply(sentence));
        }
        const Expression loss = sum_elems(cmult(tanh(concatenate_cols(ys)), some(cg, kSize, 3, 9)));
        check_slopes(loss, model.parameters_list().size());
      }
    }
}

TEST_CASE("transformers: sentences of all lengths have the same bits alone and together") {
  constexpr unsigned kCount = 9;
  for (TransformerSettings s : variants(0)) {
    s.size = 24;
    s.hidden = 40;
    ParameterCollection model;
    TransformerEncoder encoder(model, s);
    s.memory = 24;
    TransformerDecoder decoder(model, s);
    test::Sentences all{.batches = 1200};
    all.own.resize(kCount);
    all.build = [&](ComputationGraph& cg, unsigned n) {
      encoder.new_graph(cg);
      decoder.new_graph(cg);
      const Expression memory = encoder.apply(some(cg, 24, 1 + n * 5 % 17, n));
      return std::vector{decoder.apply(some(cg, 24, 1 + n * 7 % 11, 100 + n), memory)};
    };
    all.loss = [](const std::vector<Expression>& y) { return squared_norm(y[0]); };
    check_alone_and_together(model, all);
  }
}

TEST_CASE("transformers: dropout trains and rests") {
  ParameterCollection model;
  TransformerSettings s = variants(0)[0];
  TransformerEncoder encoder(model, s);
  s.memory = kMemory;
  TransformerDecoder decoder(model, s);
  ComputationGraph cg;
  encoder.new_graph(cg);
  decoder.new_graph(cg);
  const auto draws = [&](bool decode) {
    const std::size_t from = cg.size();
    const Expression x = some(cg, kSize, 3, 1);
    const Expression y = decode ? decoder.apply(x, some(cg, kMemory, 2, 2)) : encoder.apply(x);
    return naive::dropouts(y, from).size();
  };
  CHECK(draws(false) == 0);
  encoder.set_dropout(0.5f);
  decoder.set_dropout(0.25f);
  CHECK(draws(false) == 2 * 3);
  CHECK(draws(true) == 2 * 4);
  encoder.new_graph(cg);
  CHECK(draws(false) == 2 * 3);
  encoder.disable_dropout();
  decoder.disable_dropout();
  CHECK(draws(false) + draws(true) == 0);
  CHECK_THROWS_AS(encoder.set_dropout(1.0f), ArgumentError);
}

TEST_CASE("transformers: wrong settings and calls throw and change nothing") {
  ParameterCollection model;
  const auto wrong = [&](auto change, const char* text) {
    TransformerSettings s = variants(0)[0];
    change(s);
    CHECK_THROWS_WITH(TransformerEncoder(model, s), Catch::Contains(text));
    if (!s.memory) CHECK_THROWS_WITH(TransformerDecoder(model, s), Catch::Contains(text));
    CHECK(model.parameters_list().empty());
  };
  wrong([](auto& s) { s.layers = 0; }, "at least one layer");
  wrong([](auto& s) { s.size = 0; }, "needs a size");
  wrong([](auto& s) { s.heads = 3; }, "must divide the size");
  wrong([](auto& s) { s.hidden = 0; }, "FeedForward: sizes");
  wrong([](auto& s) { s.epsilon = -1; }, "epsilon");
  wrong([](auto& s) { s.memory = 4; }, "reads no memory");

  TransformerEncoder encoder(model, variants(0)[0]);
  TransformerDecoder decoder(model, variants(kMemory)[0]), speaker(model, variants(0)[0]),
      no_decoder;
  ComputationGraph cg;
  const Expression x = some(cg, kSize, 3, 1), m = some(cg, kMemory, 2, 2);
  CHECK_THROWS_WITH(speaker.start(), Catch::Contains("call new_graph first"));
  CHECK_THROWS_WITH(no_decoder.step({}, x), Catch::Contains("call new_graph first"));
  encoder.new_graph(cg);
  decoder.new_graph(cg);
  speaker.new_graph(cg);
  CHECK_THROWS_WITH(decoder.apply(x), Catch::Contains("reads a memory"));
  CHECK_THROWS_WITH(speaker.apply(x, m), Catch::Contains("reads no memory"));
  CHECK_THROWS_WITH(speaker.step({}, x), Catch::Contains("of no or another decoder"));
  CHECK_THROWS_AS(encoder.apply(m), ShapeError);
  CHECK_THROWS_AS(decoder.apply(x, x), ShapeError);
  CHECK_THROWS_AS(decoder.apply(x, m, {3}), ArgumentError);
  CHECK(decoder.apply(x, m).dim() == Dim({kSize, 3}));
}

}  // namespace transformer_test
