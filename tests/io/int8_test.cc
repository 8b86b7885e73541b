// Matrices in 8 bits: products with the same bits on every CPU, files a quarter as large.

#include "dynet-like/io/int8.h"

#include "dynet-like/base/random.h"
#include "dynet-like/io/contents.h"
#include "kernels/cpu/int8_product.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace int8_test {

using namespace dynet;

namespace {

using Multiply = void (*)(const Int8Matrix&, std::size_t, const float* const*, float* const*,
                          const bool*, const float*);
constexpr PerIsa<Multiply> kMultiply = DYNET_PER_ISA(Multiply, cpu::multiply_int8);

struct Draws {
  std::uint64_t state = 1;

  std::uint64_t below(std::uint64_t n) { return mix_bits(++state) % n; }
  float number() { return static_cast<float>(below(2001)) / 1000 - 1; }
  std::vector<float> numbers(std::size_t n) {
    std::vector<float> all(n);
    for (float& x : all) x = number();
    return all;
  }
};

struct Product {
  std::size_t m, k, n;
  std::vector<std::int8_t> w;
  std::vector<float> scales, start;
  std::vector<std::vector<float>> x, before;

  Product(Draws& draw, std::size_t rows, std::size_t columns, std::size_t count)
      : m(rows), k(columns), n(count), w(rows * columns), scales(draw.numbers(rows)) {
    for (auto& v : w) v = static_cast<std::int8_t>(static_cast<int>(draw.below(255)) - 127);
    start = draw.numbers(m);
    for (std::size_t j = 0; j < n; ++j) {
      x.push_back(draw.numbers(k));
      before.push_back(draw.numbers(m));
    }
  }
  /// The result of one instruction set; bit j of `adds`: whether column j is added.
  std::vector<std::vector<float>> by(Multiply multiply, unsigned adds, bool starts) const {
    const Int8Matrix matrix(m, k, scales.data(), w.data());
    std::vector<std::vector<float>> y = before;
    std::vector<const float*> in;
    std::vector<float*> out;
    const auto add = std::make_unique<bool[]>(n);
    for (std::size_t j = 0; j < n; ++j) {
      in.push_back(x[j].data());
      out.push_back(y[j].data());
      add[j] = adds >> (j % 32) & 1;
    }
    multiply(matrix, n, in.data(), out.data(), add.get(), starts ? start.data() : nullptr);
    return y;
  }
  /// The same by the formula.
  std::vector<std::vector<float>> expected(unsigned adds, bool starts) const {
    std::vector<std::vector<float>> y = before;
    for (std::size_t j = 0; j < n; ++j) {
      float most = 0;
      for (const float v : x[j]) most = std::max(most, std::abs(v));
      const float per = 127 / most, scale = most / 127;
      for (std::size_t i = 0; i < m; ++i) {
        long sum = 0;
        for (std::size_t c = 0; most > 0 && c < k; ++c)
          sum += std::lrint(x[j][c] * per) * w[c * m + i];
        const float product = static_cast<float>(sum) * (scales[i] * scale);
        const bool add = adds >> (j % 32) & 1;
        y[j][i] = add ? before[j][i] + product : starts ? start[i] + product : product;
      }
    }
    return y;
  }
};

template <class Check>
void on_all_isas(Check check) {
  for (unsigned k = 0; k <= static_cast<unsigned>(isa()); ++k) {
    INFO("instruction set " << k);
    check(kMultiply.versions[k]);
  }
}

// A network with every kind of product, and what it computes.
struct Net {
  ParameterCollection pc;
  LookupParameter table = pc.add_lookup_parameters(7, {20}, "table");
  VanillaLSTMBuilder lstm{2, 20, 24, pc};
  Parameter W = pc.add_parameters({9, 24}, "W"), b = pc.add_parameters({9}, "b"),
            V = pc.add_parameters({5, 24}, "V");

