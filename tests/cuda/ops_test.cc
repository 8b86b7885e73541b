// Every operation on the device against the CPU. Without a GPU the device is an emulation
// that runs the same kernels.

#include "dynet-like/graph/device_backend.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/run/executor.h"
#include "tests/ops/cases.h"
#include "tests/support/prelude.h"

using namespace dynet;
using namespace dynet::test;

namespace {

const char* why_not(const OpForm& form) {
  const CudaRule& rule = form.cuda.value;
  if (rule.why_not) return rule.why_not;
  const bool needed =
      form.kind == Kind::compute || (form.kind == Kind::alias && form.backward.value.f);
  return rule.kernels || !needed ? nullptr : "no kernels";
}

bool runs_on_device(const GraphStore& graph) {
  for (const Node& n : graph.nodes)
    if (why_not(*n.form)) return false;
  return true;
}

/// Values and gradients of all nodes.
struct Results {
  std::vector<Floats> values, gradients;
};

Results run(const GraphStore& graph, NodeId loss, PlanPolicy policy, Backend<float> backend) {
  Executor<float> e(graph, policy, std::move(backend));
  e.backward(loss, true);
  Results r;
  for (NodeId id = 0; id <= loss; ++id) {
    const std::size_t n = graph.nodes[id].dim.size();
    const float* v = e.backend(id).read(e.value(id), n);
    r.values.emplace_back(v, v + n);
    v = e.backend(id).read(e.gradient(id), n);
    r.gradients.emplace_back(v, v + n);
  }
  for (const auto& bank : graph.banks) bank->gradients.clear();
  return r;
}

/// One for all graphs of a test case: on a GPU it takes longer to make than most of them to run.
std::shared_ptr<DeviceBackend>& backend() {
  static std::shared_ptr<DeviceBackend> backend;
  return backend;
}
struct OneBackend {
  OneBackend() { backend() = cuda::kDevices.make_backend(0); }
  ~OneBackend() { backend().reset(); }  // with its memory
};

/// Whether it could be done, in batches and perhaps one by one.
bool compare(const OpCase& c, const Nodes& nodes, bool one_by_one) {
  const GraphStore& graph = nodes.graph.store();
  if (!runs_on_device(graph)) return false;
  const NodeId loss = nodes.loss.i;
  const Results expected = run(graph, loss, PlanPolicy::in_batches, {});
  for (const PlanPolicy policy : {PlanPolicy::in_batches, PlanPolicy::in_order}) {
    if (policy == PlanPolicy::in_order && !one_by_one) continue;
    const Results got = run(graph, loss, policy, Backend<float>(backend()));
    double values = 0, gradients = 0;
    for (NodeId id = 0; id <= loss; ++id) {
      const std::size_t n = expected.values[id].size();
      values = std::max(values,
                        largest_difference(expected.values[id].data(), got.values[id].data(), n));
      gradients = std::max(gradients, largest_difference(expected.gradients[id].data(),
                                                         got.gradients[id].data(), n));
    }
    INFO((policy == PlanPolicy::in_order ? "one by one" : "in batches"));
    CHECK(values <= 20 * c.float_tolerance);
    CHECK(gradients <= 60 * c.float_tolerance);
  }
  return true;
}

// An emulated device takes long: fewer draws of each kind of shapes.
#ifdef DYNET_TEST_GPU
constexpr unsigned kMostDraws = ~0u, kMostBorders = 8, kMostNans = 2;
#else
constexpr unsigned kMostDraws = 2, kMostBorders = 3, kMostNans = 1;
#endif

unsigned check(OpCase c, Draw draw, unsigned repeat) {
  c.draws = std::min(c.draws, kMostDraws);
  unsigned compared = 0;
  const bool one_by_one = draw == Draw::small || draw == Draw::extremes;
  for_nodes(c, draw, repeat, [&](const Nodes& n) { compared += compare(c, n, one_by_one); });
  return compared;
}
unsigned check_small(const OpCase& c) { return check(c, Draw::small, 1); }
unsigned check_borders(const OpCase& c) {
  return check(c, Draw::borders, std::min(c.draws, kMostBorders));
}
unsigned check_shared(const OpCase& c) { return check(c, Draw::shared, 1); }
unsigned check_extreme(const OpCase& c) { return check(c, Draw::extremes, 1); }

/// The first case whose name begins so, with operands of these shapes.
OpCase with_shapes(const std::vector<OpCase>& known, const char* name,
                   const std::vector<Dim>& dims) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const OpCase& c) { return c.name.starts_with(name); });
  INFO(name);
  REQUIRE(found != known.end());
  OpCase c = *found;
  c.shapes = [dims](Shapes&) { return dims; };
  return c;
}

}  // namespace

