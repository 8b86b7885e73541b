// Graphs on several devices. All devices are the CPU; transfers and placement are those of GPUs.

#include "dynet-like/param/storage.h"
#include "dynet-like/plan/cache.h"
#include "tests/support/op_case.h"
#include "tests/support/prelude.h"
#include "tests/support/split_model.h"

namespace places_test {

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr DeviceDescription kSecondDevice{1, DeviceType::CPU, "CPU:1"};
constexpr DeviceDescription kThirdDevice{2, DeviceType::CPU, "CPU:2"};
Device* const kFirst = default_device;
Device* const kSecond = &kSecondDevice;
Device* const kThird = &kThirdDevice;

void check_near(const Floats& a, const Floats& b, double tolerance = 1e-5) {
  REQUIRE(a.size() == b.size());
  CHECK(largest_difference(a.data(), b.data(), a.size()) <= tolerance);
}

void check_same(const SplitOutcome& a, const SplitOutcome& b) {
  check_near(a.losses, b.losses);
  check_near(a.of_words, b.of_words);
  check_near(a.parameters, b.parameters);
}

}  // namespace

TEST_CASE("a node is on the device of its operands, a source on the device of its argument") {
  ParameterCollection pc;
  const Parameter here = pc.add_parameters({3}), there = pc.add_parameters({3}, "there", kSecond);
  const LookupParameter table = pc.add_lookup_parameters(4, {3}, "table", kThird);
  for (Device* own : {kFirst, kSecond}) {
    ComputationGraph g;
    g.set_device(own);
    const auto name = [](const Expression& e) { return e.get_device_name(); };
    CHECK(name(input(g, 1.0f)) == own->name);
    CHECK(name(input(g, 1.0f, kThird)) == "CPU:2");
    const float number = 3;
    const Floats numbers = {1, 2};
    CHECK(name(input(g, &number, kThird)) == "CPU:2");
    CHECK(name(input(g, {2}, &numbers, kThird)) == "CPU:2");
    for (const Expression& e : {zeros(g, {2}, kSecond), zeroes(g, {2}, kSecond),
                                ones(g, {2}, kSecond), constant(g, {2}, 4, kSecond)})
      CHECK(name(e) == "CPU:1");
    CHECK(name(one_hot(g, 3, 1, kSecond)) == "CPU:1");
    CHECK(name(input(g, {2}, {1, 2}, kFirst)) == "CPU");
    CHECK(name(input(g, {3}, {1}, Floats{2}, 0.0f, kThird)) == "CPU:2");
    CHECK(name(random_normal(g, {2}, 0, 1, kSecond)) == "CPU:1");
    CHECK(name(parameter(g, here)) == own->name);
    CHECK(name(const_parameter(g, there)) == "CPU:1");
    CHECK(name(parameter(g, table)) == "CPU:2");
    const Expression x = parameter(g, there), row = lookup(g, table, 1u);
    CHECK(name(tanh(x) + 1.0f) == "CPU:1");
    CHECK(name(concatenate({row, row, row})) == "CPU:2");
    CHECK(name(nobackprop(to_device(x, kThird) + row)) == "CPU:2");
    CHECK(name(to_device(to_device(x, kThird), kSecond)) == "CPU:1");
    g.clear();
    CHECK(name(input(g, 1.0f)) == own->name);
    CHECK_THROWS_AS(x.get_device_name(), StaleExpressionError);
  }
  ComputationGraph g;
  CHECK(input(g, 1.0f).get_device_name() == "CPU");
}

TEST_CASE("parameters inherit the device of their collection") {
  ParameterCollection pc;
  ParameterCollection a = pc.add_subcollection("a"), b = a.add_subcollection("b");
  const Parameter first = pc.add_parameters({1}), below = b.add_parameters({1});
  const LookupParameter named = b.add_lookup_parameters(2, {1}, "named", kThird);
  const auto device = [](const ParameterHandle& p) { return p.stored().device; };
  CHECK(device(first) == nullptr);
  CHECK(device(named) == kThird);
  a.set_device(kSecond);
  CHECK(device(first) == nullptr);
  CHECK(device(below) == kSecond);
  CHECK(device(named) == kSecond);
  CHECK(device(b.add_parameters({1})) == kSecond);
  CHECK(device(a.add_subcollection("c").add_parameters({1})) == kSecond);
  CHECK(device(b.add_parameters({1}, "other", kFirst)) == kFirst);
  CHECK(device(pc.add_parameters({1})) == nullptr);
  b.set_device(kThird);
  CHECK(device(below) == kThird);
  CHECK(device(a.add_parameters({1})) == kSecond);
  pc.set_device(nullptr);
  for (const Parameter& p : pc.parameters_list()) CHECK(device(p) == nullptr);
  CHECK(device(b.add_parameters({1})) == nullptr);
}

