// Class-factored and hierarchical softmax.

#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/dict.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/layers/vocabulary/choice.h"
#include "dynet-like/layers/vocabulary/softmax_builder.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/softmax.h"

namespace dynet {
namespace {

using nn_detail::fail;
using Choices = std::vector<std::vector<int>>;

/// Reads a tree from a file. `parse` converts the words of a line to a path that ends with a word,
/// and returns null if the line has another form.
template <class Parse>
Choices read_tree(const char* who, const std::string& path, const char* form, Dict& dict,
                  Parse parse) {
  std::ifstream in(path);
  if (!in) throw FileError(std::string(who) + ": cannot open " + path);
  Choices tree(1);
  std::map<std::pair<int, std::string>, int> nodes;  // by parent and name
  std::set<std::string> seen;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const auto broken = [&](const std::string& why) {
      throw FileError(std::string(who) + ": " + path + ":" + std::to_string(number) + ": " + why);
    };
    std::istringstream words(line);
    std::vector<std::string> parts;
    for (std::string w; words >> w;) parts.push_back(w);
    if (parts.empty()) continue;
    if (!parse(parts)) broken(std::string("needs ") + form + ", got \"" + line + "\"");
    const std::string word = parts.back();
    if (!seen.insert(word).second) broken("the word " + word + " comes twice");
    if (dict.is_frozen() && !dict.contains(word)) continue;
    int node = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto [at, fresh] = nodes.try_emplace({node, parts[i]}, static_cast<int>(tree.size()));
      if (fresh) {
        tree[node].push_back(-at->second);
        tree.emplace_back();
      }
      node = at->second;
    }
    tree[node].push_back(dict.convert(word));
  }
  if (in.bad()) throw FileError(std::string(who) + ": cannot read " + path);
  if (tree[0].empty()) throw FileError(std::string(who) + ": " + path + " has no words");
  return tree;
}

TreeSoftmaxBuilder::Settings read_classes(unsigned rep_dim, const std::string& path, Dict& dict,
                                          bool bias) {
  Choices tree = read_tree("ClassFactoredSoftmaxBuilder", path, "CLASS word [frequency]", dict,
                           [](std::vector<std::string>& parts) {
                             if (parts.size() == 3) parts.pop_back();
                             return parts.size() == 2;
                           });
  return {rep_dim, bias, static_cast<unsigned>(dict.size()), std::move(tree)};
}

TreeSoftmaxBuilder::Settings read_paths(unsigned rep_dim, const std::string& path, Dict& dict) {
  Choices tree = read_tree("HierarchicalSoftmaxBuilder", path, "a path and a word", dict,
                           [](std::vector<std::string>& parts) { return parts.size() >= 2; });
  return {rep_dim, true, static_cast<unsigned>(dict.size()), std::move(tree)};
}

ParameterCollection add_collection(ParameterCollection& model, const char* name,
                                   const TreeSoftmaxBuilder::Settings& s) {
  const int nodes = static_cast<int>(s.choices.size()), words = static_cast<int>(s.words);
  const auto broken = [&](const std::string& why) {
    throw ArgumentError(std::string(name) + ": settings of " + std::to_string(nodes) +
                        " nodes and " + std::to_string(words) + " words are no tree: " + why);
  };
  if (nodes == 0) broken("there is no root");
  for (int node = 0; node < nodes; ++node) {
    if (s.choices[node].empty()) broken("node " + std::to_string(node) + " has no children");
    for (const int c : s.choices[node])  // children have larger numbers than parents: no cycles
      if (c >= 0 ? c >= words : -c >= nodes || -c <= node)
        broken("node " + std::to_string(node) + " has the child " + std::to_string(c));
  }
  return model.add_subcollection(name);
}

}  // namespace

TreeSoftmaxBuilder::TreeSoftmaxBuilder(ParameterCollection& model, const char* name,
                                       const Settings& s)
    : SoftmaxBuilder(add_collection(model, name, s)),
      settings_(s),
      w_(s.choices.size()),
      b_(s.choices.size()),
      paths_(s.words),
      known_(s.words) {
  for (std::size_t node = 0; node < s.choices.size(); ++node) {
    const auto n = static_cast<unsigned>(s.choices[node].size());
    if (n < 2) continue;
    w_[node] = collection_.add_parameters({n, s.rep_dim});
    if (s.bias) b_[node] = collection_.add_parameters({n}, ParameterInitConst(0.0f));
  }
  std::vector<Decision> path;
  find_paths(0, path);
}