TEST_CASE("every operation has CUDA kernels, or says why not", "[cuda]") {
  for (const OpForm* form : all_ops()) {
    INFO(form->name.value);
    CHECK((!why_not(*form) || form->cuda.value.why_not));
  }
}

// Lines and sums so long that the threads of a block, or blocks, share them out; lines so many that
// each has a thread.
TEST_CASE("long operands on the device", "[cuda]") {
  const OneBackend one;
  const std::pair<const char*, std::vector<Dim>> cases[] = {
      {"x + y", {{5, 5000}, {5, 1}}},
      {"sum_elems", {{33000}}},
      {"max_dim, along 0", {{700, 2}}},
      {"max_dim, along 1", {{2100, 9}}},
      {"min_dim, along 0", {{40, 2}}},
      {"argmax along 0", {{700, 2}}},
      {"argmax along 0", {{33, 2}}},
      {"argmax along 1", {{2100, 9}}},
      {"cumsum, along 0", {{300, 2}}},
      {"cumsum, along 1", {{2100, 9}}},
      {"kmax_pooling along 0", {{600, 2}}},
      {"kmax_pooling along 1", {{3, 600}}},
      {"softmax along 1", {{2100, 9}}},
      {"transpose 1 0", {Dim({33, 65}, 2)}},
      {"transpose 1 0", {{16, 16}}},
      {"transpose 1 0", {{15, 40}}},
      {"transpose 0 2 1", {Dim({3, 20, 30}, 2)}},
      {"transpose 2 0 1", {Dim({7, 5, 40}, 2)}},
      {"transpose 3 1 2 0", {{20, 1, 1, 33}}},
      {"maxpooling2d same", {{70, 40, 2}}},
      {"x + y", {{700, 3}, {1, 3}}},
      {"x - y", {{3, 700}, {3}}},
      {"cmult", {Dim({2}, 300), Dim({2})}},
      {"max", {{600, 2}, {1, 2}}},
      {"logsumexp", {{600, 2}, {1, 2}}},
      {"sum_elems", {{3000}}},
      {"l2_norm", {{1000, 3}}},
      {"sum_batches", {Dim({5}, 600)}},
      {"mean_batches", {Dim({1}, 600)}},
      {"sum_dim, along 0", {{700, 3}}},
      {"sum_dim, along 1", {{3, 700}}},
      {"std_elems", {{3000}}},
      {"max_dim, along 1", {{3, 700}}},
      {"cumsum, along 0", {{700, 2}}},
      {"dot_product", {Dim({700}, 2), Dim({700})}},
      {"binary_log_loss", {{3}, Dim({3}, 300)}},
      {"softmax along 0", {Dim({1100, 2}, 2)}},
      {"softmax along 1", {{2, 700}}},
      {"log_softmax", {{1100, 2}}},
      {"logsumexp_dim along 0", {{1100, 2}}},
      {"constrained_softmax", {{600}, Dim({600}, 2)}},
      {"pickneglogsoftmax, ", {Dim({1100}, 2)}},
      {"hinge, ", {Dim({1100}, 2)}},
      {"hinge_dim, one list, along 0", {Dim({700, 2}, 2)}},
      {"layer_norm", {Dim({1100}, 2), {1100}, {1100}}},
      {"layer_norm", {Dim({3}), Dim({3}, 300), {3}}},
      {"vanilla_lstm_c", {Dim({3}), Dim({12}, 300)}},
      {"vanilla_lstm_h", {Dim({3}, 300), Dim({12})}},
  };
  const std::vector<OpCase> known = all_cases();
  for (const auto& [name, dims] : cases) {
    const OpCase c = with_shapes(known, name, dims);
    INFO(name);
    CHECK(check(c, Draw::borders, 3) == 3);
  }
}

TEST_CASE("images that do not fit into a temporary at once on the device (slow)", "[cuda]") {
  const OneBackend one;
  const std::vector<OpCase> known = convolution_cases();
  // One for all batch elements, or one each.
  for (const unsigned filters : {1u, 2u})
    CHECK(check(with_shapes(known, "conv2d same by 1,1",
                            {Dim({300, 300, 1}, 2), Dim({3, 2, 1, 2}, filters)}),
                Draw::borders, 1) == 1);
}