TEST_CASE("operands on different devices throw DeviceError at the line of the operation") {
  ParameterCollection pc;
  const Parameter p = pc.add_parameters({2, 3}, "W", kSecond);
  ComputationGraph g;
  const Expression x = input(g, {3}, {1, 2, 3}), w = parameter(g, p);
  const std::size_t size = g.size();
  const std::string product = message<DeviceError>([&] { w* x; });
  for (const char* part :
       {"to_device", "{2,3}", "parameter \"/W\"", "on CPU:1", "{3}", "on CPU,", "places_test.cc"})
    CHECK_THAT(product, Catch::Contains(part));
  const std::string list = message<DeviceError>([&] {
    affine_transform({input(g, {2}, {1, 2}, kSecond), w, x});
  });
  CHECK_THAT(list, Catch::Contains("affine_transform: the operands are on different devices"));
  // A composite operation fails before its first node is made.
  const Expression y = input(g, {3}, {1, 2, 3}, kSecond);
  const std::size_t before = g.size();
  CHECK_THAT(message<DeviceError>([&] {
               contract3d_1d(zeros(g, {2, 2, 3}, kFirst), y);
             }),
             Catch::Contains("different devices"));
  CHECK(g.size() == before + 1);  // the zeros
  CHECK(before == size + 2);
  CHECK_THROWS_AS(to_device(x, nullptr), ArgumentError);
  static constexpr DeviceDescription kMissing{99, DeviceType::GPU, "GPU:99"};
  const std::string missing = message<DeviceError>([&] { to_device(x, &kMissing); });
  CHECK_THAT(missing, Catch::Contains("to_device: GPU:99: there is no such device\n  at "));
  CHECK_THAT(message<DeviceError>([&] { zeros(g, {1}, &kMissing); }),
             Catch::Contains("zeros: GPU:99"));
  CHECK_THROWS_AS(ComputationGraph().set_device(&kMissing), DeviceError);
  CHECK(g.size() == before + 1);
  CHECK(as_vector((w * to_device(x, kSecond)).value()).size() == 2);
}

TEST_CASE("to_device to the device of the operand is the operand") {
  ComputationGraph g;
  const Expression x = input(g, {3}, {1, 2, 3}), same = to_device(x, kFirst);
  const Expression other = to_device(x, kSecond), back = to_device(other, kFirst);
  CHECK(same.value().v == x.value().v);
  CHECK(other.value().v != x.value().v);
  CHECK(back.value().v != x.value().v);
  CHECK(as_vector(back.value()) == Floats{1, 2, 3});
}

TEST_CASE("a graph on several devices has the values, gradients and training of one device") {
  const SplitOutcome expected = train({});
  check_same(expected, train({kFirst, kFirst, kFirst}));
  for (const SplitModel::Devices& at :
       {SplitModel::Devices{kFirst, kSecond, kFirst}, SplitModel::Devices{kSecond, kFirst, kThird},
        SplitModel::Devices{kSecond, kSecond, kSecond}})
    for (Device* own : {kFirst, kThird})
      for (const bool batched : {true, false}) check_same(expected, train(at, {own, batched}));
}

TEST_CASE("a graph on several devices has the values of one device in every mode") {
  SplitModel one({}), split({kFirst, kSecond, kThird});
  const auto loss = [](SplitModel& m, int mode, Floats* gradients) {
    ComputationGraph g(mode != 4);
    g.set_seed(7);
    if (mode == 1) g.set_immediate_compute(true);
    if (mode == 2) g.set_inference(true);
    if (mode == 3) g.set_check_validity(true);
    std::vector<Expression> all;
    for (unsigned i = 0; i < 12; ++i) all.push_back(m.loss(g, i, true));
    const Expression sum_of_all = sum(all);
    const float value = as_scalar(sum_of_all.value());
    if (mode != 2) {
      g.backward(sum_of_all, mode == 5);
      for (const Expression& x : m.words_read)
        for (const float v : as_vector(x.gradient())) gradients->push_back(v);
      m.pc.reset_gradient();
    }
    return value;
  };
  for (int mode = 0; mode < 6; ++mode) {
    INFO("mode " << mode);
    Floats expected, got;
    CHECK(loss(split, mode, &got) == Approx(loss(one, mode, &expected)).epsilon(1e-5));
    check_near(expected, got);
  }
}

