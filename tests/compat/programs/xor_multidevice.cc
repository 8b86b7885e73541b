// Exclusive or with its two layers on two devices, or on one where there is no second.

#include <iostream>

#include "dynet/devices.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/globals.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);

  DeviceManager* manager = get_device_manager();
  for (size_t i = 0; i < manager->num_devices(); ++i)
    cout << "device " << manager->get(i)->name << endl;
  Device* first = manager->get_global_device("CPU");
  Device* second = default_device;
  try {
    second = manager->get_global_device("GPU:0");
  } catch (const std::runtime_error& e) {
    cerr << e.what() << endl;
    cout << "fell back to " << second->name << endl;
  }
  if (second->type != DeviceType::GPU) cout << "no GPU" << endl;

  ParameterCollection m;
  SimpleSGDTrainer trainer(m, 0.1);
  Parameter p_W = m.add_parameters({8, 2}, first);
  Parameter p_b = m.add_parameters({8}, "b", first);
  Parameter p_V = m.add_parameters({1, 8}, ParameterInitGlorot(), "V", second);
  Parameter p_a = m.add_parameters({1}, 0.5, "a", second);

  float loss = 0;
  for (unsigned iter = 0; iter < 150; ++iter) {
    loss = 0;
    for (unsigned mi = 0; mi < 4; ++mi) {
      ComputationGraph cg;
      float x1 = mi % 2 ? 1 : -1, x2 = mi / 2 % 2 ? 1 : -1;
      Expression x = input(cg, {2}, {x1, x2}, first);
      Expression y = input(cg, x1 != x2 ? 1.f : -1.f, second);
      Expression h = tanh(parameter(cg, p_W) * x + parameter(cg, p_b));
      Expression h_second = to_device(h, second);
      Expression pred = parameter(cg, p_V) * h_second + parameter(cg, p_a);
      if (pred.get_device_name() != std::string(second->name)) return 2;
      Expression e = squared_distance(pred, y);
      loss += as_scalar(cg.forward(e)) / 4;
      cg.backward(e);
      trainer.update();
    }
  }
  cout << "E = " << loss << endl;
}
