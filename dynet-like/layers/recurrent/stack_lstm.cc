#include "dynet-like/layers/recurrent/stack_lstm.h"

#include <algorithm>

namespace dynet {

RNNStack::RNNStack(std::unique_ptr<RNNBuilder> network, const Expression& bottom, SourceLocation at)
    : steps_(std::make_shared<Steps>()) {
  steps_->network = std::move(network);
  steps_->network->start_new_sequence({}, at);
  step(bottom, at);
}

void RNNStack::need_graph(const char* who, SourceLocation at) const {
  if (!steps_) nn_detail::fail(who, "the stack has no graph: a StackRNN starts one", at);
}

void RNNStack::step(const Expression& x, SourceLocation at) {
  std::vector<Expression>& outputs = steps_->outputs;
  if (outputs.size() == outputs.capacity())  // before the step, which cannot be undone
    outputs.reserve(std::max<std::size_t>(8, 2 * outputs.size()));
  outputs.push_back(steps_->network->add_input(top_, x, at));
  top_ = steps_->network->state();
}

void RNNStack::push(const Expression& x, SourceLocation at) {
  need_graph("push", at);
  step(x, at);
  ++size_;
}

void RNNStack::pop(SourceLocation at) {
  need_graph("pop", at);
  if (empty()) nn_detail::fail("pop", "the stack is empty", at);
  top_ = steps_->network->get_head(top_, at);
  --size_;
}

Expression RNNStack::top(SourceLocation at) const {
  need_graph("top", at);
  return steps_->outputs[static_cast<std::size_t>(top_.t)];
}

}  // namespace dynet