TEST_CASE("nodes are batched per device") {
  ComputationGraph g;
  std::vector<Expression> all;
  for (unsigned i = 0; i < 12; ++i) {
    const Expression x = input(g, {4}, Floats(4, 0.1f * static_cast<float>(i)));
    all.push_back(to_device(tanh(i % 3 ? to_device(x, i % 3 == 1 ? kSecond : kThird) : x), kFirst));
  }
  sum(all).value();
  CHECK(g.statistics().batches == 1 + 3 + 1);  // input, tanh at each of three, sum
}

TEST_CASE("revert removes transfers and their devices") {
  ParameterCollection pc;
  const Parameter p = pc.add_parameters({3});
  p.values();
  ComputationGraph g;
  const Expression x = tanh(parameter(g, p)), moved = to_device(x, kSecond);
  const Floats before = as_vector(moved.value());
  const std::size_t bytes = g.statistics().value_bytes;
  g.checkpoint();
  for (Device* there : {kThird, kSecond, kThird}) {
    const Expression y = to_device(square(moved), there), z = to_device(y, kFirst) + x;
    CHECK(as_vector(z.value())[0] == Approx(before[0] * before[0] + before[0]));
    g.revert();
    CHECK(z.is_stale());
    CHECK(g.statistics().value_bytes == bytes);
    CHECK(as_vector(moved.value()) == before);
    g.checkpoint();
  }
  g.backward(sum_elems(moved));
  for (unsigned i = 0; i < 3; ++i) CHECK(as_vector(x.gradient())[i] == 1);
  // A cleared graph has one device.
  g.clear();
  CHECK(g.store().devices.size() == 1);
}

TEST_CASE("gradients of several copies of a value add up") {
  ParameterCollection pc;
  const Parameter p = pc.add_parameters({2});
  p.values();
  const_cast<Parameter&>(p).set_value({2, 3});
  ComputationGraph g;
  const Expression x = parameter(g, p) * 1.0f, a = to_device(x, kSecond), b = to_device(x, kSecond),
                   c = to_device(x, kThird);
  const Expression loss =
      sum({to_device(dot_product(a, b), kFirst), to_device(sum_elems(c), kFirst), sum_elems(x)});
  CHECK(as_scalar(loss.value()) == 13 + 5 + 5);
  g.backward(loss);
  CHECK(as_vector(x.gradient()) == Floats{2 * 2 + 2, 2 * 3 + 2});
  CHECK(as_vector(a.gradient()) == Floats{2, 3});
}

TEST_CASE("the plan cache distinguishes devices") {
  PlanCache cache;
  PlanMaker planner(PlanPolicy::in_batches);
  for (unsigned round = 0; round < 4; ++round)
    for (Device* there : {kFirst, kSecond}) {
      ComputationGraph g;
      Expression x = input(g, {4}, {1, 2, 3, 4}, there);
      for (unsigned k = 0; k < 10; ++k) x = square(x) + 0.1f;
      input(g, 1.0f, there == kFirst ? kSecond : kFirst);
      const Plan& plan = cache.plan(g.store(), 0, static_cast<NodeId>(g.size()), planner);
      const std::size_t at = there == kSecond;
      CHECK(plan.extent_of(at) > 40);
      CHECK(plan.extent_of(1 - at) < 20);
    }
  CHECK(cache.plans() == 2);
  CHECK(cache.hits() == 4);
}

TEST_CASE("a plan has a block of memory for each device") {
  ComputationGraph g;
  constexpr unsigned kLarge = 1 << 18;
  Expression x = zeros(g, {kLarge});
  for (unsigned k = 0; k < 10; ++k) x = to_device(square(x), k % 2 ? kFirst : kSecond);
  for (const PlanPolicy policy : {PlanPolicy::in_batches, PlanPolicy::in_order}) {
    Plan plan;
    PlanMaker(policy).make(g.store(), 0, static_cast<NodeId>(g.size()), plan);
    CHECK(plan.block_offsets.size() == 2);
    CHECK(plan.extent_of(0) >= 10 * kLarge);
    CHECK(plan.extent_of(1) >= 10 * kLarge);
  }
}

TEST_CASE("check_gradients computes graphs on several devices in double") {
  SplitModel m({kFirst, kSecond, kThird});
  ComputationGraph g;
  g.set_seed(1);
  const Expression loss = to_device(m.loss(g, 2, true), kFirst);
  const GradientReport report = check_gradients(loss);
  CHECK(report.elements > 100);
  CHECK(report.ok());
}

}  // namespace places_test
