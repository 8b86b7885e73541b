// Values and gradients are the same bits wherever numbers lie in memory, and whatever lies beside
// them: threads, batches and windows of a graph put them elsewhere.

#include "dynet-like/ops/families.h"
#include "dynet-like/run/executor.h"
#include "tests/ops/cases.h"
#include "tests/support/all_values.h"

namespace place_test {

using namespace dynet;
using namespace dynet::test;

namespace {

using Floats = std::vector<float>;

constexpr std::size_t kOffsets = 16;  // floats in the widest vector
constexpr unsigned kLongest = 40;

Floats numbers(std::size_t n, double low, double high, std::uint64_t seed) {
  const RandomStream random(seed);
  Floats x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(low + (high - low) * random.uniform(i));
  return x;
}

/// n of the numbers, from the first on.
Floats part_of(const Floats& x, std::size_t first, unsigned n) {
  const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
  return Floats(begin, begin + n);
}

/// At least n numbers between -1 and 1, always the same, to be copied at once.
const float* noise(std::size_t n) {
  static Floats all;
  if (all.size() < n) all = numbers(n, -1, 1, 77);
  return all.data();
}

/// n floats that begin so many floats behind a border of the widest vectors.
class Place {
 public:
  Place(const float* from, std::size_t n, std::size_t offset)
      : memory_(n + 2 * kOffsets), n_(n), at_(memory_.data()) {
    while (reinterpret_cast<std::uintptr_t>(at_) % (kOffsets * sizeof(float))) ++at_;
    at_ += offset % kOffsets;
    if (from) std::copy_n(from, n, at_);
  }
  float* data() { return at_; }
  Floats values() const { return {at_, at_ + n_}; }

