// A program that only C++17 takes: it has a class of 2017 in it that asks allocators for what C++20
// has removed.

#include <deque>
#include <iostream>
#include <memory>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/lstm.h"
#include "dynet/mp.h"
#include "dynet/tensor.h"
#include "dynet/training.h"

static_assert(__cplusplus == 201703L);

using namespace std;
using namespace dynet;

template <class T>
struct Json {
  using Allocator = std::allocator<T>;
  typename Allocator::pointer value;
  explicit Json(const T& from) : value(Allocator().allocate(1, nullptr)) {
    Allocator().construct(value, from);
  }
  ~Json() {
    Allocator().destroy(value);
    Allocator().deallocate(value, 1);
  }
};

// The least that DyNet asks of a loss.
struct Loss {
  float sum = 0;
  Loss& operator+=(Loss& other) {
    sum += other.sum;
    return *this;
  }
  bool operator<(Loss& other) { return sum < other.sum; }
};
ostream& operator<<(ostream& out, Loss& loss) { return out << loss.sum; }

struct Learner : mp::ILearner<float, Loss> {
  Learner(ParameterCollection& m) : lstm(1, 1, 4, m), p_V(m.add_parameters({1, 4})) {}
  Loss LearnFromDatum(const float& x, bool learn) override {
    ComputationGraph cg;
    lstm.new_graph(cg);
    lstm.start_new_sequence();
    Expression h = lstm.add_input(input(cg, x));
    auto& dim = h.dim();
    Expression e = squared_distance(parameter(cg, p_V) * h, input(cg, dim[0] * x / 8));
    Loss loss;
    auto& value = cg.forward(e);
    loss.sum = as_scalar(value);
    if (learn) cg.backward(e);
    return loss;
  }
  void SaveModel() override { ++saved; }
  VanillaLSTMBuilder lstm;
  Parameter p_V;
  int saved = 0;
};

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  const Json<string> name("cxx17");
  ParameterCollection m;
  AdamTrainer trainer(m, 0.02f);
  Learner learner(m);
  const vector<float> samples = {-1, -0.5f, 0.5f, 1};
  try {
    mp::run_multi_process(4, &learner, &trainer, samples, samples, 200, 100, 100);
    ComputationGraph cg;
    const deque<Expression> xs = {input(cg, {2}, {1, 4}), input(cg, {2}, {3, 2})};
    vector<Eigen::DenseIndex> largest = as_vector(TensorTools::argmax(sum(xs).value()));
    auto loss = mp::run_mp_minibatch(4, &learner, samples);
    cout << *name.value << ": saved " << learner.saved << ", argmax " << largest[0]
         << ", E = " << loss << endl;
  } catch (const invalid_argument& e) {
    cout << e.what() << endl;
  }
}
