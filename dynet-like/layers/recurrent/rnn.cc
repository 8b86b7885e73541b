#include "dynet-like/layers/recurrent/rnn.h"

#include <algorithm>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/noise.h"
#include "dynet-like/ops/selection.h"

namespace dynet {
using nn_detail::fail;

namespace {

template <class T>
void make_room_for_one(std::vector<T>& v) {
  if (v.size() == v.capacity()) v.reserve(std::max<std::size_t>(8, 2 * v.size()));
}

// Multiplies by a mask of equal size; broadcasting a single number would hide a wrong size.
Expression masked(const Expression& v, const Expression& mask, const char* what,
                  SourceLocation at) {
  const Dim d = v.dim(at), m = mask.dim(at);
  if (d.rank() > 2 || d.rows() != m.rows())
    throw ShapeError("dropout of a recurrent network: the " + std::string(what) + " must be " +
                         to_string(m.single_batch()) + ", got " + to_string(d) + "\n  at " +
                         to_string(at),
                     at);
  return cmult(v, mask, at);
}

}  // namespace

RNNBuilder::RNNBuilder(unsigned components, unsigned layers, unsigned input_dim,
                       unsigned hidden_dim, ParameterCollection collection, bool deep)
    : collection_(std::move(collection)),
      layers_(layers),
      input_dim_(input_dim),
      hidden_dim_(hidden_dim),
      deep_(deep),
      components_(components) {
  if (layers == 0) throw ArgumentError("a recurrent network needs at least one layer, got 0");
}

void RNNBuilder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  if (layers_ == 0) fail("new_graph", "the builder was made without arguments and is empty", at);
  add_nodes(cg, params, update, spare_vars_, at);
  prepare_graph(cg, update, spare_vars_, at);
  param_vars.swap(spare_vars_);
  graph_ = &cg;
  reading_ = false;
  has_masks_ = false;
}

void RNNBuilder::add_nodes(ComputationGraph& cg,
                           const std::vector<std::vector<Parameter>>& parameters, bool update,
                           Nodes& nodes, SourceLocation at) {
  nodes.resize(parameters.size());
  for (std::size_t l = 0; l < parameters.size(); ++l) {
    nodes[l].clear();
    for (const Parameter& p : parameters[l])
      nodes[l].push_back(nn_detail::put(cg, p, update && p.is_updated(), at));
  }
}

Parameter RNNBuilder::add(const Dim& d) {
  return params.back().emplace_back(collection_.add_parameters(d));
}

Parameter RNNBuilder::add(const Dim& d, float value) {
  return params.back().emplace_back(collection_.add_parameters(d, ParameterInitConst(value)));
}

void RNNBuilder::start_new_sequence(const std::vector<Expression>& h_0, SourceLocation at) {
  if (!graph_) fail("start_new_sequence", "call new_graph first", at);
  if (!h_0.empty() && h_0.size() != num_h0_components())
    fail("start_new_sequence",
         "the initial state has " + std::to_string(num_h0_components()) + " components, got " +
             std::to_string(h_0.size()),
         at);
  spare_ = h_0;
  h0_.swap(spare_);
  reading_ = true;
  has_masks_ = false;
  has_h0_ = !h_0.empty();
  heads_.clear();
  columns_.clear();
  states_.clear();
  outputs_.clear();
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
  return run_step(current_, x, nullptr, "add_input", at);
}

Expression RNNBuilder::add_input(const RNNPointer& prev, const Expression& x, SourceLocation at) {
  return run_step(prev, x, nullptr, "add_input", at);
}

Expression RNNBuilder::add_masked_input(const Expression& x, const Expression& mask,
                                        SourceLocation at) {
  return run_step(current_, x, &mask, "add_masked_input", at);
}

Expression RNNBuilder::add_masked_input(const RNNPointer& prev, const Expression& x,
                                        const Expression& mask, SourceLocation at) {
  return run_step(prev, x, &mask, "add_masked_input", at);
}

unsigned RNNBuilder::layer_input_dim(unsigned layer) const {
  return layer == 0 ? input_dim_ : hidden_dim_ + (deep_ ? input_dim_ : 0);
}

