// A toolkit around DyNet: headers that only declare Model, a dictionary of its own, gradients
// changed through the storages between backward and update.

namespace dynet {  // what its headers say instead of including DyNet's
class Model;
struct Parameter;
}  // namespace dynet

struct Tagger;
Tagger* make_tagger(dynet::Model* model, unsigned words);

#include "dynet/dict.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/io.h"
#include "dynet/model.h"
#include "dynet/training.h"

using namespace dynet;
using namespace std;

// Counts words, and keeps those that are frequent.
class Vocabulary : public dynet::Dict {
 public:
  void count(const string& word) { ++counts[word]; }
  void close(unsigned least) {
    for (const auto& entry : counts)
      if (entry.second >= least) convert(entry.first);
    freeze();
    set_unk("<unk>");
  }
  bool is_unknown(const string& word) const { return d_.find(word) == d_.end() && map_unk; }
  size_t total() const { return words_.size(); }

 private:
  map<string, unsigned> counts;
};

struct Tagger {
  LookupParameter embeddings;
  Parameter w, b;
  Expression loss(ComputationGraph& cg, const vector<int>& words, unsigned tag) {
    vector<Expression> all;
    for (int word : words) all.push_back(lookup(cg, embeddings, (unsigned)word));
    Expression h = tanh(average(all));
    return pickneglogsoftmax(affine_transform({parameter(cg, b), parameter(cg, w), h}), tag);
  }
};

Tagger* make_tagger(dynet::Model* model, unsigned words) {
  return new Tagger{model->add_lookup_parameters(words, {8}), model->add_parameters({2, 8}),
                    model->add_parameters({2})};
}

// Limits each gradient by itself, and keeps the row of the unknown word as it is.
void change_gradients(Model& model, int unknown) {
  for (auto& p : model.get_storage().params) {
    const vector<float> g = as_vector(p->g);
    float norm = 0;
    for (float x : g) norm += x * x;
    norm = sqrt(norm);
    if (p->nonzero_grad && norm > 1) {
      vector<float> scaled;
      for (float x : g) scaled.push_back(x / norm);
      TensorTools::set_elements(p->g, scaled);
    }
  }
  for (auto& p : model.get_storage().lookup_params) {
    if (p->all_dim.size() != p->values.size() * p->dim.size()) throw runtime_error(p->name);
    if (p->non_zero_grads.count(unknown)) TensorTools::zero(p->grads[unknown]);
  }
}

int main(int argc, char** argv) {
  dynet::initialize(argc, argv);
  const vector<pair<string, unsigned>> data = {
      {"good fine day", 1},   {"bad sad day", 0},   {"fine good night", 1}, {"sad bad night", 0},
      {"good good rare1", 1}, {"bad sad rare2", 0}, {"fine fine night", 1}, {"sad sad day", 0}};
  Vocabulary vocabulary;
  for (const auto& sample : data) {
    istringstream in(sample.first);
    for (string word; in >> word;) vocabulary.count(word);
  }
  vocabulary.close(2);
  unsigned size = vocabulary.size();
  if (!vocabulary.is_unknown("rare1") || size != vocabulary.total()) return 1;

  Model model;
  unique_ptr<Tagger> tagger(make_tagger(&model, size));
  const int unknown = vocabulary.get_unk_id();
  const vector<float> before = as_vector(tagger->embeddings.get_storage().values[unknown]);
  MomentumSGDTrainer trainer(model);
  trainer.clipping_enabled = false;
  float total = 0;
  for (unsigned epoch = 0; epoch < 60; ++epoch) {
    total = 0;
    for (const auto& sample : data) {
      ComputationGraph cg;
      Expression loss = tagger->loss(cg, read_sentence(sample.first, vocabulary), sample.second);
      total += as_scalar(cg.forward(loss));
      cg.backward(loss);
      change_gradients(model, unknown);
      trainer.update();
    }
  }
  if (as_vector(tagger->embeddings.get_storage().values[unknown]) != before) return 1;
  // Files by the old names, declared with the model.
  save_dynet_model(argv[1], &model);
  Model other;
  unique_ptr<Tagger> again(make_tagger(&other, size));
  load_dynet_model(argv[1], &other);
  if (as_vector(again->w.get_storage().values) != as_vector(tagger->w.get_storage().values))
    return 1;
  cout << "loss = " << total / data.size() << endl;
  return 0;
}
