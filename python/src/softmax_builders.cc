#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "dynet-like/io/dict.h"
#include "recurrent.h"

namespace dynet::python {
namespace {

using namespace nb::literals;
using List = std::vector<std::int64_t>;
using Words = nb::typed<nb::dict, nb::str, int>;

/// Python wrapper of a softmax layer, which enters the current graph automatically.
class Softmax {
 public:
  explicit Softmax(std::unique_ptr<SoftmaxBuilder> builder) : builder_(std::move(builder)) {}

  SoftmaxBuilder& in_graph(bool update = true) {
    ComputationGraph& cg = current_graph();
    if (cg.get_id() != graph_ || update != update_) {
      builder_->new_graph(cg, update, here());
      graph_ = cg.get_id();
      update_ = update;
    }
    return *builder_;
  }
  SoftmaxBuilder& get() { return *builder_; }

 private:
  std::unique_ptr<SoftmaxBuilder> builder_;
  std::uint64_t graph_ = 0;
  bool update_ = true;
};

class StandardSoftmax : public Softmax {
 public:
  using Softmax::Softmax;
};

class ClassFactoredSoftmax : public Softmax {
 public:
  using Softmax::Softmax;
  ClassFactoredSoftmaxBuilder& classes(bool update) {
    return static_cast<ClassFactoredSoftmaxBuilder&>(in_graph(update));
  }
};

class HierarchicalSoftmax : public Softmax {
 public:
  using Softmax::Softmax;
};

unsigned index_of(const char* who, std::int64_t number) { return indices_of(who, {number})[0]; }

/// Words of a dictionary from words to 0, 1, 2, ... Throws ArgumentError for other numbers.
Dict words_of(const char* who, const Words& dic) {
  std::vector<std::string> words(dic.size());
  std::vector<bool> known(dic.size());
  for (const auto& [word, number] : dic) {
    const auto i = nb::cast<std::int64_t>(number);
    if (i < 0 || i >= static_cast<std::int64_t>(words.size()) || known[static_cast<std::size_t>(i)])
      throw ArgumentError(
          std::string(who) + ": the numbers of the words are not 0, 1, 2, ... each once", here());
    words[static_cast<std::size_t>(i)] = nb::cast<std::string>(word);
    known[static_cast<std::size_t>(i)] = true;
  }
  Dict result;
  for (const std::string& word : words) result.convert(word);
  return result;
}

/// Adds words of the file that are missing in the dictionary.
void add_words(Words& dic, const Dict& words) {
  const auto& all = words.get_words();
  for (std::size_t i = dic.size(); i < all.size(); ++i) dic[nb::cast(all[i])] = i;
}

void bind_softmax_base(nb::module_& m) {
  nb::class_<Softmax>(m, "SoftmaxBuilder",
                      "What gives words probabilities, from a vector {input_dim} or a batch.")
      .def(
          "neg_log_softmax",
          [](Softmax& s, const Expression& x, std::int64_t c, Flag update) {
            return s.in_graph(update).neg_log_softmax(x, index_of("neg_log_softmax", c), here());
          },
          "x"_a, "c"_a, "update"_a = true,
          "-log p(c): {1}. Without `update` the parameters get no gradient.")
      .def(
          "neg_log_softmax_batch",
          [](Softmax& s, const Expression& x, const List& c, Flag update) {
            return s.in_graph(update).neg_log_softmax(x, indices_of("neg_log_softmax_batch", c),
                                                      here());
          },
          "x"_a, "c"_a, "update"_a = true, "The same with a class for each batch element.")
      .def(
          "sample", [](Softmax& s, const Expression& x) { return s.in_graph().sample(x, here()); },
          "x"_a, "A class drawn with its probability.")
      .def(
          "full_log_distribution",
          [](Softmax& s, const Expression& x, Flag update) {
            return s.in_graph(update).full_log_distribution(x, here());
          },
          "x"_a, "update"_a = true, "log p of every class: {classes}.")
      .def(
          "full_logits",
          [](Softmax& s, const Expression& x, Flag update) {
            return s.in_graph(update).full_logits(x, here());
          },
          "x"_a, "update"_a = true,
          "Scores of which `full_log_distribution` is the log_softmax: {classes}.")
      .def(
          "param_collection", [](Softmax& s) { return s.get().get_parameter_collection(); },
          "The collection of its parameters.");
}

void bind_class_factored(nb::module_& m) {
  using C = ClassFactoredSoftmax;
  nb::class_<C, Softmax>(m, "ClassFactoredSoftmaxBuilder",
                         "p(word) = p(class) p(word | class) (Goodman 2001).")
      .def(
          "__init__",
          [](C* self, unsigned input_dim, const Path& file, Words dic, ParameterCollection pc,
             Flag bias) {
            Dict words = words_of("ClassFactoredSoftmaxBuilder", dic);
            new (self)
                C(std::make_unique<ClassFactoredSoftmaxBuilder>(input_dim, file, words, pc, bias));
            add_words(dic, words);
          },
          "input_dim"_a, "cluster_file"_a, "dic"_a, "pc"_a, "bias"_a = true,
          "Each line of the file is `CLASS word`; words that the dictionary `dic`, from words to\n"
          "numbers, does not have are added to it. OSError for another file.")
      .def(
          "class_log_distribution",
          [](C& s, const Expression& x, Flag update) {
            return s.classes(update).class_log_distribution(x, here());
          },
          "x"_a, "update"_a = true, "log p of every class, in the order of the file.")
      .def(
          "class_logits",
          [](C& s, const Expression& x, Flag update) {
            return s.classes(update).class_logits(x, here());
          },
          "x"_a, "update"_a = true, "Scores of classes.")
      .def(
          "subclass_log_distribution",
          [](C& s, const Expression& x, std::int64_t classid, Flag update) {
            return s.classes(update).subclass_log_distribution(
                x, index_of("subclass_log_distribution", classid), here());
          },
          "x"_a, "classid"_a, "update"_a = true, "log p of every word of a class.")
      .def(
          "subclass_logits",
          [](C& s, const Expression& x, std::int64_t classid, Flag update) {
            return s.classes(update).subclass_logits(x, index_of("subclass_logits", classid),
                                                     here());
          },
          "x"_a, "classid"_a, "update"_a = true, "Scores of the words of a class.");
}

}  // namespace

void bind_softmax_builders(nb::module_& m) {
  bind_softmax_base(m);
  nb::class_<StandardSoftmax, Softmax>(m, "StandardSoftmaxBuilder", "softmax(W x + b).")
      .def(
          "__init__",
          [](StandardSoftmax* self, unsigned input_dim, unsigned num_classes,
             ParameterCollection pc, Flag bias) {
            new (self) StandardSoftmax(
                std::make_unique<StandardSoftmaxBuilder>(input_dim, num_classes, pc, bias));
          },
          "input_dim"_a, "num_classes"_a, "pc"_a, "bias"_a = true);
  bind_class_factored(m);
  nb::class_<HierarchicalSoftmax, Softmax>(
      m, "HierarchicalSoftmaxBuilder",
      "The product of decisions along a path (Morin and Bengio 2005).")
      .def(
          "__init__",
          [](HierarchicalSoftmax* self, unsigned input_dim, const Path& file, Words dic,
             ParameterCollection pc) {
            Dict words = words_of("HierarchicalSoftmaxBuilder", dic);
            new (self) HierarchicalSoftmax(
                std::make_unique<HierarchicalSoftmaxBuilder>(input_dim, file, words, pc));
            add_words(dic, words);
          },
          "input_dim"_a, "cluster_file"_a, "dic"_a, "pc"_a,
          "Each line of the file is the path to a word, from the root, and then the word.");
}

}  // namespace dynet::python