TEST_CASE("long lines of extreme values on the device", "[cuda]") {
  const OneBackend one;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  const std::vector<OpCase> known = all_cases();
  for (const char* name : {"max_dim, along 0", "min_dim, along 0", "argmax along 0",
                           "cumsum, along 0", "kmax_pooling along 0", "softmax along 0",
                           "log_softmax", "logsumexp_dim along 0", "sparsemax"})
    for (const unsigned length : {40u, 600u})
      for (const std::vector<double>& extremes :
           {std::vector{-kInfinity, 0.5}, {-kInfinity}, {kInfinity, -0.0, 0.0}, {kNoNumber, 1.0}}) {
        OpCase c = with_shapes(known, name, {Dim({length, 2})});
        c.extremes = extremes;
        c.draws = 1;
        INFO(name << " of " << length);
        CHECK(check(c, Draw::extremes, 1) > 0);
      }
}

// The rules of comparisons show: what is not a number, and targets of exactly 0 and 1.
TEST_CASE("operations handle NaN on the device as on the CPU", "[cuda]") {
  for (OpCase c : all_cases()) {
    // Nothing is promised of such scores; the CPU and devices find out in other sums.
    if (c.name.starts_with("dependency_")) continue;
    const OneBackend one;  // the emulation is slow with the memory of all of them
    c.draws = std::min(c.draws, kMostNans);
    c.extremes = {std::numeric_limits<double>::quiet_NaN(), 0.5};
    check(c, Draw::extremes, 1);
    if (c.name != "binary_log_loss") continue;
    c.extremes = {0, 1};
    CHECK(check(c, Draw::extremes, 1) > 0);
  }
}

#ifdef DYNET_TEST_GPU  // what there is time for under compute-sanitizer
unsigned check_once(const OpCase& c) {
  OpCase once = c;
  once.draws = 1;
  return check_small(once);
}
#define DYNET_ONCE_ON_DEVICE(FAMILY, CASES)           \
  TEST_CASE(FAMILY " once on the device", "[cuda]") { \
    const OneBackend one;                             \
    check_all(FAMILY ", once", CASES, check_once, 0); \
  }
#else
#define DYNET_ONCE_ON_DEVICE(FAMILY, CASES)
#endif
#define DYNET_ON_DEVICE(FAMILY, CASES)                                                 \
  DYNET_ONCE_ON_DEVICE(FAMILY, CASES)                                                  \
  TEST_CASE(FAMILY " on the device", "[cuda]") {                                       \
    const OneBackend one;                                                              \
    check_all(FAMILY ", small", CASES, check_small, 0);                                \
    check_all(FAMILY ", at the borders of warps and blocks", CASES, check_borders, 0); \
    check_all(FAMILY ", by many nodes", CASES, check_shared, 0);                       \
    check_all(FAMILY ", extreme values", CASES, check_extreme, 0);                     \
  }
DYNET_ON_DEVICE("inputs", input_cases())
DYNET_ON_DEVICE("elementwise", elementwise_cases())
DYNET_ON_DEVICE("broadcast", broadcast_cases())
DYNET_ON_DEVICE("matrix", matrix_cases())
DYNET_ON_DEVICE("reductions", reduction_cases())
DYNET_ON_DEVICE("softmax", softmax_cases())
DYNET_ON_DEVICE("losses", loss_cases())
DYNET_ON_DEVICE("selection", selection_cases())
DYNET_ON_DEVICE("noise", noise_cases())
DYNET_ON_DEVICE("recurrent", recurrent_cases())
DYNET_ON_DEVICE("select", select_cases())
DYNET_ON_DEVICE("flow", flow_cases())
DYNET_ON_DEVICE("convolution", convolution_cases())
DYNET_ON_DEVICE("crf", crf_cases())
DYNET_ON_DEVICE("span trees", span_tree_cases())
DYNET_ON_DEVICE("dependency trees", dependency_tree_cases())
DYNET_ON_DEVICE("ctc", ctc_cases())
DYNET_ON_DEVICE("semi crf", semi_crf_cases())
DYNET_ON_DEVICE("attention", attention_cases())
DYNET_ON_DEVICE("linear algebra", linear_algebra_cases())
DYNET_ON_DEVICE("normalization", normalization_cases())
