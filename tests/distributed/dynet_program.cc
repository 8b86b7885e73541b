// A program in DyNet's style, as a user of its mp.h writes it: a tagger of made-up sentences. The
// first argument is where its model goes.

#include <iostream>
#include <string>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/io.h"
#include "dynet/lstm.h"
#include "dynet/mp.h"
#include "dynet/training.h"

using namespace std;
using namespace dynet;
using namespace dynet::mp;

const unsigned WORDS = 40, TAGS = 5, DIM = 8;

struct Sentence {
  vector<unsigned> words, tags;
};

struct Loss {
  double sum = 0;
  unsigned words = 0;
  Loss& operator+=(const Loss& other) {
    sum += other.sum;
    words += other.words;
    return *this;
  }
  bool operator<(const Loss& other) const { return sum / words < other.sum / other.words; }
};
ostream& operator<<(ostream& out, const Loss& l) { return out << l.sum / max(l.words, 1u); }

class Tagger : public ILearner<Sentence, Loss> {
 public:
  Tagger(ParameterCollection& m, const string& f) : model(m), file(f), lstm(1, DIM, DIM, m) {
    embeddings = m.add_lookup_parameters(WORDS, {DIM});
    W = m.add_parameters({TAGS, DIM});
    b = m.add_parameters({TAGS});
  }
  Loss LearnFromDatum(const Sentence& sentence, bool learn) override {
    ComputationGraph cg;
    lstm.new_graph(cg);
    lstm.start_new_sequence();
    vector<Expression> losses;
    for (size_t i = 0; i < sentence.words.size(); ++i) {
      // Now and then a word is taken for another one.
      const unsigned word = learn && rand01() < 0.1f ? rand0n(WORDS) : sentence.words[i];
      Expression h = lstm.add_input(lookup(cg, embeddings, word));
      if (learn) h = dropout(h, 0.2f);
      losses.push_back(
          pickneglogsoftmax(parameter(cg, W) * h + parameter(cg, b), sentence.tags[i]));
    }
    Expression total = sum(losses);
    Loss loss;
    loss.sum = as_scalar(cg.forward(total));
    loss.words = static_cast<unsigned>(losses.size());
    if (learn) cg.backward(total);
    return loss;
  }
  void SaveModel() override {
    TextFileSaver saver(file);
    saver.save(model);
  }

 private:
  ParameterCollection& model;
  string file;
  VanillaLSTMBuilder lstm;
  LookupParameter embeddings;
  Parameter W, b;
};

int main(int argc, char** argv) {
  dynet::initialize(argc, argv, true);
  const string file = argv[1];
  vector<Sentence> train, dev;
  for (unsigned n = 0; n < 130; ++n) {
    Sentence s;
    for (unsigned i = 0, before = 0; i < 2 + n * n % 7; ++i) {
      const unsigned word = (n * 31 + i * i * 7 + n * i) % WORDS;
      s.words.push_back(word);
      s.tags.push_back((word + before) % TAGS);
      before = word;
    }
    (n < 110 ? train : dev).push_back(s);
  }
  ParameterCollection m;
  AdamTrainer trainer(m, 0.02f);
  Tagger tagger(m, file);
  run_single_process(&tagger, &trainer, train, dev, 6, 50, 40, 16);
  run_multi_process(8, &tagger, &trainer, train, dev, 1, 60, 60);
  const Loss all = run_mp_minibatch(4, &tagger, dev);
  cout << "E = " << all << endl;
  TextFileSaver(file + ".last").save(m);
}