void TreeSoftmaxBuilder::find_paths(unsigned node, std::vector<Decision>& path) {
  const std::vector<int>& choices = settings_.choices[node];
  for (unsigned k = 0; k < choices.size(); ++k) {
    if (choices.size() > 1) path.push_back({node, k});
    if (choices[k] < 0) {
      find_paths(static_cast<unsigned>(-choices[k]), path);
    } else {
      paths_[choices[k]] = path;
      known_[choices[k]] = true;
    }
    if (choices.size() > 1) path.pop_back();
  }
}

void TreeSoftmaxBuilder::need_graph(const char* who, SourceLocation at) const {
  if (!ready_) fail(who, "call new_graph first", at);
}

const std::vector<TreeSoftmaxBuilder::Decision>& TreeSoftmaxBuilder::path(const char* who,
                                                                          unsigned word,
                                                                          SourceLocation at) const {
  if (word >= known_.size() || !known_[word])
    fail(who, "word " + std::to_string(word) + " is in no cluster", at);
  return paths_[word];
}

void TreeSoftmaxBuilder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  const auto put = [&](const Parameter& p) {
    return p ? nn_detail::put(cg, p, update, at) : Expression();
  };
  std::vector<Expression> w_nodes, b_nodes;
  for (const Parameter& p : w_) w_nodes.push_back(put(p));
  for (const Parameter& p : b_) b_nodes.push_back(put(p));
  w_nodes_.swap(w_nodes);
  b_nodes_.swap(b_nodes);
  ready_ = true;
}

Expression TreeSoftmaxBuilder::logits(const char* who, unsigned node, const Expression& rep,
                                      SourceLocation at) const {
  need_graph(who, at);
  if (node >= settings_.choices.size())
    fail(who,
         "there is no class " + std::to_string(node) + " among " +
             std::to_string(settings_.choices.size()),
         at);
  const unsigned batch = rep.dim(at).batch_elems();
  if (settings_.choices[node].size() < 2)
    return zeros(*rep.pg, Dim({1}, batch), device_of(rep), at);
  if (!settings_.bias) return LocatedExpression(w_nodes_[node], at) * rep;
  return affine_transform({b_nodes_[node], w_nodes_[node], rep}, at);
}

// All decisions at one node are one batch. Their losses are concatenated in the order of the nodes;
// the losses of each word's path are picked level by level and added up.
Expression TreeSoftmaxBuilder::neg_log_softmax(const Expression& rep,
                                               const std::vector<unsigned>& words,
                                               SourceLocation at) {
  const char* who = "neg_log_softmax";
  need_graph(who, at);
  const unsigned batch = nn_detail::need_words(who, rep, words, at);
  struct Group {
    std::vector<unsigned> elements, choices;
    unsigned first = 0;  // index of its first loss in the concatenation
  };
  std::map<unsigned, Group> groups;
  std::vector<std::vector<unsigned>> indices(words.size());  // in the group, by word and level
  std::size_t levels = 0;
  for (unsigned b = 0; b < words.size(); ++b) {
    const std::vector<Decision>& decisions = path(who, words[b], at);
    levels = std::max(levels, decisions.size());
    for (const Decision& d : decisions) {
      Group& g = groups[d.node];
      indices[b].push_back(static_cast<unsigned>(g.elements.size()));
      g.elements.push_back(b);
      g.choices.push_back(d.choice);
    }
  }
  std::vector<Expression> losses;
  unsigned count = 0;
  for (auto& [node, g] : groups) {
    g.first = count;
    count += static_cast<unsigned>(g.elements.size());
    const bool all = batch == 1 || g.elements.size() == words.size();
    losses.push_back(nn_detail::choice_loss(
        logits(who, node, all ? rep : pick_batch_elems(rep, g.elements, at), at), g.choices, at));
  }
  losses.push_back(zeros(*rep.pg, {1}, device_of(rep), at));  // for words with shorter paths
  const Expression flat = concatenate_to_batch(losses, at);
  std::vector<Expression> terms;
  for (std::size_t level = 0; level < std::max<std::size_t>(levels, 1); ++level) {
    std::vector<unsigned> from;
    for (unsigned b = 0; b < words.size(); ++b) {
      const std::vector<Decision>& decisions = path(who, words[b], at);
      from.push_back(level < decisions.size()
                         ? groups[decisions[level].node].first + indices[b][level]
                         : count);
    }
    terms.push_back(pick_batch_elems(flat, from, at));
  }
  return terms.size() == 1 ? terms[0] : sum(terms, at);
}

