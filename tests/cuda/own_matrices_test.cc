// Products whose nodes have a matrix each, such as attention over sentences: values and gradients
// are the CPU's, and so many products are one.

#include "tests/cuda/check_equal.h"

using namespace dynet;
using namespace dynet::test;

namespace {

using Outs = std::vector<Expression>;

constexpr unsigned kHidden = 6;

struct Net {
  Net(ComputationGraph& cg, ParameterCollection& pc)
      : g(cg),
        words(pc.add_lookup_parameters(11, {kHidden})),
        matrices(pc.add_lookup_parameters(9, {4, kHidden})),
        w(pc.add_parameters({kHidden, kHidden})),
        v(pc.add_parameters({kHidden, kHidden})),
        shared(parameter(cg, w)) {}

  Expression word(unsigned t, unsigned batch = 1) const {
    std::vector<unsigned> all;
    for (unsigned i = 0; i < batch; ++i) all.push_back((t + 3 * i) % 11);
    return tanh(lookup(g, words, all));
  }
  Expression matrix(unsigned t) const { return lookup(g, matrices, t % 9); }
  Expression sentence(unsigned first, unsigned length, unsigned batch = 1) const {
    return tanh(concatenate_cols(each(length, [&](unsigned t) { return word(first + t, batch); })));
  }
  /// The last states of decoders that attend to a sentence each, for some steps.
  Outs attend(const std::vector<unsigned>& steps, unsigned length, unsigned batch = 1) const {
    return each(static_cast<unsigned>(steps.size()), [&](unsigned i) {
      const Expression h = sentence(i, length, batch), turned = transpose(h);
      Expression s = word(i + 5, batch);
      for (unsigned t = 0; t < steps[i]; ++t) s = tanh(shared * (h * softmax(turned * s)) + s);
      return s;
    });
  }

  ComputationGraph& g;
  LookupParameter words, matrices;
  Parameter w, v;
  Expression shared;
};

NetCases<Net> cases() {
  NetCases<Net> all;
  const auto add = [&](const std::string& name, const Make<Net>& make) {
    all.emplace_back(name, make);
  };
  for (const unsigned batch : {1u, 3u}) {
    const std::string of = ", batches of " + std::to_string(batch);
    add("attention" + of, [=](const Net& n) { return n.attend({2, 2, 2, 2, 2}, 4, batch); });
    add("attention of unequal numbers of steps" + of, [=](const Net& n) {
      return n.attend({1, 7, 2, 3, 1, 6}, 4, batch);
    });
    add("one matrix, several columns" + of, [=](const Net& n) {
      return each(4, [&](unsigned i) { return n.matrix(i) * n.sentence(i, 3, batch); });
    });
  }
  add("a batch of matrices, one operand", [](const Net& n) {
    return each(4, [&](unsigned i) { return transpose(n.sentence(i, 3, 2)) * n.word(i); });
  });
  add("the same operand, and matrices that are used twice", [](const Net& n) {
    Outs outs;
    const Expression x = n.word(1);
    for (unsigned i = 0; i < 20; ++i) {
      const Expression m = n.matrix(i) * 2;
      outs.push_back(m * x);
      if (i % 3 == 0) outs.push_back(m * n.word(i));
    }
    return outs;
  });
  add("matrices without gradients, and operands", [](const Net& n) {
    Outs outs;
    for (unsigned i = 0; i < 3; ++i) {
      const Expression c = constant(n.g, {5, kHidden}, 0.1f * static_cast<float>(i + 1));
      outs.push_back((c + 1) * n.word(i));
      outs.push_back(n.matrix(i) * constant(n.g, {kHidden}, static_cast<float>(i)));
    }
    return outs;
  });
  add("two masked parameters, each for many", [](const Net& n) {
    const Expression mask = constant(n.g, {kHidden, kHidden}, 0.5f);
    const Expression a = cmult(parameter(n.g, n.w), mask), b = cmult(parameter(n.g, n.v), mask);
    Outs outs = each(12, [&](unsigned i) { return (i % 2 ? a : b) * n.word(i); });
    for (unsigned i = 0; i < 12; ++i) outs.push_back(a * outs[i]);
    return outs;
  });
  add("parameters and other matrices", [](const Net& n) {
    return each(6, [&](unsigned i) {
      const Expression w = parameter(n.g, n.w);
      return (i % 2 ? w : w * 0.5f) * n.word(i);
    });
  });
  return all;
}

}  // namespace

TEST_CASE("products of matrices that differ are right in one batch", "[cuda]") {
  check_nets(cases());
}

TEST_CASE("a plan for the CPU is not run on a device, and the other way round", "[cuda]") {
  const Make<Net> make = [](const Net& n) { return n.attend({2, 2, 2, 2, 2, 2}, 5); };
  const std::vector<Floats> expected = run(make, nullptr, false, true);
  for (int round = 0; round < 6; ++round)  // so that plans are remembered
    check_equal(expected, run(make, round % 2 ? gpu() : nullptr, false, true));
}

#ifndef DYNET_TEST_GPU
TEST_CASE("attention takes as many products for many sentences as for a few", "[cuda]") {
  const auto attend = [](unsigned sentences, unsigned steps) {
    return [=](const Net& n) { return n.attend(std::vector(sentences, steps), 5); };
  };
  CHECK(count<Net>(attend(13, 3)) == count<Net>(attend(7, 3)));
  // One more step: three products in each direction.
  const Counts step = more<Net>(attend(7, 4), attend(7, 3));
  CHECK(step[1] + step[3] == 6);
}

TEST_CASE("a matrix that is made of parameters alone is that of all steps", "[cuda]") {
  const auto recurrent = [](unsigned length) {
    return [=](const Net& n) {
      const Expression wx = 2 * parameter(n.g, n.w), wh = 3 * parameter(n.g, n.v);
      return each(5, [&](unsigned i) {
        Expression h = n.word(i + 5);
        for (unsigned t = 0; t < length; ++t) h = tanh(wx * n.word(i + t) + wh * h);
        return h;
      });
    };
  };
  // One more step: the product of the state in each direction.
  const Counts step = more<Net>(recurrent(8), recurrent(7));
  CHECK(step[1] + step[3] == 2);
}

TEST_CASE("a matrix that many nodes share is one product", "[cuda]") {
  const auto masked = [](unsigned nodes) {
    return [=](const Net& n) {
      const Expression a = 2 * parameter(n.g, n.w), b = 3 * parameter(n.g, n.v);
      return each(nodes, [&](unsigned i) { return (i % 2 ? a : b) * n.word(i); });
    };
  };
  const Counts all = count<Net>(masked(20)), beyond = more<Net>(masked(40), masked(20));
  CHECK(beyond[1] + beyond[3] == 0);
  CHECK(all[1] + all[3] <= 6);
}
#endif
