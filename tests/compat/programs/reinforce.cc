// Deep Q-learning on a corridor: a second net gets the weights of the first now and then, through
// the storages. The way out is to the right.

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/globals.h"
#include "dynet/param-init.h"
#include "dynet/tensor.h"
#include "dynet/training.h"

using namespace std;

const unsigned PLACES = 5, HIDDEN = 16;

struct Network {
  dynet::ParameterCollection model;
  dynet::Parameter w1, b1, w2, b2;
  Network() {
    w1 = model.add_parameters({HIDDEN, PLACES});
    b1 = model.add_parameters({HIDDEN}, dynet::ParameterInitConst(0));
    w2 = model.add_parameters({2, HIDDEN});
    b2 = model.add_parameters({2}, dynet::ParameterInitConst(0));
  }
  dynet::Expression q(dynet::ComputationGraph& cg, unsigned place) const {
    dynet::Expression x = dynet::one_hot(cg, PLACES, place);
    dynet::Expression h = dynet::tanh(dynet::parameter(cg, w1) * x + dynet::parameter(cg, b1));
    return dynet::parameter(cg, w2) * h + dynet::parameter(cg, b2);
  }
  vector<float> values(unsigned place) const {
    dynet::ComputationGraph cg;
    return dynet::as_vector(cg.forward(q(cg, place)));
  }
  void take_weights_of(const Network& other) {
    const vector<shared_ptr<dynet::ParameterStorage>>& from = other.model.parameters_list();
    const vector<shared_ptr<dynet::ParameterStorage>>& to = model.parameters_list();
    for (size_t i = 0; i < to.size(); ++i)
      dynet::TensorTools::copy_elements(to[i]->values, from[i]->values);
  }
};

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  delete dynet::rndeng;  // a generator of its own
  dynet::rndeng = new mt19937(7);
  Network online, target;
  target.take_weights_of(online);
  if (online.values(2) != target.values(2)) return 1;
  dynet::AdamTrainer trainer(online.model, 0.01f);
  for (unsigned step = 0; step < 1500; ++step) {
    const unsigned place = (unsigned)dynet::rand0n(PLACES);
    const unsigned action = dynet::rand01() < 0.5f ? 0 : 1;
    const bool out = action == 1 && place + 1 == PLACES;
    const unsigned next = action == 1 ? min(place + 1, PLACES - 1) : (place > 0 ? place - 1 : 0);
    float goal = out ? 1.0f : 0.0f;
    if (!out) {
      const vector<float> then = target.values(next);
      goal += 0.8f * *max_element(then.begin(), then.end());
    }
    dynet::ComputationGraph cg;
    dynet::Expression chosen = dynet::pick(online.q(cg, place), action);
    cg.backward(dynet::huber_distance(chosen, dynet::input(cg, goal)));
    trainer.update();
    if (step % 50 == 0) target.take_weights_of(online);
  }
  for (unsigned place = 0; place < PLACES; ++place) {
    const vector<float> v = online.values(place);
    cout << (v[1] > v[0] ? "right " : "left ");
  }
  cout << "\nvalue = " << online.values(PLACES - 1)[1] << endl;
  return 0;
}
