#include "recurrent.h"

namespace dynet::python {

void RnnBuilder::enter_graph(bool update) {
  ComputationGraph& cg = current_graph();
  if (cg.get_id() == graph_) return;
  builder_->new_graph(cg, update, here());
  builder_->start_new_sequence({}, here());
  graph_ = cg.get_id();
}

void RnnBuilder::need_graph(const char* who) const {
  if (graph_ == 0 || current_graph().get_id() != graph_)
    throw ArgumentError(
        std::string(who) + ": the builder is not in this graph, call initial_state first", here());
}

RNNBuilder& RnnState::builder(const char* who) const {
  auto& rnn = nb::cast<RnnBuilder&>(builder_);
  if (rnn.graph() != graph_)
    throw ArgumentError(
        std::string(who) + ": the state is of a graph that was renewed, call initial_state again",
        here());
  return *rnn;
}

RnnState RnnState::add_input(const Expression& x) const {
  RNNBuilder& rnn = builder("add_input");
  rnn.add_input(step_, x, here());
  return at(rnn);
}

RnnState RnnState::add_masked_input(const Expression& x, const Expression& mask) const {
  RNNBuilder& rnn = builder("add_masked_input");
  rnn.add_masked_input(step_, x, mask, here());
  return at(rnn);
}

std::vector<RnnState> RnnState::add_inputs(const Expressions& xs) const {
  RNNBuilder& rnn = builder("add_inputs");
  std::vector<RnnState> states;
  states.reserve(xs.size());
  RNNPointer step = step_;
  for (const Expression& x : xs) {
    rnn.add_input(step, x, here());
    states.push_back(at(rnn));
    step = rnn.state();
  }
  return states;
}

Expressions RnnState::transduce(const Expressions& xs) const {
  RNNBuilder& rnn = builder("transduce");
  Expressions outputs;
  outputs.reserve(xs.size());
  RNNPointer step = step_;
  for (const Expression& x : xs) {
    outputs.push_back(rnn.add_input(step, x, here()));
    step = rnn.state();
  }
  return outputs;
}

Expression RnnState::transduce_columns(const Expression& xs, bool reverse) const {
  return builder("transduce_columns").transduce_columns(step_, xs, reverse, here());
}

std::optional<Expression> RnnState::output() const {
  const Expressions outputs = h();
  if (outputs.empty()) return std::nullopt;
  return outputs.back();
}

Expressions RnnState::h() const { return builder("h").get_h(step_, here()); }
Expressions RnnState::s() const { return builder("s").get_s(step_, here()); }

RnnState RnnState::set_h(const Expressions& es) const {
  RNNBuilder& rnn = builder("set_h");
  rnn.set_h(step_, es, here());
  return at(rnn);
}

RnnState RnnState::set_s(const Expressions& es) const {
  RNNBuilder& rnn = builder("set_s");
  rnn.set_s(step_, es, here());
  return at(rnn);
}

std::optional<RnnState> RnnState::prev() const {
  RNNBuilder& rnn = builder("prev");
  if (step_ < 0) return std::nullopt;
  return RnnState(builder_, rnn.get_head(step_, here()), graph_);
}

}  // namespace dynet::python
