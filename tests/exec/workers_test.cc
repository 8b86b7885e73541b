// What several threads may write of one graph, and what not: told by how many nodes a kernel gets.

#include <algorithm>
#include <mutex>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/ops/form.h"
#include "tests/support/catch.h"

namespace dynet::workers_test {
namespace {

std::mutex mutex;
std::vector<std::size_t> backward_counts;  // nodes of each call since the last look

template <class T>
void product_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t j = 0; j < b.dim().size(); ++j) b.out(i)[j] = b.in(0, i)[j] * b.in(1, i)[j];
}

template <class T>
void product_backward(const GradientBatch<T>& b) {
  {
    const std::lock_guard lock(mutex);
    backward_counts.push_back(b.count);
  }
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < b.count; ++i) {
      T* const d = b.d_in(k, i);
      for (std::size_t j = 0; d && j < b.dim().size(); ++j) {
        const T g = b.d_out(i)[j] * b.in(1 - k, i)[j];
        d[j] = b.add(k, i) ? d[j] + g : g;
      }
    }
}

const OpForm kProduct{.name = "product",
                      .kind = Kind::compute,
                      .shape = [](const Operands& x) { return x[0]; },
                      .batch = BatchRule::each(),
                      .reads = Reads::inputs,
                      .aux = no_aux,
                      .passes_gradient = true,
                      .forward = DYNET_FORWARD(product_forward),
                      .backward = DYNET_BACKWARD(product_backward),
                      .cuda = CudaRule::never("a test")};

constexpr unsigned kNodes = 200, kSize = 256;

/// The largest number of nodes in one call of the backward kernel.
template <class Build>
std::size_t most_at_once(Workers& workers, Build build) {
  ComputationGraph g;
  g.set_workers(&workers);
  std::vector<Expression> losses;
  for (unsigned k = 0; k < kNodes; ++k) losses.push_back(sum_elems(build(g, k)));
  backward_counts.clear();
  g.backward(sum(losses));
  std::size_t all = 0, most = 0;
  for (const std::size_t n : backward_counts) {
    all += n;
    most = std::max(most, n);
  }
  CHECK(all == kNodes);
  return most;
}

Expression product(const Expression& x, const Expression& y) {
  return add_node(kProduct, x, y, {}, SourceLocation::current());
}

}  // namespace

TEST_CASE("there are as many workers as were asked for") {
  for (const unsigned threads : {1u, 2u, 4u}) CHECK(Workers(threads).threads() == threads);
}

TEST_CASE("gradients of a parameter's expression are written by one thread") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(kNodes, {kSize});
  auto p = pc.add_parameters({kSize});
  Workers workers(2);
  const auto rows = [&](ComputationGraph& g, unsigned k) {
    const Expression x = lookup(g, table, k);
    return product(x, x);
  };
  CHECK(most_at_once(workers, rows) < kNodes);  // else this test says nothing
  Expression shared;
  const auto with_parameter = [&](ComputationGraph& g, unsigned k) {
    if (k == 0) shared = parameter(g, p);
    return product(lookup(g, table, k), shared);
  };
  CHECK(most_at_once(workers, with_parameter) == kNodes);
}

TEST_CASE("workers give matrices that are computed the gradients of all their products") {
  const auto run = [](Workers* workers) {
    ParameterCollection pc;
    auto table = pc.add_lookup_parameters(64, {32, 32});
    ComputationGraph g;
    g.set_workers(workers);
    std::vector<Expression> matrices, losses;
    for (unsigned k = 0; k < 64; ++k) matrices.push_back(tanh(lookup(g, table, k)));
    for (const Expression& w : matrices)
      for (unsigned i = 0; i < 3; ++i)
        losses.push_back(
            squared_norm(w * input(g, {32}, std::vector<float>(32, static_cast<float>(i) - 0.5f))));
    g.backward(sum(losses));
    std::vector<std::vector<float>> all;
    for (unsigned k = 0; k < 64; ++k) all.push_back(table.row_gradient(k));
    return all;
  };
  const auto expected = run(nullptr);
  CHECK(expected[5] != std::vector<float>(32 * 32, 0.0f));
  for (const unsigned threads : {2u, 4u}) {
    Workers workers(threads);
    CHECK(run(&workers) == expected);
  }
}

TEST_CASE("workers run every node, whichever graph made them") {
  const auto run = [](Workers* workers) {
    ParameterCollection pc;
    auto table = pc.add_lookup_parameters(300, {64});
    ComputationGraph g;
    g.set_workers(workers);
    std::vector<Expression> chains, losses;
    for (unsigned k = 0; k < 300; ++k) {
      Expression h = lookup(g, table, k);
      for (unsigned i = 0; i < 1 + k % 4; ++i) h = tanh(h + max(h, h * 0.5f));
      chains.push_back(h);
    }
    for (unsigned k = 0; k + 1 < 300; ++k) losses.push_back(dot_product(chains[k], chains[k + 1]));
    const Expression loss = sum(losses);
    std::vector<std::vector<float>> all{as_vector(loss.value())};
    for (const Expression& h : chains) all.push_back(as_vector(h.value()));
    g.backward(loss);
    for (unsigned k = 0; k < 300; ++k) all.push_back(table.row_gradient(k));
    return all;
  };
  const auto expected = run(nullptr);
  for (const unsigned threads : {2u, 3u}) {
    Workers workers(threads);
    CHECK(run(&workers) == expected);
  }
}

TEST_CASE("workers share out the gradient of a large matrix, and every element once") {
  const auto run = [](Workers* workers) {
    ParameterCollection pc;
    auto w = pc.add_parameters({64, 64}), v = pc.add_parameters({64});
    ComputationGraph g;
    g.set_workers(workers);
    const Expression W = parameter(g, w), x = parameter(g, v);
    std::vector<Expression> losses;
    for (unsigned k = 0; k < 150; ++k)
      losses.push_back(squared_norm(tanh(W * (x * (0.01f * static_cast<float>(k))))));
    g.backward(sum(losses));
    return as_vector(w.gradients());
  };
  const auto expected = run(nullptr);
  CHECK(*std::max_element(expected.begin(), expected.end()) > 0);
  for (const unsigned threads : {2u, 3u}) {
    Workers workers(threads);
    CHECK(run(&workers) == expected);
  }
}

}  // namespace dynet::workers_test
