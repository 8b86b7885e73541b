#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

using Build = std::function<Expression(const Operand&)>;

OpCase identity(const std::string& name, const Build& build) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) { return std::vector{s.any(4)}; };
  c.build = build;
  c.reference = [](const Arrays& x) { return x[0]; };
  return c;
}

OpCase largest(GradientMode mode, unsigned d) {
  OpCase c;
  c.name = "argmax along " + std::to_string(d);
  c.shapes = [d](Shapes& s) { return std::vector{with_dimension(s, d)}; };
  c.build = [mode, d](const Operand& x) { return argmax(x[0], mode, d); };
  c.reference = [d](const Arrays& x) {
    return fill(x[0].dim, [&](Place p) {
      const unsigned here = p[d];
      const double value = x[0].at(p);
      for (p[d] = 0; p[d] < x[0].dim[d]; ++p[d])
        if (p[d] != here && x[0].at(p) >= value) return 0.0;
      return 1.0;
    });
  };
  c.distinct = true;
  if (mode == straight_through_gradient)
    c.gradient_tolerance = std::numeric_limits<double>::infinity();  // not what differences measure
  return c;
}

}  // namespace

std::vector<OpCase> flow_cases() {
  std::vector<OpCase> all;
  // By definition their slope is not what differences measure: the gradient has a test of its own.
  all.push_back(identity("flip_gradient", [](const Operand& x) { return flip_gradient(x[0]); }));
  all.push_back(
      identity("scale_gradient", [](const Operand& x) { return scale_gradient(x[0], 0.5f); }));
  for (OpCase& c : all) c.gradient_tolerance = std::numeric_limits<double>::infinity();
  all.push_back(
      identity("scale_gradient by one", [](const Operand& x) { return scale_gradient(x[0]); }));
  all.push_back(
      identity("to_device", [](const Operand& x) { return to_device(x[0], default_device); }));
  all.push_back(identity("to_device and back", [](const Operand& x) {
    static constexpr DeviceDescription kOther{1, DeviceType::CPU, "CPU:1"};
    return to_device(to_device(x[0], &kOther), default_device);
  }));
  for (unsigned d : {0u, 1u, 2u})
    for (GradientMode mode : {zero_gradient, straight_through_gradient})
      all.push_back(largest(mode, d));
  return all;
}

DYNET_OP_TESTS("flow", flow_cases())

TEST_CASE("flow: gradients on their way") {
  using V = std::vector<float>;
  ParameterCollection model;
  Parameter p = model.add_parameters({3}, ParameterInitFromVector({3, 5, 5}));
  const auto gradient = [&](const std::function<Expression(const Expression&)>& f) {
    ComputationGraph g;
    const Expression weights = input(g, {3}, {1, 2, 3});
    model.reset_gradient();
    g.backward(sum_elems(cmult(f(parameter(g, p)), weights)));
    return as_vector(p.gradients());
  };
  CHECK(gradient(OF_X(x)) == V{1, 2, 3});
  CHECK(gradient(OF_X(flip_gradient(x))) == V{-1, -2, -3});
  CHECK(gradient(OF_X(scale_gradient(x, 2.0f))) == V{2, 4, 6});
  CHECK(gradient(OF_X(scale_gradient(x, 0.0f))) == V{0, 0, 0});
  CHECK(gradient(OF_X(scale_gradient(x, 2.0f) + x)) == V{3, 6, 9});
  CHECK(gradient(OF_X(flip_gradient(flip_gradient(x)))) == V{1, 2, 3});
  CHECK(gradient(OF_X(to_device(x, default_device))) == V{1, 2, 3});
  CHECK(gradient(OF_X(argmax(x, straight_through_gradient))) == V{1, 2, 3});
  CHECK(gradient(OF_X(argmax(x, zero_gradient))) == V{0, 0, 0});
  CHECK(gradient(OF_X(argmax(x, zero_gradient) + x)) == V{1, 2, 3});
}

TEST_CASE("flow: the first of several largest") {
  ComputationGraph g;
  const Expression x = input(g, Dim({3}, 2), {3, 5, 5, -1, -1, -2});
  CHECK(as_vector(argmax(x, zero_gradient).value()) == std::vector<float>{0, 1, 0, 1, 0, 0});
}

TEST_CASE("flow: the devices there are") {
  const DeviceManager* devices = get_device_manager();
  CHECK(devices->num_devices() == 1);
  CHECK(devices->get(0) == default_device);
  CHECK(devices->get_global_device("CPU") == default_device);
  CHECK(default_device->name == "CPU");
  CHECK(default_device->type == DeviceType::CPU);
  CHECK_THROWS_AS(devices->get(1), IndexError);
  try {
    devices->get_global_device("GPU:0");
    FAIL("there is no such device");
  } catch (const DeviceError& e) {
    CHECK(std::string(e.what()).find("no device \"GPU:0\", there is: CPU") != std::string::npos);
    CHECK(e.where().line > 0);
  }
}

}  // namespace dynet::test
