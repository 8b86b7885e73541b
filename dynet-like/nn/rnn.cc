#include "dynet-like/nn/rnn.h"

#include <algorithm>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/noise.h"

namespace dynet {
namespace {

[[noreturn, gnu::cold]] void fail(const char* who, const std::string& rule, SourceLocation at) {
  throw ArgumentError(std::string(who) + ": " + rule + "\n  at " + to_string(at), at);
}

}  // namespace

RNNBuilder::RNNBuilder(unsigned components, unsigned layers, unsigned input_dim,
                       unsigned hidden_dim, ParameterCollection collection)
    : collection_(std::move(collection)),
      layers_(layers),
      input_dim_(input_dim),
      hidden_dim_(hidden_dim),
      components_(components) {
  if (layers == 0) throw ArgumentError("a recurrent network needs at least one layer, got 0");
}

void RNNBuilder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  graph_ = &cg;
  reading_ = false;
  has_masks_ = false;
  nodes_.clear();
  for (const Parameter& p : parameters_)
    nodes_.push_back(update ? parameter(cg, p, at) : const_parameter(cg, p, at));
}

void RNNBuilder::start_new_sequence(const std::vector<Expression>& h_0, SourceLocation at) {
  if (!graph_) fail("start_new_sequence", "call new_graph first", at);
  if (!h_0.empty() && h_0.size() != num_h0_components())
    fail("start_new_sequence",
         "the initial state has " + std::to_string(num_h0_components()) + " components, got " +
             std::to_string(h_0.size()),
         at);
  reading_ = true;
  has_masks_ = false;
  has_h0_ = !h_0.empty();
  h0_.assign(h_0.begin(), h_0.end());
  heads_.clear();
  states_.clear();
  current_ = RNNPointer();
}

void RNNBuilder::need_sequence(const char* who, SourceLocation at) const {
  if (!reading_) fail(who, "call new_graph and start_new_sequence first", at);
}

void RNNBuilder::need_step(const char* who, int t, SourceLocation at) const {
  need_sequence(who, at);
  if (t < -1 || t >= steps())
    fail(who,
         "there is no step " + std::to_string(t) + " in a sequence of " + std::to_string(steps()),
         at);
}

Expression RNNBuilder::add_input(const Expression& x, SourceLocation at) {
  return run_step(current_, x, "add_input", at);
}

Expression RNNBuilder::add_input(const RNNPointer& prev, const Expression& x, SourceLocation at) {
  return run_step(prev, x, "add_input", at);
}

RNNBuilder::LayerState RNNBuilder::previous(int t, unsigned layer) const {
  if (t < 0 && !has_h0_) return {{}, {}, true};
  const Expression* s = t < 0 ? h0_.data() : &states_[t * components_ * layers_];
  return {s[(components_ - 1) * layers_ + layer], s[layer], false};
}

Expression RNNBuilder::run_step(const RNNPointer& prev, const Expression& x, const char* who,
                                SourceLocation at) {
  need_step(who, prev, at);
  const std::size_t first = states_.size();
  if ((dropout_ > 0 || dropout_h_ > 0) && !has_masks_)
    set_dropout_masks(x.dim(at).batch_elems(), at);
  try {
    states_.resize(first + components_ * layers_);
    Expression in = x;
    for (unsigned l = 0; l < layers_; ++l) {
      LayerState s = previous(prev, l);
      if (dropout_ > 0) in = cmult(in, masks_[2 * l], at);
      if (dropout_h_ > 0 && !s.zero) s.h = cmult(s.h, masks_[2 * l + 1], at);
      step(l, in, s, at);
      states_[first + l] = s.c;
      states_[first + (components_ - 1) * layers_ + l] = s.h;
      in = s.h;
    }
  } catch (...) {  // the sequence is as before
    states_.resize(first);
    throw;
  }
  return finish_step(prev);
}

Expression RNNBuilder::finish_step(const RNNPointer& prev) {
  heads_.push_back(prev);
  current_ = RNNPointer(steps() - 1);
  return states_.back();
}

Expression RNNBuilder::set_h(const RNNPointer& prev, const std::vector<Expression>& h_new,
                             SourceLocation at) {
  need_step("set_h", prev, at);
  if (h_new.size() != layers_)
    fail("set_h",
         "needs one output for each of the " + std::to_string(layers_) + " layers, got " +
             std::to_string(h_new.size()),
         at);
  std::vector<Expression> s = h_new;
  if (components_ == 2) {
    s = get_s(prev, at);
    if (s.empty()) s.assign(2 * layers_, zeros(graph(at), {hidden_dim_}, at));
    std::copy(h_new.begin(), h_new.end(), s.begin() + layers_);
  }
  return set_s(prev, s, at);
}

Expression RNNBuilder::set_s(const RNNPointer& prev, const std::vector<Expression>& s_new,
                             SourceLocation at) {
  need_step("set_s", prev, at);
  if (s_new.size() != num_h0_components())
    fail("set_s",
         "the state has " + std::to_string(num_h0_components()) + " components, got " +
             std::to_string(s_new.size()),
         at);
  states_.insert(states_.end(), s_new.begin(), s_new.end());
  return finish_step(prev);
}