unsigned TreeSoftmaxBuilder::sample(const Expression& rep, SourceLocation at) {
  need_graph("sample", at);
  for (unsigned node = 0;;) {
    const std::vector<int>& choices = settings_.choices[node];
    const int next = choices[choices.size() < 2
                                 ? 0
                                 : nn_detail::draw("sample", logits("sample", node, rep, at), at)];
    if (next >= 0) return static_cast<unsigned>(next);
    node = static_cast<unsigned>(-next);
  }
}

// Log-probabilities of the children of all nodes, concatenated; each word selects its own.
Expression TreeSoftmaxBuilder::all(const char* who, const Expression& rep, bool normalized,
                                   SourceLocation at) const {
  need_graph(who, at);
  const std::size_t nodes = settings_.choices.size();
  std::vector<Expression> pieces, of_node(nodes);  // log-probability of a node; empty for the root
  std::vector<unsigned> index(settings_.words);
  unsigned count = 0;
  for (unsigned node = 0; node < nodes; ++node) {
    const std::vector<int>& choices = settings_.choices[node];
    Expression scores = logits(who, node, rep, at);
    if (node > 0 || normalized) scores = log_softmax(scores, at);
    if (of_node[node].pg) scores = sum({scores, of_node[node]}, at);
    for (unsigned k = 0; k < choices.size(); ++k)
      if (choices[k] < 0)
        of_node[-choices[k]] = pick(scores, k, 0, at);
      else
        index[choices[k]] = count + k;
    count += static_cast<unsigned>(choices.size());
    pieces.push_back(scores);
  }
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  pieces.push_back(constant(*rep.pg, {1}, kNever, device_of(rep), at));
  for (std::size_t word = 0; word < index.size(); ++word)
    if (!known_[word]) index[word] = count;
  return select_rows(concatenate(pieces, 0, at), index, at);
}

Expression TreeSoftmaxBuilder::full_log_distribution(const Expression& rep, SourceLocation at) {
  return all("full_log_distribution", rep, true, at);
}

Expression TreeSoftmaxBuilder::full_logits(const Expression& rep, SourceLocation at) {
  return all("full_logits", rep, false, at);
}

ClassFactoredSoftmaxBuilder::ClassFactoredSoftmaxBuilder(unsigned rep_dim,
                                                         const std::string& cluster_file,
                                                         Dict& word_dict,
                                                         ParameterCollection& model, bool bias)
    : ClassFactoredSoftmaxBuilder(model, read_classes(rep_dim, cluster_file, word_dict, bias)) {}

ClassFactoredSoftmaxBuilder::ClassFactoredSoftmaxBuilder(ParameterCollection& model,
                                                         const Settings& s)
    : TreeSoftmaxBuilder(model, "class-factored-softmax-builder", s) {}

Expression ClassFactoredSoftmaxBuilder::class_logits(const Expression& rep, SourceLocation at) {
  return logits("class_logits", 0, rep, at);
}

Expression ClassFactoredSoftmaxBuilder::class_log_distribution(const Expression& rep,
                                                               SourceLocation at) {
  return log_softmax(logits("class_log_distribution", 0, rep, at), at);
}

Expression ClassFactoredSoftmaxBuilder::subclass_logits(const Expression& rep, unsigned clusteridx,
                                                        SourceLocation at) {
  return logits("subclass_logits", clusteridx + 1, rep, at);
}

Expression ClassFactoredSoftmaxBuilder::subclass_log_distribution(const Expression& rep,
                                                                  unsigned clusteridx,
                                                                  SourceLocation at) {
  return log_softmax(logits("subclass_log_distribution", clusteridx + 1, rep, at), at);
}

HierarchicalSoftmaxBuilder::HierarchicalSoftmaxBuilder(unsigned rep_dim,
                                                       const std::string& cluster_file,
                                                       Dict& word_dict, ParameterCollection& model)
    : HierarchicalSoftmaxBuilder(model, read_paths(rep_dim, cluster_file, word_dict)) {}

HierarchicalSoftmaxBuilder::HierarchicalSoftmaxBuilder(ParameterCollection& model,
                                                       const Settings& s)
    : TreeSoftmaxBuilder(model, "hierarchical-softmax-builder", s) {}

}  // namespace dynet