  std::vector<Expression> results(ComputationGraph& g, unsigned word) {
    lstm.new_graph(g);
    lstm.start_new_sequence();
    for (unsigned t = 0; t < 3; ++t) lstm.add_input(lookup(g, table, (word + t) % 7));
    const Expression h = lstm.back(), w = parameter(g, W), bias = parameter(g, b);
    return {h, affine_transform({bias, w, h}), parameter(g, V) * h,
            linear_cross_entropy({bias, w, h}, word % 9)};
  }
  std::vector<float> values(unsigned word) {
    ComputationGraph g;
    std::vector<float> all;
    for (const Expression& e : results(g, word))
      for (const float v : as_vector(e.value())) all.push_back(v);
    return all;
  }
};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

}  // namespace

TEST_CASE("int8: products have the bits of the formula on every instruction set") {
  Draws draw;
  for (unsigned round = 0; round < 300; ++round) {
    const Product p(draw,
                    1 + draw.below(round % 3   ? 40
                                   : round % 9 ? 150
                                               : 600),
                    1 + draw.below(70), 1 + draw.below(round % 4 ? 15 : 70));
    const auto adds = static_cast<unsigned>(draw.below(std::uint64_t{1} << 32));
    const bool starts = draw.below(2);
    on_all_isas([&](Multiply multiply) {
      CHECK(p.by(multiply, adds, starts) == p.expected(adds, starts));
    });
  }
}

TEST_CASE("int8: the largest numbers do not overflow") {
  Draws draw;
  for (const std::size_t k : {2u, 64u, 4096u, 65536u})
    for (const int sign : {1, -1}) {
      Product p(draw, 18, k, 9);
      for (std::size_t i = 0; i < p.w.size(); ++i)
        p.w[i] = static_cast<std::int8_t>(i % 18 < 9 ? 127 : sign * 127);
      for (auto& column : p.x)
        for (std::size_t i = 0; i < k; ++i)
          column[i] = i % 2 ? 3.0f : 3.0f * static_cast<float>(sign);
      on_all_isas(
          [&](Multiply multiply) { CHECK(p.by(multiply, 0, false) == p.expected(0, false)); });
    }
}

TEST_CASE("int8: columns that are zero, tiny, infinite or no numbers") {
  Draws draw;
  Product p(draw, 20, 10, 6);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  p.x[0].assign(10, 0.0f);
  p.x[1].assign(10, 1e-35f);
  p.x[2][3] = kInfinity;
  p.x[3][9] = std::numeric_limits<float>::quiet_NaN();
  p.x[4].assign(10, std::numeric_limits<float>::max());
  on_all_isas([&](Multiply multiply) {
    const auto y = p.by(multiply, 0, true);
    CHECK(y[0] == p.start);
    CHECK(y[1] == p.start);
    for (const std::size_t j : {2u, 3u})
      for (const float v : y[j]) CHECK(std::isnan(v));
    CHECK(y[4] == p.expected(0, true)[4]);
    CHECK(y[5] == p.expected(0, true)[5]);
  });
}

TEST_CASE("int8: rounding keeps each row within half a step") {
  Draws draw;
  const std::vector<float> numbers = draw.numbers(60);
  for (const bool by_part : {false, true}) {
    const Int8Values rounded = to_int8(numbers.data(), 60, 6, by_part);
    std::vector<float> back(60), again(60);
    from_int8(rounded.scales.data(), rounded.values.data(), 60, 6, by_part, back.data());
    for (std::size_t i = 0; i < 60; ++i)
      CHECK(std::abs(back[i] - numbers[i]) <= 0.501f * rounded.scales[by_part ? i / 10 : i % 6]);
    const Int8Values twice = to_int8(back.data(), 60, 6, by_part);
    CHECK(twice.values == rounded.values);
  }
  CHECK(to_int8(std::vector<float>(4, 0.0f).data(), 4, 2, false).scales ==
        std::vector<float>{0, 0});
  const float bad[] = {1, std::numeric_limits<float>::infinity()};
  CHECK_THROWS_AS(to_int8(bad, 2, 1, false), ArgumentError);
}

