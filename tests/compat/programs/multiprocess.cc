// Training through dynet/mp.h: exclusive or, with a class that learns from one sample.

#include <iostream>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/mp.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;
using namespace dynet::mp;

struct Datum {
  vector<dynet::real> x;
  dynet::real y;
};

struct Loss {
  double sum = 0;
  unsigned count = 0;
  Loss& operator+=(const Loss& other) {
    sum += other.sum;
    count += other.count;
    return *this;
  }
  bool operator<(const Loss& other) { return sum / count < other.sum / other.count; }
};
ostream& operator<<(ostream& out, const Loss& l) { return out << l.sum / max(l.count, 1u); }

class XorLearner : public ILearner<Datum, Loss> {
 public:
  explicit XorLearner(ParameterCollection& m) {
    p_W = m.add_parameters({8, 2});
    p_b = m.add_parameters({8});
    p_V = m.add_parameters({1, 8});
  }
  Loss LearnFromDatum(const Datum& datum, bool learn) override {
    ComputationGraph cg;
    Expression x = input(cg, {2}, datum.x);
    Expression h = tanh(parameter(cg, p_W) * x + parameter(cg, p_b));
    Expression e = squared_distance(parameter(cg, p_V) * h, input(cg, datum.y));
    Loss loss;
    loss.sum = as_scalar(cg.forward(e));
    loss.count = 1;
    if (learn) cg.backward(e);
    if (!learn) last += loss;
    return loss;
  }
  void SaveModel() override {
    ++saved;
    best = last.sum / last.count;
    last = Loss();
  }
  unsigned saved = 0;
  double best = 0;

 private:
  Parameter p_W, p_b, p_V;
  Loss last;
};

int main(int argc, char** argv) {
  dynet::initialize(argc, argv, true);
  vector<Datum> train, dev;
  for (int i = 0; i < 40; ++i) {
    const float a = i % 2 ? 1 : -1, b = i / 2 % 2 ? 1 : -1;
    (i < 32 ? train : dev).push_back({{a, b}, a == b ? -1.f : 1.f});
  }
  ParameterCollection m;
  AdadeltaTrainer trainer(m);
  trainer.clipping_enabled = false;
  XorLearner learner(m);
  const unsigned NUM_CHILDREN = 4;
  run_multi_process(NUM_CHILDREN, &learner, &trainer, train, dev, 2, 16, 16);
  SimpleSGDTrainer sgd(m, 0.1);
  run_single_process(&learner, &sgd, train, dev, 20, 16, 32, 2);
  const Loss all = run_mp_minibatch(NUM_CHILDREN, &learner, dev);
  cout << "saved " << learner.saved << endl;
  cout << "E = " << all.sum / all.count << endl;
}