 private:
  Floats memory_;
  std::size_t n_;
  float* at_;
};

/// Results of a node's kernels, when all of their memory begins at this offset or near it.
struct Made {
  Floats value;
  std::vector<Floats> gradients;  // of the operands: stored, then added
};
Made run_at(Executor<float>& executor, const GraphStore& graph, NodeId id, std::size_t offset) {
  const Node& node = graph.nodes[id];
  const OpForm& form = *node.form;
  std::size_t far = offset;
  const auto place = [&](const float* from, std::size_t n) {
    return Place(from, n, far += offset);
  };
  std::vector<Place> ins;
  std::vector<float*> in;
  for (std::size_t k = 0; k < node.arity; ++k) {
    const NodeId arg = graph.args[node.first_arg + k];
    ins.push_back(place(executor.value(arg), graph.nodes[arg].dim.size()));
    in.push_back(ins.back().data());
  }
  Place out = place(nullptr, node.dim.size());
  Place aux = place(nullptr, form.aux.value(graph, node));
  float *const outs = out.data(), *const auxs = aux.data();
  const Batch<float> batch{graph, &id, 1, node.arity, &outs, in.data(), &auxs, 1};
  form.forward.value.f(batch);
  Made made{out.values(), {}};
  if (form.second_result) made.value.insert(made.value.end(), auxs, auxs + node.dim.size());
  if (!form.passes_gradient || !form.backward.value.f) return made;
  for (const Write write : {Write::store, Write::add}) {
    std::vector<Place> d_ins;
    std::vector<float*> d_in;
    for (std::size_t k = 0; k < node.arity; ++k) {
      const std::size_t n = graph.nodes[graph.args[node.first_arg + k]].dim.size();
      d_ins.push_back(place(noise(n + k) + k, n));
      d_in.push_back(d_ins.back().data());
    }
    Place d_out = place(noise(node.dim.size() + node.arity) + node.arity, node.dim.size());
    float* const d_outs = d_out.data();
    const std::vector<Write> writes(node.arity, write);
    GradientBatch<float> gradients{batch, &d_outs, d_in.data(), writes.data()};
    Place d_second = place(noise(node.dim.size() + 1), node.dim.size());
    float* const d_seconds = d_second.data();
    if (form.second_result) gradients.d_seconds = &d_seconds;
    Place d_sum = place(nullptr, form.sums ? form.sums(graph, node) : 0);
    float* const d_sums = d_sum.data();
    if (form.sums) gradients.d_sums = &d_sums;
    form.backward.value.f(gradients);
    for (const Place& p : d_ins) made.gradients.push_back(p.values());
  }
  return made;
}

/// Looks at all nodes that a case builds of such operands.
void check_offsets(const OpCase& c, const std::vector<Dim>& dims, std::set<const OpForm*>& seen) {
  ComputationGraph g;
  Operand x;
  x.graph = &g;
  for (std::size_t k = 0; k < dims.size(); ++k)
    x.push_back(input(g, dims[k], numbers(dims[k].size(), c.low, c.high, 5 + k)));
  const NodeId first = static_cast<NodeId>(g.size());
  const NodeId last = c.build(x).i;
  Executor<float> executor(g.store());
  executor.forward(last);
  for (NodeId id = first; id <= last; ++id) {
    const OpForm& form = *g.store().nodes[id].form;
    if (form.kind != Kind::compute) continue;
    seen.insert(&form);
    const Made expected = run_at(executor, g.store(), id, 0);
    for (std::size_t offset = 1; offset < kOffsets; ++offset) {
      const Made made = run_at(executor, g.store(), id, offset);
      INFO(c.name << ": " << form.name.value << " of " << g.store().nodes[id].dim << " at offset "
                  << offset);
      CHECK(same_bits(made.value, expected.value));
      for (std::size_t k = 0; k < made.gradients.size(); ++k) {
        INFO("gradient " << k);
        CHECK(same_bits(made.gradients[k], expected.gradients[k]));
      }
    }
  }
}

}  // namespace

TEST_CASE("every operation gives the same bits wherever its operands lie") {
  std::set<const OpForm*> seen;
  for (const OpCase& c : all_cases())
    for (const Shapes::Kind kind : {Shapes::borders, Shapes::batched})
      for (std::uint64_t seed = 1; seed <= (c.draws < 10 ? 2u : 5u); ++seed) {
        Shapes shapes(kind, seed);
        check_offsets(c, c.shapes(shapes), seen);
      }
  for (const OpForm* form : all_ops()) {
    INFO(form->name.value);
    CHECK((form->kind != Kind::compute || seen.count(form)));
  }
}

namespace {

/// Results of a case on n elements of each operand, from element `first` on.
struct Run {
  bool keeps_shape = false;
  Floats value;
  std::vector<Floats> gradients;
};
Run run_part(const OpCase& c, const std::vector<Floats>& xs, std::size_t first, unsigned n) {
  ComputationGraph g;
  g.set_seed(3);
  ParameterCollection model;
  Operand x;
  x.graph = &g;
  for (const Floats& v : xs) {
    Parameter p = model.add_parameters({n}, ParameterInitConst(0));
    p.set_value(part_of(v, first, n));
    x.push_back(parameter(g, p));
  }
  Run run;
  try {
    const Expression y = c.build(x);
    run.keeps_shape = y.dim() == Dim({n});
    if (!run.keeps_shape) return run;
    const Floats weights = part_of(numbers(kLongest, 0.5, 1.5, 9), first, n);
    Executor<float> executor(g.store());
    const Expression loss = sum_elems(cmult(y, input(g, {n}, weights)));
    executor.backward(loss.i, true);
    run.value.assign(executor.value(y.i), executor.value(y.i) + n);
    for (const Expression& e : x)
      run.gradients.emplace_back(executor.gradient(e.i), executor.gradient(e.i) + n);
  } catch (const Error&) {  // no operation on vectors of one shape
  }
  return run;
}

/// Whether two runs agree in the elements that both have.
bool agree(const Floats& part, std::size_t first, const Floats& whole) {
  return std::memcmp(part.data(), whole.data() + first, part.size() * sizeof(float)) == 0;
}

// Operations whose result has the shape of their operands, though its elements depend on others of
// theirs.
const std::set<std::string> kOnWhole = [] {
  std::istringstream names(
      "argmax attention circ_conv circ_corr constrained_softmax conv2d crf_marginals ctc_alignment "
      "cumsum dependency_marginals layer_norm log_softmax maxpooling2d semi_crf_marginals softmax "
      "span_marginals sparsemax");
  return std::set<std::string>(std::istream_iterator<std::string>(names), {});
}();

}  // namespace

TEST_CASE("elements give the same bits alone, and in vectors of every length") {
  unsigned looked = 0;
  for (const OpCase& c : all_cases()) {
    Shapes shapes(Shapes::plain, 1);
    std::vector<Floats> xs;
    const std::size_t arity = c.shapes(shapes).size();
    for (std::size_t k = 0; k < arity; ++k) xs.push_back(numbers(kLongest, c.low, c.high, 5 + k));
    const Run all = run_part(c, xs, 0, kLongest);
    if (!all.keeps_shape || kOnWhole.count(c.name.substr(0, c.name.find_first_of(" ,")))) continue;
    ++looked;
    const auto check = [&](std::size_t first, unsigned n) {
      const Run part = run_part(c, xs, first, n);
      INFO(c.name << " of " << n << " elements from " << first);
      CHECK(part.keeps_shape);
      if (!part.keeps_shape) return;
      CHECK(agree(part.value, first, all.value));
      for (std::size_t k = 0; k < arity; ++k)
        CHECK(agree(part.gradients[k], first, all.gradients[k]));
    };
    for (unsigned n = 1; n < kLongest; ++n) check(0, n);
    if (!c.random)  // draws belong to places
      for (std::size_t first = 0; first < kLongest; ++first) check(first, 1);
  }
  CHECK(looked >= elementwise_ops().size());
}

namespace {

/// The states of a cell of so many numbers, and the gradient of the sums before the gates.
struct CellRun {
  Floats c, h, d_sums, d_before;
};
CellRun run_cell(const std::vector<Floats>& sums, const Floats& before, std::size_t first,
                 unsigned h) {
  ComputationGraph g;
  ParameterCollection model;
  Floats all;
  for (const Floats& s : sums)
    for (const float v : part_of(s, first, h)) all.push_back(v);
  Parameter x = model.add_parameters({4 * h}), c0 = model.add_parameters({h});
  x.set_value(all);
  c0.set_value(part_of(before, first, h));
  const Expression gates = vanilla_lstm_gates(parameter(g, x), 0.5f);
  const Expression c = vanilla_lstm_c(parameter(g, c0), gates), y = vanilla_lstm_h(c, gates);
  g.backward(sum_elems(y));
  return {as_vector(c.value()), as_vector(y.value()), as_vector(x.gradients()),
          as_vector(c0.gradients())};
}

}  // namespace

TEST_CASE("a cell's numbers give the same bits in states of every length") {
  std::vector<Floats> sums;
  for (std::uint64_t k = 0; k < 4; ++k) sums.push_back(numbers(kLongest, -9, 9, k));
  const Floats before = numbers(kLongest, -2, 2, 9);
  std::vector<CellRun> alone;
  for (std::size_t r = 0; r < kLongest; ++r) alone.push_back(run_cell(sums, before, r, 1));
  for (unsigned h = 1; h <= kLongest; ++h) {
    const CellRun all = run_cell(sums, before, 0, h);
    for (unsigned r = 0; r < h; ++r) {
      INFO("number " << r << " of " << h);
      CHECK(agree(alone[r].c, r, all.c));
      CHECK(agree(alone[r].h, r, all.h));
      CHECK(agree(alone[r].d_before, r, all.d_before));
      for (unsigned gate = 0; gate < 4; ++gate)
        CHECK(agree({alone[r].d_sums[gate]}, gate * h + r, all.d_sums));
    }
  }
}

}  // namespace place_test
