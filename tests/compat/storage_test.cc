// Storages as programs written to DyNet touch them: to read, to write, and between updates.

#include <cmath>
#include <memory>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/model.h"
#include "dynet/shadow-params.h"
#include "dynet/tensor.h"
#include "dynet/training.h"
#include "tests/support/catch.h"

namespace storage_test {

using namespace dynet;
using Floats = std::vector<float>;

namespace {

struct Net {
  ParameterCollection m;
  Parameter w = m.add_parameters({2, 2}, ParameterInitConst(1), "w");
  LookupParameter e = m.add_lookup_parameters(5, {2}, ParameterInitConst(2), "e");

  /// Gradients: 2 for each value of w, 2 for each value of row 3.
  void backward() {
    ComputationGraph g;
    g.backward(sum_elems(parameter(g, w) * lookup(g, e, 3u)));
  }
};

}  // namespace

TEST_CASE("values are written through the storage as through the handle") {
  Net n;
  TensorTools::set_elements(n.w.get_storage().values, {1, 2, 3, 4});
  CHECK(as_vector(*n.w.values()) == Floats{1, 2, 3, 4});
  n.w.p->values.v[0] = 9;
  CHECK(as_vector(n.w.values()) == Floats{9, 2, 3, 4});
  TensorTools::set_elements(n.m.parameters_list()[0]->values, {5, 6, 7, 8});
  TensorTools::constant(n.m.lookup_parameters_list()[0]->values[2], 7);
  CHECK(as_vector(n.e.row(2)) == Floats{7, 7});
  TensorTools::zero(n.e.p->all_values);
  CHECK(as_vector(n.e.row(2)) == Floats{0, 0});
  ComputationGraph g;
  CHECK(as_vector(parameter(g, n.w).value()) == Floats{5, 6, 7, 8});
}

TEST_CASE("Parameter::values and gradients return pointers that live as long as the parameter") {
  Net n;
  Tensor* const values = n.w.values();
  Tensor* const gradient = n.w.gradients();
  std::vector<Tensor>* const rows = n.e.values();
  n.backward();
  CHECK(values->d == Dim({2, 2}));
  CHECK(as_vector(*values) == Floats{1, 1, 1, 1});
  CHECK(as_vector(*n.w.gradients()) == Floats{2, 2, 2, 2});
  CHECK(gradient == n.w.gradients());
  CHECK(rows->size() == 5);
  CHECK(as_vector((*rows)[4]) == Floats{2, 2});
  CHECK(as_vector(n.e.values()->at(3)) == Floats{2, 2});
  CHECK(values->device->type == DeviceType::CPU);
  CHECK(values->mem_pool == DeviceMempool::PS);
}

TEST_CASE("storages name, shape and gradients of all parameters") {
  Net n;
  const ParameterCollectionStorage& before = n.m.get_storage();
  REQUIRE(before.params.size() == 1);
  REQUIRE(before.lookup_params.size() == 1);
  CHECK(before.all_params.size() == 2);
  CHECK_FALSE(before.params[0]->nonzero_grad);
  CHECK(before.lookup_params[0]->non_zero_grads.empty());
  n.backward();
  const ParameterCollectionStorage& all = n.m.get_storage();
  const ParameterStorage& w = *all.params[0];
  CHECK(w.name == "/w");
  CHECK(w.dim == Dim({2, 2}));
  CHECK(w.nonzero_grad);
  CHECK(w.size() == 4);
  CHECK(w.is_updated());
  CHECK(as_vector(w.g) == Floats{2, 2, 2, 2});
  LookupParameterStorage& e = *all.lookup_params[0];
  CHECK(e.name == "/e");
  CHECK(e.all_dim == Dim({2, 5}));
  CHECK(e.dim == Dim({2}));
  CHECK(e.non_zero_grads == std::unordered_set<unsigned>{3});
  CHECK_FALSE(e.all_updated);
  CHECK(as_vector(e.all_grads) == Floats{0, 0, 0, 0, 0, 0, 2, 2, 0, 0});
  CHECK(as_vector(e.grads[3]) == Floats{2, 2});
  CHECK(as_vector(e.values[0]) == Floats{2, 2});
  float squares = 0;
  w.squared_l2norm(&squares);
  CHECK(squares == 4);
  w.g_squared_l2norm(&squares);
  CHECK(squares == 16);
  CHECK(all.gradient_l2_norm() == Approx(n.m.gradient_l2_norm()));
  CHECK(n.m.get_parameter_storage("/w").get() == &w);
  CHECK(n.m.get_lookup_parameter_storage("/e").get() == &e);
  CHECK_THROWS_AS(n.m.get_parameter_storage("/e"), std::invalid_argument);
  const std::vector<std::shared_ptr<ParameterStorage>>& listed = n.m.parameters_list();
  CHECK(listed.at(0)->g.v[3] == 2);
  const std::shared_ptr<ParameterStorage> pointer = n.w.p;
  CHECK(Parameter(pointer) == n.w);
  ComputationGraph g;
  const std::vector<unsigned> rows{0, 1, 2, 3, 4};
  g.backward(sum_batches(sum_elems(lookup(g, n.e, rows))));
  CHECK(n.m.get_storage().lookup_params[0]->all_updated);
}

TEST_CASE("gradients that are written through storages count in the update") {
  for (const bool sparse : {true, false}) {
    Net n;
    SimpleSGDTrainer trainer(n.m, 1);
    trainer.clipping_enabled = false;
    trainer.sparse_updates_enabled = sparse;
    n.backward();
    for (const auto& p : n.m.get_storage().params)
      for (unsigned i = 0; i < p->size(); ++i) p->g.v[i] *= 0.5f;
    LookupParameterStorage& e = *n.m.get_storage().lookup_params[0];
    e.grads[3].v[1] = 10;   // of a row that was used
    e.all_grads.v[0] = -1;  // and of one that was not
    CHECK(n.m.gradient_l2_norm() == Approx(std::sqrt(4 + 4 + 100 + 1.0)));
    CHECK(n.e.row_gradient(0) == Floats{-1, 0});
    trainer.update();
    CHECK(as_vector(n.w.values()) == Floats{0, 0, 0, 0});
    CHECK(as_vector(n.e.row(0)) == Floats{3, 2});
    CHECK(as_vector(n.e.row(3)) == Floats{0, -8});
    CHECK(as_vector(n.e.row(1)) == Floats{2, 2});
    CHECK(as_vector(n.e.p->all_grads) == Floats(10, 0));
    trainer.update();  // there is nothing left
    CHECK(as_vector(n.e.row(0)) == Floats{3, 2});
  }
}

TEST_CASE("a gradient that was written stays through later backward passes") {
  Net n;
  n.backward();
  n.e.p->grads[3].v[0] = 100;
  n.backward();
  CHECK(n.e.row_gradient(3) == Floats{102, 4});
  CHECK(as_vector(n.e.p->grads[3]) == Floats{102, 4});
  n.e.p->clear();
  CHECK(n.e.row_gradient(3) == Floats{0, 0});
  CHECK_FALSE(n.e.p->has_grad());
  n.w.p->clear();
  CHECK_FALSE(n.w.p->has_grad());
}

TEST_CASE("storages do what handles do") {
  Net n;
  n.w.p->scale_parameters(3);
  n.w.p->clip(0, 2);
  CHECK(as_vector(n.w.values()) == Floats{2, 2, 2, 2});
  n.w.p->set_value({1, 2, 3, 4});
  n.e.p->initialize(1, {8, 9});
  CHECK(as_vector(n.e.row(1)) == Floats{8, 9});
  CHECK_THROWS_AS(n.e.p->initialize(5, {8, 9}), IndexError);
  Net other;
  other.w.p->copy(*n.w.p);
  other.e.p->copy(*n.e.p);
  CHECK(as_vector(other.w.values()) == Floats{1, 2, 3, 4});
  CHECK(as_vector(other.e.row(1)) == Floats{8, 9});
  Parameter small = n.m.add_parameters({3});
  CHECK_THROWS_AS(small.p->copy(*n.w.p), std::invalid_argument);
  Tensor g = make_tensor({2, 2});
  TensorTools::constant(g, 5);
  n.w.p->accumulate_grad(g);
  n.w.p->accumulate_grad(g);
  CHECK(as_vector(n.w.gradients()) == Floats{10, 10, 10, 10});
  CHECK(n.w.p->has_grad());
  n.w.p->scale_gradient(0.5f);
  CHECK(as_vector(n.w.gradients()) == Floats{5, 5, 5, 5});
  Tensor row = make_tensor({2});
  TensorTools::constant(row, 3);
  n.e.p->accumulate_grad(4, row);
  CHECK(n.e.row_gradient(4) == Floats{3, 3});
  CHECK_THROWS_AS(n.e.p->accumulate_grad(5, row), IndexError);
  CHECK_THROWS_AS(n.e.p->accumulate_grad(4, g), ShapeError);
  Tensor table = make_tensor({2, 5});
  TensorTools::constant(table, 1);
  n.e.p->accumulate_grad(table);
  CHECK(n.e.row_gradient(4) == Floats{4, 4});
  CHECK(n.e.row_gradient(0) == Floats{1, 1});
  CHECK_THROWS_AS(n.e.p->accumulate_grad(g), ShapeError);

  n.e.p->zero();
  CHECK(as_vector(n.e.row(1)) == Floats{0, 0});
}

TEST_CASE("an empty handle has no storage") {
  const Parameter none;
  CHECK(none.p == nullptr);
  CHECK(none.p.get() == nullptr);
  CHECK_THROWS_AS(none.get_storage(), std::invalid_argument);
  CHECK_THROWS_AS(none.p->values, std::invalid_argument);
}

TEST_CASE("shadows of parameters are zeros in their shapes") {
  Net n;
  std::vector<ShadowParameters> shadows;
  std::vector<ShadowLookupParameters> tables;
  allocate_shadow_parameters(n.m, 0, shadows);
  allocate_shadow_parameters(n.m, 1, shadows);
  allocate_shadow_lookup_parameters(n.m, 0, tables);
  REQUIRE(shadows.size() == 1);
  REQUIRE(tables.size() == 1);
  CHECK(as_vector(shadows[0].h) == Floats(4, 0));
  CHECK(tables[0].h.size() == 5);
  tables[0].h[1].v[0] = 3;
  CHECK(tables[0].all_h.v[2] == 3);
}

TEST_CASE("a copy of a trainer goes on from where the first one is") {
  Net a, b;
  AdamTrainer first(a.m, 0.1f), alone(b.m, 0.1f);
  for (AdamTrainer* t : {&first, &alone}) {
    t->clip_threshold = 3;
    t->exponential_moving_average(0.5f);
    t->set_schedule(LearningRateSchedule::cosine(0.1f, 6));
  }
  for (int i = 0; i < 3; ++i) {
    a.backward(), b.backward();
    first.update(), alone.update();
  }
  const std::unique_ptr<Trainer> second(new AdamTrainer(first));
  CHECK(second->clip_threshold == 3);
  CHECK(second->updates == 3);
  for (int i = 0; i < 3; ++i) {
    a.backward(), b.backward();
    second->update(), alone.update();
  }
  CHECK(as_vector(a.w.values()) == as_vector(b.w.values()));
  CHECK(as_vector(a.e.row(3)) == as_vector(b.e.row(3)));
  CHECK(first.updates == 3);
  second->swap_params_to_moving_average();
  CHECK_THROWS_AS(AdamTrainer(static_cast<AdamTrainer&>(*second)), ArgumentError);
  alone.swap_params_to_moving_average();
  CHECK(as_vector(a.w.values()) == as_vector(b.w.values()));
}

TEST_CASE("weight decay as the collection has it") {
  ParameterCollection m(0.25f);
  Parameter w = m.add_parameters({1}, ParameterInitConst(1));
  CHECK(m.get_weight_decay().get_lambda() == 0.25f);
  CHECK(w.current_weight_decay() == 1);
  m.get_storage().weight_decay.set_lambda(0.5f);
  CHECK(m.get_weight_decay_lambda() == 0.5f);
  CHECK_THROWS_AS(m.get_weight_decay().set_lambda(1), ArgumentError);
  SimpleSGDTrainer(m).update();
  CHECK(as_scalar(w.values()) == 0.5f);
}

TEST_CASE("views keep alive what nobody else owns") {
  const auto top = [] {
    ComputationGraph g;
    const std::pair<Tensor, IndexTensor> both =
        TensorTools::topk(input(g, {4}, {3, 9, 1, 7}).value(), 0, 2);
    return both;
  };
  const Tensor first = top().first;
  const Tensor element = [&] { return Tensor(top().first).batch_elem(0); }();
  const std::vector<Floats> churn(100, Floats(2, -1));  // would take the place of what was freed
  CHECK(as_vector(first) == Floats{9, 7});
  CHECK(as_vector(element) == Floats{9, 7});
  CHECK(top().second.v == std::vector<std::ptrdiff_t>{1, 3});
}

}  // namespace storage_test
