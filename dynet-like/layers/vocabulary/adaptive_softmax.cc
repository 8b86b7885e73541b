#include "dynet-like/layers/vocabulary/adaptive_softmax.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/layers/vocabulary/choice.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/softmax.h"

namespace dynet {
namespace {

ParameterCollection add_collection(ParameterCollection& model,
                                   const AdaptiveSoftmaxBuilder::Settings& s) {
  const auto need = [](bool fine, const std::string& rule) {
    if (!fine) throw ArgumentError("AdaptiveSoftmaxBuilder: " + rule);
  };
  need(s.rep_dim > 0 && s.num_classes > 0, "needs a size and classes above zero, got " +
                                               std::to_string(s.rep_dim) + " and " +
                                               std::to_string(s.num_classes));
  unsigned last = 0;
  for (const unsigned cutoff : s.cutoffs) {
    need(cutoff > last && cutoff < s.num_classes,
         "cutoffs must rise from above zero to below the number of classes, got " +
             std::to_string(cutoff) + " behind " + std::to_string(last) + " for " +
             std::to_string(s.num_classes) + " classes");
    last = cutoff;
  }
  need(s.shrink >= 1 && std::isfinite(s.shrink),
       "shrink must be at least one and finite, got " + std::to_string(s.shrink));
  return model.add_subcollection("adaptive-softmax-builder");
}

}  // namespace

AdaptiveSoftmaxBuilder::AdaptiveSoftmaxBuilder(ParameterCollection& model, const Settings& s)
    : SoftmaxBuilder(add_collection(model, s)), settings_(s) {
  const auto clusters = static_cast<unsigned>(s.cutoffs.size());
  if (clusters > 0) tail_words_ = s.num_classes - s.cutoffs[0];
  head_ = Linear(collection_, {s.rep_dim, head_words() + clusters, s.bias});
  double size = s.rep_dim;
  for (unsigned i = 0; i < clusters; ++i) {
    size /= static_cast<double>(s.shrink);
    const unsigned reduced = std::max(1u, static_cast<unsigned>(size));
    Tail& tail = tails_.emplace_back();
    tail.first = s.cutoffs[i];
    tail.size = (i + 1 < clusters ? s.cutoffs[i + 1] : s.num_classes) - tail.first;
    tail.project = Linear(collection_, {s.rep_dim, reduced, false});
    tail.choose = Linear(collection_, {reduced, tail.size, false});
  }
}

void AdaptiveSoftmaxBuilder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  Linear head = head_;
  std::vector<Tail> tails = tails_;
  head.new_graph(cg, update, at);
  for (Tail& tail : tails) {
    tail.project.new_graph(cg, update, at);
    tail.choose.new_graph(cg, update, at);
  }
  head_ = head;  // only if nothing threw
  tails_.swap(tails);
  ready_ = true;
}

void AdaptiveSoftmaxBuilder::need_graph(const char* who, SourceLocation at) const {
  if (!ready_) nn_detail::fail(who, "call new_graph first", at);
}

std::size_t AdaptiveSoftmaxBuilder::cluster_of(unsigned word) const {
  const std::vector<unsigned>& cutoffs = settings_.cutoffs;
  const auto behind = std::upper_bound(cutoffs.begin(), cutoffs.end(), word) - cutoffs.begin();
  return behind == 0 ? cutoffs.size() : static_cast<std::size_t>(behind - 1);
}

Expression AdaptiveSoftmaxBuilder::tail_logits(const Tail& tail, const Expression& rep,
                                               SourceLocation at) const {
  return tail.choose.apply(tail.project.apply(rep, at), at);
}

Expression AdaptiveSoftmaxBuilder::neg_log_softmax(const Expression& rep,
                                                   const std::vector<unsigned>& words,
                                                   SourceLocation at) {
  const char* const who = "neg_log_softmax";
  need_graph(who, at);
  const unsigned batch = nn_detail::need_words(who, rep, words, at);
  struct Group {
    std::vector<unsigned> elements, choices;
  };
  std::map<std::size_t, Group> groups;  // by cluster
  std::vector<unsigned> choices;        // of the head
  for (unsigned b = 0; b < words.size(); ++b) {
    const unsigned word = words[b];
    if (word >= settings_.num_classes)
      nn_detail::fail(who,
                      "there is no word " + std::to_string(word) + " among " +
                          std::to_string(settings_.num_classes),
                      at);
    const std::size_t cluster = cluster_of(word);
    const bool frequent = cluster == tails_.size();
    choices.push_back(frequent ? word : head_words() + static_cast<unsigned>(cluster));
    if (frequent) continue;
    groups[cluster].elements.push_back(b);
    groups[cluster].choices.push_back(word - tails_[cluster].first);
  }
  const Expression head = nn_detail::choice_loss(head_.apply(rep, at), choices, at);
  if (groups.empty()) return head;
  // Losses of the tails, cluster by cluster, after a zero for the words of the head.
  std::vector<Expression> losses = {zeros(*rep.pg, {1}, device_of(rep), at)};
  std::vector<unsigned> from(words.size(), 0);
  unsigned count = 1;
  for (const auto& [cluster, g] : groups) {
    for (const unsigned b : g.elements) from[b] = count++;
    const bool all = batch == 1 || g.elements.size() == words.size();
    const Expression reps = all ? rep : pick_batch_elems(rep, g.elements, at);
    losses.push_back(nn_detail::choice_loss(tail_logits(tails_[cluster], reps, at), g.choices, at));
  }
  return sum({head, pick_batch_elems(concatenate_to_batch(losses, at), from, at)}, at);
}

unsigned AdaptiveSoftmaxBuilder::sample(const Expression& rep, SourceLocation at) {
  need_graph("sample", at);
  const unsigned choice = nn_detail::draw("sample", head_.apply(rep, at), at);
  if (choice < head_words()) return choice;
  const Tail& tail = tails_[choice - head_words()];
  return tail.first + nn_detail::draw("sample", tail_logits(tail, rep, at), at);
}

Expression AdaptiveSoftmaxBuilder::all(const Expression& rep, bool normalized,
                                       SourceLocation at) const {
  Expression head = head_.apply(rep, at);
  if (normalized) head = log_softmax(head, at);
  if (tails_.empty()) return head;
  std::vector<Expression> parts = {pick_range(head, 0, head_words(), 0, at)};
  for (std::size_t i = 0; i < tails_.size(); ++i) {
    const Expression cluster = pick(head, head_words() + static_cast<unsigned>(i), 0, at);
    parts.push_back(sum({log_softmax(tail_logits(tails_[i], rep, at), at), cluster}, at));
  }
  return concatenate(parts, 0, at);
}

Expression AdaptiveSoftmaxBuilder::full_log_distribution(const Expression& rep, SourceLocation at) {
  need_graph("full_log_distribution", at);
  return all(rep, true, at);
}

Expression AdaptiveSoftmaxBuilder::full_logits(const Expression& rep, SourceLocation at) {
  need_graph("full_logits", at);
  return all(rep, false, at);
}

}  // namespace dynet