TEST_CASE("int8: a model computes nearly the same, with the same bits in any batch") {
  const TemporaryFolder folder;
  Net net;
  save(folder / "m", SaveOptions{.metadata = "about"}, net.pc, std::string("more"));
  write_int8_copy(folder / "m", folder / "small");
  CHECK(read_metadata(folder / "small") == "about");
  for (const bool map : {false, true}) {
    Net small;
    std::string more;
    load(folder / "small", LoadOptions{.map = map}, small.pc, more);
    CHECK(more == "more");
    CHECK(small.W.stored().int8() != nullptr);
    CHECK(small.b.stored().int8() == nullptr);
    CHECK(small.b.values().v[0] == net.b.values().v[0]);
    std::vector<std::vector<float>> alone;
    for (unsigned word = 0; word < 7; ++word) {
      alone.push_back(small.values(word));
      const double difference = largest_difference(alone.back(), net.values(word));
      CHECK(difference < 0.05);
      CHECK(difference > 1e-5);
    }
    ComputationGraph g;  // all words in one batch
    std::vector<std::vector<Expression>> all;
    for (unsigned word = 0; word < 7; ++word) all.push_back(small.results(g, word));
    g.forward(all.back().back());
    for (unsigned word = 0; word < 7; ++word) {
      std::vector<float> batched;
      for (const Expression& e : all[word])
        for (const float v : as_vector(e.value())) batched.push_back(v);
      CHECK(batched == alone[word]);
    }
    // Gradients are those of the floats that the integers stand for.
    g.backward(all[0].back());
    CHECK(largest_difference(as_vector(small.W.gradients()), std::vector<float>(9 * 24)) > 0);
  }
}

TEST_CASE("int8: values that change are multiplied as floats") {
  const TemporaryFolder folder;
  {
    Net net;
    save(folder / "m", net.pc);
    write_int8_copy(folder / "m", folder / "small");
  }
  const auto loaded = [&] {
    auto net = std::make_unique<Net>();
    load(folder / "small", net->pc);
    REQUIRE(net->V.stored().int8());
    return net;
  };
  const auto one = loaded();
  one->V.set_value(std::vector<float>(5 * 24, 0.5f));
  CHECK(!one->V.stored().int8());
  CHECK(one->W.stored().int8());
  const auto two = loaded();
  two->V.values().v[0] = 3;
  CHECK(!two->V.stored().int8());
  const auto three = loaded();
  SimpleSGDTrainer trainer(three->pc);
  ComputationGraph g;
  g.backward(sum_elems(three->results(g, 0)[2]));
  trainer.update();
  CHECK(!three->V.stored().int8());
  // Saving and loading again keeps the floats.
  const auto four = loaded();
  save(folder / "again", four->pc);
  Net five;
  load(folder / "again", five.pc);
  CHECK(!five.W.stored().int8());
  CHECK(as_vector(five.W.values()) == as_vector(four->W.values()));
}

TEST_CASE("int8: a sequence has the same bits in any company") {
  constexpr unsigned kSize = 16;
  Draws draw;
  ParameterCollection pc;
  Parameter p = pc.add_parameters({4 * kSize, kSize});
  std::vector<std::int8_t> quantized(4 * kSize * kSize);
  for (auto& v : quantized) v = static_cast<std::int8_t>(static_cast<int>(draw.below(255)) - 127);
  const std::vector<float> scales = draw.numbers(4 * kSize);
  p.stored().set_int8(
      std::make_unique<Int8Matrix>(4 * kSize, kSize, scales.data(), quantized.data()));
  const std::vector<float> sums = draw.numbers(std::size_t{4 * kSize} * 5);
  // A matrix in 8 bits, and its floats: alone, and one behind the other.
  std::vector<std::vector<float>> alone;
  for (const unsigned order : {0u, 1u, 2u, 3u}) {
    ComputationGraph g;
    const Expression x = input(g, {4 * kSize, 5}, sums), w = parameter(g, p);
    const Expression floats = reshape(w, {4 * kSize, kSize});
    const auto of = [&](const Expression& matrix) { return lstm_sequence(x, matrix).h; };
    const Expression first = of(order % 2 == 0 ? w : floats);
    if (order < 2) {
      alone.push_back(as_vector(first.value()));
      continue;
    }
    const Expression second = of(order % 2 == 0 ? floats : w);
    CHECK(as_vector(second.value()) == alone[order % 2 == 0 ? 1 : 0]);
    CHECK(as_vector(first.value()) == alone[order % 2]);
  }
  CHECK(alone[0] != alone[1]);
}