void RNNBuilder::rewind_one_step(SourceLocation at) {
  need_sequence("rewind_one_step", at);
  if (current_ < 0) fail("rewind_one_step", "there is no step to go back from", at);
  current_ = heads_[current_];
}

RNNPointer RNNBuilder::get_head(const RNNPointer& p, SourceLocation at) const {
  need_step("get_head", p, at);
  if (p < 0) fail("get_head", "the initial state follows no other", at);
  return heads_[p];
}

std::vector<Expression> RNNBuilder::get_s(const RNNPointer& p, SourceLocation at) const {
  need_step("get_s", p, at);
  if (p < 0) return h0_;
  const auto first = states_.begin() + p * static_cast<int>(components_ * layers_);
  return {first, first + components_ * layers_};
}

std::vector<Expression> RNNBuilder::get_h(const RNNPointer& p, SourceLocation at) const {
  std::vector<Expression> s = get_s(p, at);
  if (components_ == 2 && !s.empty()) s.erase(s.begin(), s.begin() + layers_);
  return s;
}

Expression RNNBuilder::back(SourceLocation at) const {
  need_sequence("back", at);
  if (current_ < 0 && !has_h0_) fail("back", "there is no step and no initial state", at);
  return current_ < 0 ? h0_.back() : states_[(current_ + 1) * components_ * layers_ - 1];
}

void RNNBuilder::set_dropout(float d, float d_h) {
  if (!(d >= 0 && d < 1) || !(d_h >= 0 && d_h < 1))
    throw ArgumentError("set_dropout: a rate must be at least 0 and below 1, got " +
                        std::to_string(d) + " and " + std::to_string(d_h));
  dropout_ = d;
  dropout_h_ = d_h;
  has_masks_ = false;
}

void RNNBuilder::set_dropout_masks(unsigned batch_size, SourceLocation at) {
  if (!graph_) fail("set_dropout_masks", "call new_graph first", at);
  masks_.assign(2 * layers_, {});
  for (unsigned l = 0; l < layers_; ++l) {
    const unsigned in = l == 0 ? input_dim_ : hidden_dim_;
    if (dropout_ > 0)
      masks_[2 * l] =
          random_bernoulli(graph(at), Dim({in}, batch_size), 1 - dropout_, 1 / (1 - dropout_), at);
    if (dropout_h_ > 0)
      masks_[2 * l + 1] = random_bernoulli(graph(at), Dim({hidden_dim_}, batch_size),
                                           1 - dropout_h_, 1 / (1 - dropout_h_), at);
  }
  has_masks_ = true;
}

void RNNBuilder::copy(const RNNBuilder& other) {
  if (other.parameters_.size() != parameters_.size())
    throw ArgumentError("copy: the builders have " + std::to_string(parameters_.size()) + " and " +
                        std::to_string(other.parameters_.size()) + " parameters");
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].dim() != other.parameters_[i].dim())
      throw ShapeError("copy: " + parameters_[i].get_fullname() + " is " +
                       to_string(parameters_[i].dim()) + " here and " +
                       to_string(other.parameters_[i].dim()) + " there");
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].set_value(as_vector(other.parameters_[i].values()));
}

SimpleRNNBuilder::SimpleRNNBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                                   ParameterCollection& model, bool support_lags)
    : RNNBuilder(1, layers, input_dim, hidden_dim, model.add_subcollection("simple-rnn-builder")),
      lags_(support_lags) {
  for (unsigned l = 0; l < layers; ++l) {
    parameters_.push_back(
        collection_.add_parameters({hidden_dim, l == 0 ? input_dim : hidden_dim}));
    parameters_.push_back(collection_.add_parameters({hidden_dim, hidden_dim}));
    parameters_.push_back(collection_.add_parameters({hidden_dim}, ParameterInitConst(0.0f)));
    if (lags_) parameters_.push_back(collection_.add_parameters({hidden_dim, hidden_dim}));
  }
}

Expression SimpleRNNBuilder::add_auxiliary_input(const Expression& x, const Expression& aux,
                                                 SourceLocation at) {
  if (!lags_) fail("add_auxiliary_input", "the builder was made without support_lags", at);
  aux_ = &aux;
  try {
    const Expression h = run_step(state(), x, "add_auxiliary_input", at);
    aux_ = nullptr;
    return h;
  } catch (...) {
    aux_ = nullptr;
    throw;
  }
}

void SimpleRNNBuilder::step(unsigned layer, const Expression& x, LayerState& state,
                            SourceLocation at) {
  Expression y = state.zero ? affine_transform({node(layer, 2), node(layer, 0), x}, at)
                            : affine_transform(
                                  {node(layer, 2), node(layer, 0), x, node(layer, 1), state.h}, at);
  if (aux_) y = affine_transform({y, node(layer, 3), *aux_}, at);
  state.h = state.c = tanh(y, at);
}

}  // namespace dynet
