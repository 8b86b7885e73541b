// Views of gradients: reading adds up buffers, writing counts.

#include "tests/io/folder.h"
#include "tests/param/plant.h"
#include "tests/support/prelude.h"

namespace views_test {

using namespace dynet;

namespace {

using Floats = std::vector<float>;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Floats random(std::size_t n, std::uint64_t key) {
  const RandomStream stream(key);
  Floats v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(stream.normal(i) * 1e3);
  return v;
}

/// A parameter and a table with gradients in some numbered buffers.
struct Lanes {
  ParameterCollection pc;
  Parameter p = pc.add_parameters({50}, "p"), q = pc.add_parameters({2}, "q");
  LookupParameter e = pc.add_lookup_parameters(4, {5}, "e");
  GradientBuffers& all = pc.bank().gradients;

  void add(unsigned buffer, std::uint64_t key) {
    GradientBuffer& to = all.numbered(buffer);
    add_to(to.use(p.stored().index, 50), random(50, key));
    RowGradients& rows = to.rows(e.stored().index, 4, 5);
    add_to(rows.use_row(buffer % 3), random(5, key + 1));
    add_to(rows.use_row(2), random(5, key + 2));
    if (buffer % 2) add_to(rows.use_whole(), random(20, key + 3));
  }
  Floats merged() {
    GradientBuffer* buffer = all.merge();
    REQUIRE(buffer);
    Floats out(buffer->find(p.stored().index), buffer->find(p.stored().index) + 50);
    for (std::uint32_t row = 0; row < 4; ++row) {
      const RowGradients* r = buffer->find_rows(e.stored().index);
      const float* g = r->whole_written() ? r->whole() + 5 * row : r->find(row);
      for (int i = 0; i < 5; ++i) out.push_back(g ? g[i] : 0.0f);
    }
    return out;
  }
  Floats looked() const {
    Floats out = as_vector(p.gradients());
    for (unsigned row = 0; row < 4; ++row)
      for (float x : e.row_gradient(row)) out.push_back(x);
    return out;
  }
};

}  // namespace

TEST_CASE("a view of several buffers has what a merge makes of them, which is in one buffer then") {
  for (const unsigned buffers : {1u, 2u, 3u, 5u}) {
    CAPTURE(buffers);
    Lanes a, b;
    for (int pass = 0; pass < 3; ++pass)
      for (unsigned buffer = 0; buffer < buffers; ++buffer)
        for (Lanes* m : {&a, &b}) m->add(buffer, 100 * static_cast<unsigned>(pass) + 10 * buffer);
    const Floats seen = b.looked();
    CHECK(b.all.in_order().size() == 1);
    const float norm = b.pc.gradient_l2_norm();
    b.q.gradients();
    const Floats sum = a.merged();
    CHECK(same_bits(seen, sum));
    CHECK(same_bits(b.merged(), sum));
    CHECK(b.all.merge()->find(b.q.stored().index) == nullptr);
    double expected = 0;
    for (float x : sum) expected += static_cast<double>(x) * x;
    CHECK(norm == Approx(std::sqrt(expected)).epsilon(1e-6));
  }
}

TEST_CASE("rows that are shown stay rows, and lie in one matrix") {
  RowGradients r(4, 2);
  add_to(r.use_row(2), {1, 2});
  float* const all = r.show();
  const auto numbers = [&] { return Floats(all, all + 8); };
  CHECK(numbers() == Floats{0, 0, 0, 0, 1, 2, 0, 0});
  CHECK(r.show() == all);
  CHECK(r.rows().size() == 1);
  CHECK(r.find(2) == all + 4);
  CHECK_FALSE(r.whole_written());
  add_to(r.use_row(2), {1, 1});
  add_to(r.use_row(1), {5, 6});
  CHECK(numbers() == Floats{0, 0, 5, 6, 2, 3, 0, 0});
  all[7] = 3;
  CHECK(r.find(3) == nullptr);
  r.use_written();
  CHECK(r.find(3) == all + 6);
  const RowGradients::State before = r.state();
  add_to(r.use_row(0), {9, 9});  // of a pass that fails
  r.rewind(before);
  r.use_written();
  CHECK(r.rows().size() == 3);
  CHECK(all[0] == 0);
  add_to(r.use_whole(), Floats(8, 10.0f));
  CHECK(r.rows().empty());
  CHECK(numbers() == Floats{10, 10, 15, 16, 12, 13, 10, 13});
  r.rewind(before);  // keeps the gradients that lie in the whole
  CHECK(r.whole_written());
  r.unify();
  CHECK(r.gradient_of(1) == all + 2);
  r.clear();
  CHECK(r.empty());
  CHECK(r.show() == all);
  CHECK(numbers() == Floats(8, 0.0f));
  CHECK(r.empty());
  all[2] = 1;
  CHECK_FALSE(r.empty());
}

TEST_CASE("a look claims no buffer that changes the order of others") {
  Lanes a, b;
  b.p.gradients();  // of this thread, which adds nothing
  for (unsigned buffer = 0; buffer < 4; ++buffer) {
    a.add(buffer, buffer);
    b.add(buffer, buffer);
  }
  CHECK(same_bits(a.merged(), b.merged()));
}

TEST_CASE("Parameter::gradients adds no gradient unless something is written") {
  ParameterCollection pc;
  auto p = pc.add_parameters({3}, "p"), q = pc.add_parameters({3}, "q");
  GradientBuffers& all = pc.bank().gradients;
  CHECK(as_vector(p.gradients()) == Floats{0, 0, 0});
  CHECK(all.merge() == nullptr);
  plant(q, {1, 2, 3});
  CHECK(as_vector(p.gradients()) == Floats{0, 0, 0});
  CHECK(all.merge()->find(p.stored().index) == nullptr);
  const ParameterView view = p.gradients();
  view.v[1] = 5;
  CHECK(pc.gradient_l2_norm() == Approx(std::sqrt(14.0 + 25)));
  CHECK(as_vector(p.gradients()) == Floats{0, 5, 0});
  plant(p, {1, 1, 1});  // a backward pass adds to what was written
  CHECK(as_vector(p.gradients()) == Floats{1, 6, 1});
  // Not a number is something.
  pc.reset_gradient();
  p.gradients()->v[2] = kNaN;
  CHECK(std::isnan(pc.gradient_l2_norm()));
  REQUIRE(all.merge());
  CHECK(std::isnan(all.merge()->find(p.stored().index)[2]));
  // Written gradients are reset with all gradients.
  pc.reset_gradient();
  CHECK(all.merge() == nullptr);
  CHECK(as_vector(p.gradients()) == Floats{0, 0, 0});
  p.gradients()->v[0] = 1;
  forget_gradients(pc.bank(), [&](const ParameterStorageBase& s) { return &s == &p.stored(); });
  CHECK(all.merge() == nullptr);
  CHECK(as_vector(p.gradients()) == Floats{0, 0, 0});
}

TEST_CASE("writes through a view count, in one buffer or many, whatever comes after") {
  for (const unsigned buffers : {1u, 2u, 4u})
    for (const bool later : {false, true}) {
      CAPTURE(buffers, later);
      Lanes a, b;
      for (unsigned buffer = 0; buffer < buffers; ++buffer)
        for (Lanes* m : {&a, &b}) m->add(buffer, 10 * buffer);
      Floats expected = as_vector(a.p.gradients());
      const ParameterView view = b.p.gradients();
      view.v[3] = 7;
      view.v[4] *= 2;
      expected[3] = 7;
      expected[4] *= 2;
      CHECK(as_vector(b.p.gradients()) == expected);
      b.p.gradients()->v[5] = -1;  // a second view knows of the first
      expected[5] = -1;
      CHECK(as_vector(b.p.gradients()) == expected);
      b.q.gradients()->v[0] = 2;  // which no buffer has
      if (later) {
        const Floats more = random(50, 77);
        add_to(b.all.numbered(0).use(b.p.stored().index, 50), more);
        for (std::size_t i = 0; i < 50; ++i) expected[i] += more[i];
      }
      const auto check = [&](const Floats& got) {
        REQUIRE(got.size() == 50);
        for (std::size_t i = 0; i < 50; ++i)
          CHECK(got[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-3));
      };
      check(as_vector(b.p.gradients()));
      CHECK(as_vector(b.q.gradients()) == Floats{2, 0});
      GradientBuffer* sum = b.all.merge();
      check({sum->find(b.p.stored().index), sum->find(b.p.stored().index) + 50});
      CHECK(sum->find(b.q.stored().index)[0] == 2);
      CHECK(b.all.merge() == sum);
      check(as_vector(b.p.gradients()));
      b.p.scale_gradient(2);
      for (float& x : expected) x *= 2;
      check(as_vector(b.p.gradients()));
      b.pc.reset_gradient();
      CHECK(b.all.merge() == nullptr);
      CHECK(as_vector(b.p.gradients()) == Floats(50, 0.0f));
    }
}

TEST_CASE("factors, decays and limits that cannot be are told and change nothing") {
  ParameterCollection pc(0.25f);
  auto sub = pc.add_subcollection("sub", 0.5f);
  auto p = pc.add_parameters({2}, ParameterInitConst(1.0f), "p");
  auto e = pc.add_lookup_parameters(2, {1}, ParameterInitConst(1.0f), "e");
  plant(p, {1, 2});
  plant_row(e, 1, {3});
  const auto check = [&](const std::function<void()>& f, const std::vector<std::string>& parts) {
    const std::string message = message_of<ArgumentError>(f);
    for (const std::string& part : parts) CHECK_THAT(message, Catch::Contains(part));
  };
  for (const float bad : {kNaN, kInf, -kInf}) {
    const std::string got = "got " + std::to_string(bad);
    check([&] { p.scale(bad); }, {"scale: the factor must be finite", got, "/p"});
    check([&] { e.scale(bad); }, {"scale: the factor must be finite", got, "/e"});
    check([&] { p.scale_gradient(bad); }, {"scale_gradient: the factor must be finite", got, "/p"});
    check([&] { e.scale_gradient(bad); }, {"scale_gradient: the factor must be finite", got, "/e"});
    check([&] { pc.set_weight_decay_lambda(bad); }, {"weight_decay_lambda must be", got});
    check([&] { sub.set_weight_decay_lambda(bad); }, {"weight_decay_lambda must be", got});
    check([&] { pc.add_subcollection("x", bad); }, {"weight_decay_lambda must be", got});
    check([&] { ParameterCollection{bad}; }, {"weight_decay_lambda must be", got});
    check([&] { ParameterInitNormal{bad}; }, {"ParameterInitNormal", "mean", got});
    check([&] { ParameterInitNormal(0, bad); }, {"ParameterInitNormal", "variance", got});
    check([&] { ParameterInitUniform{bad}; }, {"ParameterInitUniform", "finite interval"});
    check([&] { ParameterInitUniform(bad, 1); }, {"ParameterInitUniform", got});
    check([&] { ParameterInitUniform(0, bad); }, {"ParameterInitUniform", std::to_string(bad)});
    check([&] { ParameterInitConst{bad}; }, {"ParameterInitConst", got});
    check([&] { ParameterInitGlorot(false, bad); }, {"ParameterInitGlorot", "gain", got});
    check([&] { ParameterInitHe{bad}; }, {"ParameterInitHe", "gain", got});
    check([&] { ParameterInitSaxe{bad}; }, {"ParameterInitSaxe", "gain", got});
    check([&] { ParameterInitTruncatedNormal{bad}; }, {"ParameterInitTruncatedNormal", got});
    check([&] { ParameterInitTruncatedNormal(0, bad); }, {"ParameterInitTruncatedNormal", got});
    check([&] { pc.add_parameters({2}, bad); }, {"ParameterInitUniform"});
  }
  check([&] { ParameterInitTruncatedNormal(0, 1, kNaN); }, {"cutoff", "got nan"});
  check([&] { pc.set_weight_decay_lambda(-0.5f); }, {"at least 0 and below 1", "got -0.5"});
  check([&] { ParameterCollection{-1.0f}; }, {"at least 0 and below 1", "got -1"});
  check([&] { p.clip_inplace(kNaN, 1); }, {"clip_inplace: needs left <= right, got nan", "/p"});
  check([&] { p.clip_inplace(2, 1); }, {"clip_inplace: needs left <= right, got 2", "/p"});
  CHECK(as_vector(p.values()) == Floats{1, 1});
  CHECK(table_values(e) == Floats{1, 1});
  CHECK(as_vector(p.gradients()) == Floats{1, 2});
  CHECK(e.row_gradient(1) == Floats{3});
  CHECK(pc.get_weight_decay_lambda() == 0.25f);
  CHECK(sub.get_weight_decay_lambda() == 0.5f);
  CHECK(pc.size() == 2);
  sub.set_weight_decay_lambda(-1);  // that of the collection around it
  CHECK(sub.get_weight_decay_lambda() == 0.25f);
}

}  // namespace views_test
