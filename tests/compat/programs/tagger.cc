// A tagger: words are read as characters by one network in each direction, sentences by two more.
// The made-up language: words that end in "ed" are V, those that begin with a capital N, those of
// digits C; a word between two N is P.

#include <algorithm>
#include <iostream>
#include <string>
#include <unordered_map>
#include <vector>

#include "dynet/dict.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/globals.h"
#include "dynet/lstm.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;

struct Sample {
  vector<vector<int>> chars;
  vector<int> words;
  vector<int> tags;
};

Dict wd, td, cd;

string letters(int n) {
  string s;
  for (int i = 0; i < n; ++i) s += char('a' + rand0n(26));
  return s;
}

Sample make_sample() {
  Sample s;
  vector<string> words, tags;
  const int n = 3 + rand0n(5);
  for (int i = 0; i < n; ++i) {
    string w = letters(2 + rand0n(3));
    string t = "O";
    switch (rand0n(4)) {
      case 0:
        w += "ed";
        t = "V";
        break;
      case 1:
        w[0] = toupper(w[0]);
        t = "N";
        break;
      case 2:
        w = to_string(rand0n(1000));
        t = "C";
        break;
    }
    words.push_back(w);
    tags.push_back(t);
  }
  const vector<string> before = tags;
  for (int i = 1; i + 1 < n; ++i)
    if (before[i - 1] == "N" && before[i + 1] == "N") tags[i] = "P";
  for (int i = 0; i < n; ++i) {
    vector<int> c;
    for (char x : words[i]) c.push_back(cd.convert(string(1, x)));
    s.chars.push_back(c);
    s.words.push_back(wd.contains(words[i]) || !wd.is_frozen() ? wd.convert(words[i])
                                                               : wd.get_unk_id());
    s.tags.push_back(td.convert(tags[i]));
  }
  return s;
}

struct Tagger {
  LookupParameter p_w, p_c;
  Parameter p_l2th, p_r2th, p_thbias, p_th2t, p_tbias;
  VanillaLSTMBuilder l2r, r2l, c_fwd, c_bwd;

  Tagger(ParameterCollection& m)
      : l2r(1, 24, 16, m), r2l(1, 24, 16, m), c_fwd(1, 8, 8, m), c_bwd(1, 8, 8, m) {
    p_w = m.add_lookup_parameters(wd.size(), {8});
    p_c = m.add_lookup_parameters(cd.size(), {8});
    p_l2th = m.add_parameters({16, 16});
    p_r2th = m.add_parameters({16, 16});
    p_thbias = m.add_parameters({16});
    p_th2t = m.add_parameters({unsigned(td.size()), 16});
    p_tbias = m.add_parameters({unsigned(td.size())});
  }

  Expression build(ComputationGraph& cg, const Sample& s, bool train, unsigned* correct) {
    for (LSTMBuilder* b : {&l2r, &r2l, &c_fwd, &c_bwd}) b->new_graph(cg, train);
    vector<Expression> x;
    for (size_t i = 0; i < s.words.size(); ++i) {
      c_fwd.start_new_sequence();
      c_bwd.start_new_sequence();
      for (int c : s.chars[i]) c_fwd.add_input(lookup(cg, p_c, c));
      for (auto c = s.chars[i].rbegin(); c != s.chars[i].rend(); ++c)
        c_bwd.add_input(lookup(cg, p_c, *c));
      vector<Expression> parts = {lookup(cg, p_w, s.words[i]), c_fwd.back(),
                                  c_bwd.final_h().back()};
      x.push_back(concatenate(parts));
    }
    Expression W_l = parameter(cg, p_l2th), W_r = parameter(cg, p_r2th);
    Expression b_h = parameter(cg, p_thbias);
    Expression W_t = parameter(cg, p_th2t), b_t = parameter(cg, p_tbias);
    l2r.start_new_sequence();
    r2l.start_new_sequence();
    vector<Expression> fwd, bwd(x.size()), errs;
    for (auto& e : x) fwd.push_back(l2r.add_input(e));
    for (size_t i = x.size(); i-- > 0;) bwd[i] = r2l.add_input(x[i]);
    for (size_t i = 0; i < x.size(); ++i) {
      Expression h = rectify(affine_transform({b_h, W_l, fwd[i], W_r, bwd[i]}));
      Expression scores = affine_transform({b_t, W_t, h});
      if (correct) {
        vector<float> v = as_vector(cg.incremental_forward(scores));
        if (max_element(v.begin(), v.end()) - v.begin() == s.tags[i]) ++*correct;
      }
      errs.push_back(pickneglogsoftmax(scores, s.tags[i]));
    }
    return sum(errs);
  }
};

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  vector<Sample> train, dev;
  for (int i = 0; i < 300; ++i) train.push_back(make_sample());
  wd.freeze();
  wd.set_unk("<unk>");
  cd.freeze();
  cd.set_unk("<unk>");
  td.freeze();
  for (int i = 0; i < 100; ++i) dev.push_back(make_sample());

  ParameterCollection m;
  AdamTrainer sgd(m, 0.01);
  sgd.clipping_enabled = true;
  Tagger tagger(m);
  for (int epoch = 0; epoch < 4; ++epoch) {
    double loss = 0;
    for (const Sample& s : train) {
      ComputationGraph cg;
      Expression e = tagger.build(cg, s, true, nullptr);
      loss += as_scalar(cg.forward(e));
      cg.backward(e);
      sgd.update();
    }
    sgd.status();
    cerr << "loss " << loss << endl;
  }
  unsigned correct = 0, total = 0;
  double loss = 0;
  for (const Sample& s : dev) {
    ComputationGraph cg;
    loss += as_scalar(tagger.build(cg, s, false, &correct).value());
    total += s.tags.size();
  }
  cout << "accuracy = " << double(correct) / total << endl;
  cout << "E = " << loss / total << endl;
}