// An expression of step t, which may be a column of a matrix.
Expression RNNBuilder::at_step(int t, const Expression& e, SourceLocation at) const {
  return columns_[t] < 0 ? e : pick(e, static_cast<unsigned>(columns_[t]), 1, at);
}

RNNBuilder::LayerState RNNBuilder::previous(int t, unsigned layer, SourceLocation at) const {
  if (t < 0 && !has_h0_) return {{}, {}, true};
  const Expression* s = t < 0 ? h0_.data() : &states_[t * components_ * layers_];
  const Expression &h = s[(components_ - 1) * layers_ + layer], &c = s[layer];
  if (t < 0) return {h, c, false};
  return {at_step(t, h, at), components_ == 2 ? at_step(t, c, at) : c, false};
}

Expression RNNBuilder::run_step(const RNNPointer& prev, const Expression& x, const Expression* mask,
                                const char* who, SourceLocation at) {
  need_step(who, prev, at);
  if (mask && mask->dim(at).size() != mask->dim(at).batch_elems())
    fail(who, "the mask needs one number for each batch element, got " + to_string(mask->dim(at)),
         at);
  const std::size_t first = states_.size();
  const bool drops = dropout_ > 0 || dropout_h_ > 0 || dropout_c_ > 0;
  const bool had_masks = has_masks_;
  try {
    if (drops && !has_masks_) set_dropout_masks(x.dim(at).batch_elems(), at);
    states_.resize(first + components_ * layers_);
    Expression in = x, stays;
    if (mask) stays = 1.0f - LocatedExpression(*mask, at);
    for (unsigned l = 0; l < layers_; ++l) {
      LayerState s = previous(prev, l, at);
      if (deep_ && l > 0) in = concatenate({in, x}, 0, at);
      if (drops) drop(l, in, s, at);
      step(l, in, s, at);
      if (mask) hold(*mask, stays, previous(prev, l, at), s, at);
      states_[first + l] = s.c;
      states_[first + (components_ - 1) * layers_ + l] = s.h;
      in = s.h;
    }
    return finish_step(prev, at);
  } catch (...) {  // restores the sequence
    states_.resize(first);
    has_masks_ = had_masks;
    throw;
  }
}

void RNNBuilder::drop(unsigned layer, Expression& x, LayerState& s, SourceLocation at) const {
  const Expression* masks = &masks_[3 * layer];
  if (dropout_ > 0) x = masked(x, masks[0], "input", at);
  if (dropout_h_ > 0 && !s.zero) s.h = masked(s.h, masks[1], "output", at);
  if (dropout_c_ > 0 && !s.zero) s.c = masked(s.c, masks[2], "cell", at);
}

// Replaces the new state by the previous one where the mask is zero.
void RNNBuilder::hold(const Expression& mask, const Expression& stays, const LayerState& before,
                      LayerState& s, SourceLocation at) const {
  const auto choose = [&](const Expression& now, const Expression& then) {
    const Expression moved = cmult(now, mask, at);
    return before.zero ? moved : sum({moved, cmult(then, stays, at)}, at);
  };
  s.h = choose(s.h, before.h);
  s.c = components_ == 2 ? choose(s.c, before.c) : s.h;
}

Expression RNNBuilder::output_of(const Expression* h, SourceLocation at) const {
  return deep_ ? concatenate(std::vector<Expression>(h, h + layers_), 0, at) : h[layers_ - 1];
}

// Makes the last elements of `states_` a step.
Expression RNNBuilder::finish_step(const RNNPointer& prev, SourceLocation at, int column) {
  const Expression output = output_of(&states_[states_.size() - layers_], at);
  make_room_for_one(outputs_);
  make_room_for_one(heads_);
  make_room_for_one(columns_);
  outputs_.push_back(output);
  columns_.push_back(column);
  heads_.push_back(prev);
  current_ = RNNPointer(steps() - 1);
  return outputs_.back();
}

Expression RNNBuilder::transduce_columns(const Expression& xs, bool reverse, SourceLocation at) {
  return transduce_columns(current_, xs, reverse, at);
}

