// An encoder and a decoder that looks back at all that was read: learns to turn sequences around.

#include <iostream>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/lstm.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

const unsigned VOCAB = 8, EOS = 0, DIM = 32, ATT = 16;

class EncoderDecoder {
 public:
  explicit EncoderDecoder(ParameterCollection& model)
      : fwd(1, DIM, DIM, model), bwd(1, DIM, DIM, model), dec(1, 2 * DIM + DIM, DIM, model) {
    p_emb = model.add_lookup_parameters(VOCAB, {DIM});
    p_w1 = model.add_parameters({ATT, 2 * DIM});
    p_w2 = model.add_parameters({ATT, DIM});
    p_v = model.add_parameters({1, ATT});
    p_R = model.add_parameters({VOCAB, DIM});
    p_b = model.add_parameters({VOCAB});
  }

  void encode(ComputationGraph& cg, const vector<unsigned>& source) {
    fwd.new_graph(cg);
    bwd.new_graph(cg);
    dec.new_graph(cg);
    fwd.start_new_sequence();
    bwd.start_new_sequence();
    vector<Expression> columns(source.size()), backward(source.size());
    for (size_t i = source.size(); i-- > 0;)
      backward[i] = bwd.add_input(lookup(cg, p_emb, source[i]));
    for (size_t i = 0; i < source.size(); ++i)
      columns[i] = concatenate({fwd.add_input(lookup(cg, p_emb, source[i])), backward[i]});
    encoded = concatenate_cols(columns);
    projected = parameter(cg, p_w1) * encoded;
    w2 = parameter(cg, p_w2);
    v = parameter(cg, p_v);
    R = parameter(cg, p_R);
    b = parameter(cg, p_b);
    // The decoder starts where the encoder ended: cells first, then outputs.
    dec.start_new_sequence(bwd.final_s());
  }

  Expression attend() {
    Expression state = dec.back();
    Expression scores = transpose(v * tanh(colwise_add(projected, w2 * state)));
    return encoded * softmax(scores);
  }

  Expression scores(ComputationGraph& cg, unsigned previous) {
    Expression context = attend();
    Expression h = dec.add_input(concatenate({context, lookup(cg, p_emb, previous)}));
    return affine_transform({b, R, h});
  }

  Expression loss(ComputationGraph& cg, const vector<unsigned>& source,
                  const vector<unsigned>& target) {
    encode(cg, source);
    vector<Expression> errs;
    unsigned previous = EOS;
    for (unsigned w : target) {
      errs.push_back(-log(pick(softmax(scores(cg, previous)), w)));
      previous = w;
    }
    return average(errs);
  }

  vector<unsigned> decode(const vector<unsigned>& source) {
    ComputationGraph cg;
    encode(cg, source);
    vector<unsigned> output;
    unsigned previous = EOS;
    for (size_t n = 0; n < 2 * source.size(); ++n) {
      const Tensor& t = cg.incremental_forward(scores(cg, previous));
      previous = unsigned(as_scalar(TensorTools::argmax(t)));
      if (previous == EOS) break;
      output.push_back(previous);
    }
    return output;
  }

 private:
  LSTMBuilder fwd, bwd, dec;
  LookupParameter p_emb;
  Parameter p_w1, p_w2, p_v, p_R, p_b;
  Expression encoded, projected, w2, v, R, b;
};

vector<unsigned> make_source() {
  vector<unsigned> s(2 + rand0n(4));
  for (unsigned& w : s) w = 1 + rand0n(VOCAB - 1);
  return s;
}

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  ParameterCollection model;
  AdamTrainer trainer(model, 0.005);
  EncoderDecoder ed(model);
  float loss = 0;
  for (int i = 0; i < 2500; ++i) {
    ComputationGraph cg;
    vector<unsigned> source = make_source(), target(source.rbegin(), source.rend());
    target.push_back(EOS);
    Expression e = ed.loss(cg, source, target);
    loss = 0.98f * loss + 0.02f * as_scalar(cg.forward(e));
    cg.backward(e);
    trainer.update();
  }
  int right = 0;
  for (int i = 0; i < 100; ++i) {
    vector<unsigned> source = make_source(), target(source.rbegin(), source.rend());
    right += ed.decode(source) == target;
  }
  cout << "right = " << right << endl;
  cout << "E = " << loss << endl;
}
