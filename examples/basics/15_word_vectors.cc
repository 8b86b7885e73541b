// Word vectors from a file, and models for other programs.
//
// load_word_vectors() copies the vectors of word2vec, GloVe or fastText into the rows of a lookup
// table, by the words of a dictionary. Its report lists the words that the file lacks. The table is
// an ordinary parameter: frozen by set_updated(false), or trained with the model.
//
// save_safetensors() writes the parameters of a collection by name, for PyTorch, JAX or any reader
// of that format: element (i, j) is element (i, j) there, a table of n rows of d values is an array
// of shape (n, d). load_safetensors() reads it. To resume a run, use save() instead (see 08), which
// also stores the trainer and the dictionary.
//
// The vectors here are invented: nearby vectors have similar meanings, as in vectors of real text.
// The classifier, trained on a few words, is therefore right about unseen words.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/contents.h"
#include "dynet-like/io/dict.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/word_vectors.h"

using namespace dynet;

namespace {

const char* const kVectors =  // text format of word2vec: words, dimension, then one line per word
    "8 3\n"
    "good 0.9 0.1 0.2\n"
    "great 1.0 0.2 0.1\n"
    "fine 0.8 0.0 0.3\n"
    "lovely 0.9 0.2 0.3\n"
    "bad -0.9 0.1 0.2\n"
    "awful -1.0 0.2 0.1\n"
    "poor -0.8 0.0 0.3\n"
    "dreadful -0.9 0.2 0.2\n";

struct Classifier {
  explicit Classifier(unsigned words)
      : table(model.add_lookup_parameters(words, {3}, "words")),
        W(model.add_parameters({2, 3}, "W")) {}
  Expression scores(ComputationGraph& cg, unsigned word) const {
    return parameter(cg, W) * lookup(cg, table, word);
  }
  ParameterCollection model;
  LookupParameter table;
  Parameter W;
};

}  // namespace

int main() {
  constexpr float kBound = 0.1f;  // bound of the mean loss of unseen words
  const std::string vectors = "15_vectors.txt", exported = "15_model.safetensors";
  std::ofstream(vectors) << kVectors;

  const Dict words(
      {"good", "bad", "great", "awful", "fine", "poor", "lovely", "dreadful", "zebra"});
  Classifier classifier(words.size());
  const VectorReport report = load_word_vectors(vectors, words, classifier.table);
  std::cout << report.found << " of " << words.size() << " words have a vector; missing:";
  for (const std::string& word : report.missing) std::cout << ' ' << word;
  std::cout << '\n';
  classifier.table.set_updated(false);

  SimpleSGDTrainer trainer(classifier.model, 0.5f);
  for (int step = 0; step < 200; ++step) {
    ComputationGraph cg;
    std::vector<Expression> losses;
    for (unsigned word = 0; word < 4; ++word)  // good and great are 0, bad and awful are 1
      losses.push_back(pickneglogsoftmax(classifier.scores(cg, word), word % 2));
    cg.backward(average(losses));
    trainer.update();
  }

  save_safetensors(exported, classifier.model);
  for (const NamedTensor& t : read_safetensors(exported)) {
    std::cout << t.name << ": " << type_name(t.type);
    for (const std::uint64_t n : t.shape) std::cout << ' ' << n;
    std::cout << '\n';
  }
  Classifier other(words.size());
  load_safetensors(exported, other.model);
  std::filesystem::remove(vectors), std::filesystem::remove(exported);

  ComputationGraph cg;
  std::vector<Expression> losses;
  for (unsigned word = 4; word < 8; ++word)
    losses.push_back(pickneglogsoftmax(other.scores(cg, word), word % 2));
  const float loss = as_scalar(average(losses).value());
  std::cout << "loss of words that were not trained on: " << loss << '\n';
  if (loss < kBound) return 0;
  std::cerr << "The loss is " << loss << ", which should be below " << kBound << ".\n";
  return 1;
}