Expression RNNBuilder::transduce_columns(const RNNPointer& prev, const Expression& xs, bool reverse,
                                         SourceLocation at) {
  need_step("transduce_columns", prev, at);
  const Dim d = xs.dim(at);
  if (d.rank() > 2 || d.rows() != input_dim_)
    fail("transduce_columns",
         "needs a matrix with " + std::to_string(input_dim_) + " rows, got " + to_string(d), at);
  if (d.cols() == 0)
    return zeros(graph(at), Dim({hidden_dim_ * (deep_ ? layers_ : 1), 0}, d.bd), device(), at);
  const RNNPointer current = current_;
  const std::size_t steps = heads_.size(), states = states_.size();
  const bool had_masks = has_masks_;
  try {
    return has_sequences() && fits(prev, d.bd, at) ? read_sequence(prev, xs, reverse, at)
                                                   : read_columns(prev, xs, reverse, at);
  } catch (...) {
    heads_.resize(steps);
    columns_.resize(steps);
    outputs_.resize(steps);
    states_.resize(states);
    has_masks_ = had_masks;
    current_ = current;
    throw;
  }
}

// Whether a state has no other batch than the columns.
bool RNNBuilder::fits(RNNPointer prev, unsigned batch, SourceLocation at) const {
  if (prev < 0 && !has_h0_) return true;
  const Expression* const s = prev < 0 ? h0_.data() : &states_[prev * components_ * layers_];
  for (unsigned k = 0; k < components_ * layers_; ++k)
    if (const unsigned bd = s[k].dim(at).bd; bd != 1 && bd != batch) return false;
  return true;
}

// One layer after the other.
Expression RNNBuilder::read_sequence(RNNPointer prev, const Expression& xs, bool reverse,
                                     SourceLocation at) {
  const Dim d = xs.dim(at);
  if (dropout_ > 0 && !has_masks_) set_dropout_masks(d.bd, at);
  const std::size_t first = states_.size();
  states_.resize(first + components_ * layers_);
  Expression in = xs;
  for (unsigned l = 0; l < layers_; ++l) {
    LayerState s = previous(prev, l, at);
    if (dropout_ > 0) in = masked(in, masks_[3 * l], "input", at);
    sequence(l, in, reverse, s, at);
    states_[first + l] = s.c;
    states_[first + (components_ - 1) * layers_ + l] = s.h;
    in = s.h;
  }
  return finish_step(prev, at, reverse ? 0 : static_cast<int>(d.cols()) - 1);
}

// One column after the other, whose steps become one.
Expression RNNBuilder::read_columns(RNNPointer prev, const Expression& xs, bool reverse,
                                    SourceLocation at) {
  const std::size_t steps = heads_.size(), states = states_.size();
  std::vector<Expression> outputs(xs.dim(at).cols());
  for (std::size_t step = 0; step < outputs.size(); ++step) {
    const std::size_t t = reverse ? outputs.size() - 1 - step : step;
    outputs[t] = run_step(step == 0 ? prev : current_, pick(xs, static_cast<unsigned>(t), 1, at),
                          nullptr, "transduce_columns", at);
  }
  const std::vector<Expression> last = get_s(current_, at);
  std::copy(last.begin(), last.end(), states_.begin() + static_cast<std::ptrdiff_t>(states));
  states_.resize(states + last.size());
  outputs_[steps] = outputs_.back();
  outputs_.resize(steps + 1);
  columns_.resize(steps + 1);
  heads_.resize(steps + 1);
  heads_[steps] = prev;
  current_ = RNNPointer(static_cast<int>(steps));
  return concatenate_cols(outputs, at);
}

Expression RNNBuilder::set_h(const RNNPointer& prev, const std::vector<Expression>& h_new,
                             SourceLocation at) {
  need_step("set_h", prev, at);
  if (h_new.size() != layers_)
    fail("set_h",
         "needs one output for each of the " + std::to_string(layers_) + " layers, got " +
             std::to_string(h_new.size()),
         at);
  return set_s(prev, components_ == 2 ? replaced(prev, h_new, layers_, at) : h_new, at);
}

std::vector<Expression> RNNBuilder::replaced(const RNNPointer& prev,
                                             const std::vector<Expression>& part, unsigned first,
                                             SourceLocation at) const {
  std::vector<Expression> s = get_s(prev, at);
  if (s.empty()) s.assign(2 * layers_, zeros(graph(at), {hidden_dim_}, device(), at));
  std::copy(part.begin(), part.end(), s.begin() + first);
  return s;
}

