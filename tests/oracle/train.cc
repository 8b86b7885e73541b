// Trains a small model with a builder and a trainer, for compare_dynet.py. Reads lines
//   BUILDER TRAINER UPDATES model-to-read model-to-write
// and writes for each the losses, one before each update and one at the end. The files are DyNet's.
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/fast-lstm.h"
#include "dynet/gru.h"
#include "dynet/io.h"
#include "dynet/lstm.h"
#include "dynet/training.h"

using namespace dynet;

namespace {

constexpr unsigned kLayers = 2, kIn = 3, kHidden = 4, kWords = 6, kSteps = 4;

template <class Builder, class... More>
auto builder(More... more) {
  return [=](ParameterCollection& m) -> std::unique_ptr<RNNBuilder> {
    return std::make_unique<Builder>(kLayers, kIn, kHidden, m, more...);
  };
}
template <class T, class... More>
auto trainer(More... more) {
  return [=](ParameterCollection& m) -> std::unique_ptr<Trainer> {
    return std::make_unique<T>(m, more...);
  };
}

const std::map<std::string, std::function<std::unique_ptr<RNNBuilder>(ParameterCollection&)>>
    kBuilders = {
        {"SimpleRNNBuilder", builder<SimpleRNNBuilder>()},
        {"GRUBuilder", builder<GRUBuilder>()},
        {"VanillaLSTMBuilder", builder<VanillaLSTMBuilder>()},
        {"NormalizedLSTMBuilder", builder<VanillaLSTMBuilder>(true)},
        {"CompactVanillaLSTMBuilder", builder<CompactVanillaLSTMBuilder>()},
        {"CoupledLSTMBuilder", builder<CoupledLSTMBuilder>()},
        {"FastLSTMBuilder", builder<FastLSTMBuilder>()},
        {"SparseLSTMBuilder", builder<SparseLSTMBuilder>()},
};
const std::map<std::string, std::function<std::unique_ptr<Trainer>(ParameterCollection&)>>
    kTrainers = {
        {"SimpleSGDTrainer", trainer<SimpleSGDTrainer>()},
        {"CyclicalSGDTrainer", trainer<CyclicalSGDTrainer>(0.01f, 0.1f, 3.0f)},
        {"MomentumSGDTrainer", trainer<MomentumSGDTrainer>()},
        {"AdagradTrainer", trainer<AdagradTrainer>()},
        {"AdadeltaTrainer", trainer<AdadeltaTrainer>()},
        {"RMSPropTrainer", trainer<RMSPropTrainer>(0.01f)},
        {"AdamTrainer", trainer<AdamTrainer>()},
        {"AmsgradTrainer", trainer<AmsgradTrainer>()},
};

/// The words of update t, as compare_dynet.py has them.
unsigned word(unsigned t, unsigned step) { return (t * 2 + step * step) % kWords; }

void run(const std::string& builder_name, const std::string& trainer_name, unsigned updates,
         const std::string& from, const std::string& to) {
  ParameterCollection m;
  LookupParameter e = m.add_lookup_parameters(kWords, {kIn});
  const auto rnn = kBuilders.at(builder_name)(m);
  Parameter w = m.add_parameters({kWords, kHidden}), b = m.add_parameters({kWords});
  TextFileLoader(from).populate(m);
  const auto trainer = kTrainers.at(trainer_name)(m);
  for (unsigned t = 0; t <= updates; ++t) {
    ComputationGraph g;
    rnn->new_graph(g);
    rnn->start_new_sequence();
    std::vector<Expression> losses;
    for (unsigned k = 0; k < kSteps; ++k) {
      const Expression h = rnn->add_input(lookup(g, e, word(t, k)));
      losses.push_back(pickneglogsoftmax(affine_transform({parameter(g, b), parameter(g, w), h}),
                                         word(t, k + 1)));
    }
    const Expression loss = sum(losses);
    std::cout << as_scalar(loss.value()) << (t < updates ? " " : "\n");
    if (t == updates) break;
    g.backward(loss);
    trainer->update();
  }
  TextFileSaver(to).save(m);
}

}  // namespace

int main() {
  std::cout << std::setprecision(9);
  try {
    std::string builder, trainer, from, to;
    for (unsigned updates = 0; std::cin >> builder >> trainer >> updates >> from >> to;)
      run(builder, trainer, updates, from, to);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
