#pragma once

// Comparisons of a device with the CPU.

#include "tests/cuda/device.h"
#include "tests/support/op_case.h"

namespace dynet::test {

inline void check_near(const Floats& a, const Floats& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  CHECK(largest_difference(a.data(), b.data(), a.size()) <= tolerance);
}

/// Lists of numbers of the CPU, and those that a device has in their place.
inline void check_equal(const std::vector<Floats>& host, const std::vector<Floats>& device,
                        double epsilon = 2e-5, double margin = 2e-6) {
  REQUIRE(host.size() == device.size());
  for (std::size_t k = 0; k < host.size(); ++k) {
    REQUIRE(host[k].size() == device[k].size());
    for (std::size_t i = 0; i < host[k].size(); ++i) {
      CAPTURE(k, i);
      if (std::isfinite(host[k][i]))
        CHECK(device[k][i] == Approx(host[k][i]).epsilon(epsilon).margin(margin));
      else
        CHECK_FALSE(std::isfinite(device[k][i]));
    }
  }
}

/// f(on_device) has the same numbers on both.
template <class F>
void check_both(double tolerance, F f) {
  const Floats host = f(false);
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
template <class Net, class... Options>
std::vector<Floats> run(const Make<Net>& make, Device* device, bool full, bool batched,
                        Options... options) {
  ParameterCollection pc;
  pc.set_seed(3);
  DeviceGraph g(device, batched);
  const std::vector<Expression> outs = make(Net(g, pc, options...));
  std::vector<Expression> squares;
  for (const Expression& e : outs) squares.push_back(sum_batches(squared_norm(e)));
  g.backward(sum(squares), full);
  std::vector<Floats> all = {all_gradients(pc)};
  for (const Expression& e : outs) all.push_back(values(e));
  for (const Expression& e : outs) all.push_back(gradient(e));
  return all;
}

/// The outputs of a kind of networks by name.
template <class Net>
using NetCases = std::vector<std::pair<std::string, Make<Net>>>;

/// The device has the CPU's results in every kind of plan.
template <class Net, class... Options>
void check_nets(const NetCases<Net>& cases, Options... options) {
  for (const auto& [name, make] : cases)
    for (const bool batched : {false, true})
      for (const bool full : {false, true}) {
        CAPTURE(name, batched, full);
        check_equal(run(make, nullptr, full, batched, options...),
                    run(make, gpu(), full, batched, options...));
      }
}

#ifndef DYNET_TEST_GPU
/// Numbers of kernels and products, in a forward pass, then in a backward pass.
using Counts = std::vector<std::size_t>;

template <class Net, class... Options>
Counts count(const Make<Net>& make, Options... options) {
  ParameterCollection pc;
  DeviceGraph g;
  const Net net(g, pc, options...);
  std::vector<Expression> sums;
  for (const Expression& e : make(net)) sums.push_back(sum_elems(e));
  const Expression loss = sum(sums);
  const auto& now = emulation::counts();
  const std::size_t k0 = now.launches, p0 = now.products;
  g.incremental_forward(loss);
  const std::size_t k1 = now.launches, p1 = now.products;
  g.backward(loss);
  return {k1 - k0, p1 - p0, now.launches - k1, now.products - p1};
}

/// Those of the larger graph beyond those of the smaller one.
template <class Net, class... Options>
Counts more(const Make<Net>& large, const Make<Net>& small, Options... options) {
  Counts all = count(large, options...);
  const Counts less = count(small, options...);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] -= less[k];
  return all;
}
#endif

}  // namespace dynet::test