Expression RNNBuilder::set_s(const RNNPointer& prev, const std::vector<Expression>& s_new,
                             SourceLocation at) {
  need_step("set_s", prev, at);
  if (components_ == 2 && s_new.size() == layers_)
    return set_s(prev, replaced(prev, s_new, 0, at), at);
  if (s_new.size() != num_h0_components())
    fail("set_s",
         "the state has " + std::to_string(num_h0_components()) + " components, got " +
             std::to_string(s_new.size()),
         at);
  for (const Expression& e : s_new) e.dim(at);  // throws if the expression is stale
  states_.insert(states_.end(), s_new.begin(), s_new.end());
  try {
    return finish_step(prev, at);
  } catch (...) {
    states_.resize(states_.size() - s_new.size());
    throw;
  }
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
  std::vector<Expression> s(first, first + components_ * layers_);
  for (Expression& e : s) e = at_step(p, e, at);
  return s;
}

std::vector<Expression> RNNBuilder::get_h(const RNNPointer& p, SourceLocation at) const {
  std::vector<Expression> s = get_s(p, at);
  if (components_ == 2 && !s.empty()) s.erase(s.begin(), s.begin() + layers_);
  return s;
}

Expression RNNBuilder::back(SourceLocation at) const {
  need_sequence("back", at);
  if (current_ < 0 && !has_h0_) fail("back", "there is no step and no initial state", at);
  return current_ < 0 ? output_of(&h0_[h0_.size() - layers_], at)
                      : at_step(current_, outputs_[current_], at);
}

void RNNBuilder::set_dropout(float d, float d_h) { set_dropout_rates(d, d_h, 0.0f); }

void RNNBuilder::set_dropout_rates(float d, float d_h, float d_c) {
  for (const float rate : {d, d_h, d_c}) nn_detail::checked_rate(rate);
  dropout_ = d;
  dropout_h_ = d_h;
  dropout_c_ = d_c;
  has_masks_ = false;
}

void RNNBuilder::set_dropout_masks(unsigned batch_size, SourceLocation at) {
  if (!graph_) fail("set_dropout_masks", "call new_graph first", at);
  if (batch_size == 0) fail("set_dropout_masks", "the batch size must be at least 1, got 0", at);
  draw_masks(batch_size, at);
  masks_.swap(spare_);
  has_masks_ = true;
}

void RNNBuilder::draw_masks(unsigned batch_size, SourceLocation at) {
  spare_.assign(3 * layers_, Expression());
  const auto draw = [&](unsigned n, float rate) {
    return random_bernoulli(graph(at), Dim({n}, batch_size), 1 - rate, 1 / (1 - rate), device(),
                            at);
  };
  for (unsigned l = 0; l < layers_; ++l) {
    if (dropout_ > 0) spare_[3 * l] = draw(layer_input_dim(l), dropout_);
    if (dropout_h_ > 0) spare_[3 * l + 1] = draw(hidden_dim_, dropout_h_);
    if (dropout_c_ > 0) spare_[3 * l + 2] = draw(hidden_dim_, dropout_c_);
  }
}

void RNNBuilder::copy(const RNNBuilder& other) {
  nn_detail::copy_values(other.collection_.parameters_list(), collection_.parameters_list());
}

SimpleRNNBuilder::SimpleRNNBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                                   ParameterCollection& model, bool support_lags)
    : RNNBuilder(
          1, layers, input_dim, hidden_dim,
          nn_detail::add_collection(model, "simple-rnn-builder", layers, input_dim, hidden_dim)),
      lags_(support_lags) {
  for (unsigned l = 0; l < layers; ++l) {
    params.emplace_back();
    add({hidden_dim, layer_input_dim(l)});
    add({hidden_dim, hidden_dim});
    add({hidden_dim}, 0.0f);
    if (lags_) add({hidden_dim, hidden_dim});
  }
}

Expression SimpleRNNBuilder::add_auxiliary_input(const Expression& x, const Expression& aux,
                                                 SourceLocation at) {
  if (!lags_) fail("add_auxiliary_input", "the builder was made without support_lags", at);
  aux_ = &aux;
  try {
    const Expression h = run_step(state(), x, nullptr, "add_auxiliary_input", at);
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
