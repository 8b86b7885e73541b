#pragma once

// Comparisons of a device with the CPU.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/cuda/device.h"
#include "tests/support/catch.h"
#include "tests/support/op_case.h"

namespace dynet::test {

/// The largest difference.
inline double check_near(const std::vector<float>& a, const std::vector<float>& b,
                         double tolerance) {
  REQUIRE(a.size() == b.size());
  const double d = largest_difference(a.data(), b.data(), a.size());
  CHECK(d <= tolerance);
  return d;
}

/// Lists of numbers of the CPU, and those that a device has in their place.
inline void check_equal(const std::vector<std::vector<float>>& host,
                        const std::vector<std::vector<float>>& device) {
  REQUIRE(host.size() == device.size());
  for (std::size_t k = 0; k < host.size(); ++k) {
    REQUIRE(host[k].size() == device[k].size());
    for (std::size_t i = 0; i < host[k].size(); ++i) {
      CAPTURE(k, i);
      CHECK(device[k][i] == Approx(host[k][i]).epsilon(2e-5).margin(2e-6));
    }
  }
}

/// f(on_device) has the same numbers on both.
template <class F>
void check_both(double tolerance, F f) {
  const std::vector<float> host = f(false);
  check_near(host, f(true), tolerance);
}

/// f(i) for all i below n.
template <class F>
std::vector<Expression> each(unsigned n, F f) {
  std::vector<Expression> all;
  for (unsigned i = 0; i < n; ++i) all.push_back(f(i));
  return all;
}

/// The outputs of a network in a graph.
template <class Net>
using Make = std::function<std::vector<Expression>(const Net&)>;

/// Values and gradients, of parameters and of what is put out.
template <class Net>
std::vector<std::vector<float>> run(const Make<Net>& make, Device* device, bool full,
                                    bool batched) {
  ParameterCollection pc;
  pc.set_seed(3);
  DeviceGraph g(device, batched);
  const std::vector<Expression> outs = make(Net(g, pc));
  std::vector<Expression> squares;
  for (const Expression& e : outs) squares.push_back(sum_batches(squared_norm(e)));
  g.backward(sum(squares), full);
  std::vector<std::vector<float>> all = {all_gradients(pc)};
  for (const Expression& e : outs) all.push_back(as_vector(e.value()));
  for (const Expression& e : outs) all.push_back(as_vector(e.gradient()));
  return all;
}

template <class Net>
struct NetCase {
  std::string name;
  Make<Net> make;
};

/// The device has the CPU's results in every kind of plan.
template <class Net>
void check_nets(const std::vector<NetCase<Net>>& cases) {
  for (const NetCase<Net>& c : cases)
    for (const bool batched : {false, true})
      for (const bool full : {false, true}) {
        CAPTURE(c.name, batched, full);
        check_equal(run(c.make, nullptr, full, batched), run(c.make, gpu(), full, batched));
      }
}

}  // namespace dynet::test