TEST_CASE("int8: files are a quarter as large, and known to the tools") {
  const TemporaryFolder folder;
  {
    ParameterCollection pc;
    pc.add_parameters({256, 200}, "W");
    pc.add_parameters({256}, "b");
    pc.add_lookup_parameters(500, {100}, "E");
    save(folder / "m", pc);
  }
  write_int8_copy(folder / "m", folder / "small");
  CHECK(3.5 * static_cast<double>(std::filesystem::file_size(folder / "small")) <
        static_cast<double>(std::filesystem::file_size(folder / "m")));
  const std::vector<NamedTensor> before = read_tensors(folder / "m"),
                                 after = read_tensors(folder / "small");
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i].shape == before[i].shape);
    CHECK(largest_difference(to_floats(after[i]), to_floats(before[i])) < 0.01);
  }
  // As floats in another format, and once more.
  write_contents(folder / "m.safetensors", read_contents(folder / "small"));
  write_contents(folder / "back.dynet", read_contents(folder / "m.safetensors"));
  CHECK(read_tensors(folder / "back.dynet")[0].bytes == after[0].bytes);
  write_int8_copy(folder / "small", folder / "again");
  CHECK(read_file(folder / "again") == read_file(folder / "small"));
  const FileIndex index = ModelFile(folder / "small").index();
  CHECK(index.groups[0].tensors[0].is_int8);
  CHECK(!index.groups[0].tensors[1].is_int8);
  CHECK(read_file(folder / "small")[8] == 2);  // the version
  CHECK(read_file(folder / "m")[8] == 1);
}

TEST_CASE("int8: damaged files and odd numbers are refused") {
  const TemporaryFolder folder;
  Net net;
  save(folder / "m", net.pc);
  write_int8_copy(folder / "m", folder / "small");
  const std::string good = read_file(folder / "small");
  const std::vector<float> before = test::all_values(net.pc);
  for (std::size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    write_file(folder / "bad", bad);
    REQUIRE_THROWS_AS(load(folder / "bad", net.pc), FileError);
  }
  CHECK(test::all_values(net.pc) == before);
  for (const std::size_t size : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
    write_file(folder / "bad", good.substr(0, size));
    REQUIRE_THROWS_AS(load(folder / "bad", net.pc), FileError);
  }
  // A vector cannot have 8 bits.
  FileIndex index = ModelFile(folder / "m").index();
  for (SavedTensor& t : index.groups[0].tensors) t.is_int8 = t.sizes.size() == 1 && !t.is_lookup;
  CHECK_THROWS_AS(decode_index(encode_index(index), 0, 1 << 20), FileError);
  net.W.values().v[3] = std::numeric_limits<float>::infinity();
  save(folder / "m", net.pc);
  CHECK(message_of<FileError>([&] {
          write_int8_copy(folder / "m", folder / "x");
        }).find("/W cannot have 8 bits") != std::string::npos);
  CHECK_THROWS_AS(write_int8_copy(folder / "none", folder / "x"), FileError);
  CHECK(!std::filesystem::exists(folder / "x"));
}

}  // namespace int8_test
