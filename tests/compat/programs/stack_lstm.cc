// A shift-reduce parser with stack LSTMs, which computes steps of its own from the builder's
// `param_vars`, goes back on the stack by `get_head`, and prunes actions with restricted softmaxes.
// It learns to bracket sequences of equal letters.

#include "dynet/dict.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/init.h"
#include "dynet/lstm.h"
#include "dynet/model.h"
#include "dynet/nodes.h"
#include "dynet/training.h"

using namespace dynet;
using namespace std;

const unsigned LAYERS = 2, DIM = 12, ACTIONS = 2;  // SHIFT, REDUCE
enum { X2I, H2I, C2I, BI, X2O, H2O, C2O, BO, X2C, H2C, BC };

struct Parser {
  CoupledLSTMBuilder stack;
  LSTMBuilder buffer;
  LookupParameter words;
  Parameter p_s, p_b, p_bias, p_a, p_abias, p_empty;

  explicit Parser(ParameterCollection& model)
      : stack(LAYERS, DIM, DIM, model),
        buffer(LAYERS, DIM, DIM, model),
        words(model.add_lookup_parameters(5, {DIM})),
        p_s(model.add_parameters({DIM, DIM})),
        p_b(model.add_parameters({DIM, DIM})),
        p_bias(model.add_parameters({DIM})),
        p_a(model.add_parameters({ACTIONS, DIM})),
        p_abias(model.add_parameters({ACTIONS})),
        p_empty(model.add_parameters({DIM})) {}

  // The gold action: reduce when the two on top are equal.
  static unsigned gold(const vector<unsigned>& on_stack, size_t left) {
    const size_t n = on_stack.size();
    if (n >= 2 && on_stack[n - 1] == on_stack[n - 2]) return 1;
    return left > 0 ? 0 : 1;
  }

  // Loss of a sentence; counts right actions.
  Expression parse(ComputationGraph& cg, const vector<unsigned>& sent, unsigned* right) {
    stack.new_graph(cg);
    buffer.new_graph(cg);
    stack.start_new_sequence();
    buffer.start_new_sequence();
    Expression S = parameter(cg, p_s), B = parameter(cg, p_b), bias = parameter(cg, p_bias);
    Expression A = parameter(cg, p_a), abias = parameter(cg, p_abias);
    stack.add_input(parameter(cg, p_empty));
    buffer.add_input(parameter(cg, p_empty));
    vector<RNNPointer> places;
    for (size_t i = sent.size(); i-- > 0;) {
      buffer.add_input(lookup(cg, words, sent[i]));
    }
    vector<unsigned> on_stack;
    size_t next = 0;
    vector<Expression> losses;
    while (next < sent.size() || on_stack.size() > 1) {
      vector<unsigned> valid;
      if (next < sent.size()) valid.push_back(0);
      if (on_stack.size() >= 2) valid.push_back(1);
      Expression state = rectify(affine_transform({bias, S, stack.back(), B, buffer.back()}));
      Expression logp = log_softmax(affine_transform({abias, A, state}), valid);
      const unsigned act = gold(on_stack, sent.size() - next);
      const vector<float> scores = as_vector(cg.incremental_forward(logp));
      unsigned best = valid[0];
      for (unsigned a : valid)
        if (scores[a] > scores[best]) best = a;
      *right += best == act;
      losses.push_back(pick(logp, act));
      if (act == 0) {
        stack.add_input(lookup(cg, words, sent[next]));
        on_stack.push_back(sent[next++]);
        buffer.rewind_one_step();
      } else {
        // A composition of the two on top, by the input gate of the first layer, as written to
        // params and param_vars.
        const vector<Expression>& vars = stack.param_vars[0];
        RNNPointer top = stack.state(), below = stack.get_head(top);
        Expression gate = logistic(affine_transform(
            {vars[BI], vars[X2I], stack.get_h(top)[0], vars[H2I], stack.get_h(below)[0]}));
        stack.rewind_one_step();
        stack.rewind_one_step();
        stack.add_input(cmult(gate, lookup(cg, words, on_stack.back())));
        on_stack.pop_back();
      }
    }
    return losses.empty() ? input(cg, 0.0f) : -sum(losses);
  }
};

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  ParameterCollection model;
  Parser parser(model);
  assert(parser.stack.params.size() == LAYERS && parser.stack.params[1].size() == BC + 1);
  if (parser.stack.params[0][C2I].dim() != Dim({DIM, DIM})) return 1;
  SimpleSGDTrainer trainer(model, 0.1);
  vector<vector<unsigned>> data;
  for (unsigned i = 0; i < 40; ++i) {
    vector<unsigned> s;
    for (unsigned k = 0; k < 3 + i % 5; ++k) s.push_back((i / 2 + k * (i % 3)) % 5);
    data.push_back(s);
  }
  unsigned right = 0, total = 0;
  for (unsigned epoch = 0; epoch < 12; ++epoch) {
    right = total = 0;
    for (const auto& sent : data) {
      ComputationGraph cg;
      Expression loss = parser.parse(cg, sent, &right);
      total += 2 * sent.size() - 1;
      cg.backward(loss);
      trainer.update();
    }
  }
  // The weights of the composition were trained through param_vars.
  if (!(as_scalar(TensorTools::argmax(*parser.stack.params[0][BI].values())) >= 0)) return 1;
  cout << "right = " << right << " of " << total << endl;
  return 0;
}
