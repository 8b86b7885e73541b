#include "tests/ops/mistakes.h"

// Mistakes with the builders and trainers that are made of operations.

namespace dynet::test {
namespace {

/// A bench with builders at every stage.
struct Builders : Bench {
  ParameterCollection pc;
  LSTMBuilder empty, fresh{1, 2, 2, pc}, ready{1, 2, 2, pc}, reading{1, 2, 2, pc};
  LSTMBuilder moved{1, 2, 2, pc};  // into another graph, without a sequence
  LSTMBuilder deeper{2, 2, 2, pc};
  SimpleRNNBuilder simple{1, 2, 2, pc};
  SparseLSTMBuilder sparse{1, 2, 2, pc};
  GRUBuilder gru{1, 2, 2, pc};
  ChildSumTreeLSTMBuilder no_tree, fresh_tree{1, 2, 2, pc}, tree{1, 2, 2, pc};
  NaryTreeLSTMBuilder pairs{2, 1, 2, 2, pc};
  BiRNNBuilder<LSTMBuilder> fresh_both{1, 2, 2, pc}, both{1, 2, 2, pc};
  C2WBuilder fresh_word{5, 1, 2, 2, pc}, word{5, 1, 2, 2, pc};
  StandardSoftmaxBuilder fresh_softmax{2, 3, pc}, softmax{2, 3, pc};
  ParameterCollection trained, stranger;
  Parameter own = trained.add_parameters({2}), strange = stranger.add_parameters({2});
  SimpleSGDTrainer trainer{trained}, swapped{trained}, averaging{trained};

  Builders() {
    for (RNNBuilder* each : std::vector<RNNBuilder*>{&ready, &reading, &simple, &gru})
      each->new_graph(g);
    for (RNNBuilder* each : std::vector<RNNBuilder*>{&reading, &simple, &gru})
      each->start_new_sequence();
    for (int k = 0; k < 2; ++k) {
      moved.new_graph(g);
      if (k == 0) moved.start_new_sequence();
    }
    for (TreeLSTMBuilder* each : std::vector<TreeLSTMBuilder*>{&tree, &pairs}) {
      each->new_graph(g);
      each->start_new_sequence();
    }
    tree.set_num_elements(3);
    tree.add_input(0, {}, x);
    pairs.add_input(0, {}, x);
    both.new_graph(g);
    word.new_graph(g);
    softmax.new_graph(g);
    swapped.exponential_moving_average(0.5f);
    swapped.update();
    swapped.swap_params_to_moving_average();
    averaging.exponential_moving_average(0.5f);
  }

  std::vector<Mistake> sequence_mistakes(), tree_mistakes(), trainer_mistakes();
};

#define REFUSED(EXPRESSION, RULE) WRONG(ArgumentError, EXPRESSION, "", RULE)

std::vector<Mistake> Builders::sequence_mistakes() {
  using P = RNNPointer;
  const std::string is_empty = "the builder was made without arguments and is empty";
  const std::string no_graph = "call new_graph first";
  const std::string no_sequence = "call new_graph and start_new_sequence first";
  return {
      REFUSED(empty.new_graph(g), "new_graph: " + is_empty),
      REFUSED(fresh.start_new_sequence(), "start_new_sequence: " + no_graph),
      REFUSED(fresh.set_dropout_masks(1), "set_dropout_masks: " + no_graph),
      REFUSED(fresh.add_input(x), "add_input: " + no_sequence),
      REFUSED(ready.add_input(x), "add_input: " + no_sequence),
      REFUSED(ready.add_input(P(-1), x), "add_input: " + no_sequence),
      REFUSED(ready.add_masked_input(x, x), "add_masked_input: " + no_sequence),
      REFUSED(ready.set_h(P(-1), {x}), "set_h: " + no_sequence),
      REFUSED(ready.set_s(P(-1), {x}), "set_s: " + no_sequence),
      REFUSED(ready.rewind_one_step(), "rewind_one_step: " + no_sequence),
      REFUSED(ready.get_head(P(0)), "get_head: " + no_sequence),
      REFUSED(ready.get_h(P(0)), "get_s: " + no_sequence),
      REFUSED(ready.final_s(), "get_s: " + no_sequence),
      REFUSED(ready.back(), "back: " + no_sequence),
      REFUSED(ready.final_h(), "get_s: " + no_sequence),
      REFUSED(moved.add_input(x), "add_input: " + no_sequence),
      REFUSED(moved.back(), "back: " + no_sequence),
      REFUSED(ready.start_new_sequence({x}),
              "start_new_sequence: the initial state has 2 components, got 1"),
      REFUSED(gru.start_new_sequence({x, x}),
              "start_new_sequence: the initial state has 1 components, got 2"),
      REFUSED(reading.add_input(P(3), x), "add_input: there is no step 3 in a sequence of 0"),
      REFUSED(reading.add_input(P(-2), x), "add_input: there is no step -2 in a sequence of 0"),
      REFUSED(reading.add_masked_input(P(0), x, x),
              "add_masked_input: there is no step 0 in a sequence of 0"),
      REFUSED(reading.add_masked_input(x, y),
              "add_masked_input: the mask needs one number for each batch element, got {3}"),
      REFUSED(reading.back(), "back: there is no step and no initial state"),
      REFUSED(reading.rewind_one_step(), "rewind_one_step: there is no step to go back from"),
      REFUSED(reading.get_head(P(-1)), "get_head: the initial state follows no other"),
      REFUSED(reading.get_h(P(0)), "get_s: there is no step 0 in a sequence of 0"),
      REFUSED(reading.set_h(P(-1), {}), "set_h: needs one output for each of the 1 layers, got 0"),
      REFUSED(reading.set_s(P(-1), {x, x, x}), "set_s: the state has 2 components, got 3"),
      REFUSED(simple.add_auxiliary_input(x, x),
              "add_auxiliary_input: the builder was made without support_lags"),
      MISTAKE(ArgumentError, ready.set_dropout(1.0f),
              "set_dropout: a rate must be at least 0 and below 1, got 1.000000"),
      MISTAKE(ArgumentError, gru.set_dropout(0.0f, -0.5f),
              "set_dropout: a rate must be at least 0 and below 1, got -0.500000"),
      MISTAKE(
          ArgumentError, ready.set_weightnoise(-1),
          "set_weightnoise: a standard deviation must be finite and not negative, got -1.000000"),
      MISTAKE(ArgumentError, sparse.set_sparsity(101),
              "set_sparsity: needs 0 <= percent <= 100, got 101.000000"),
      MISTAKE(ArgumentError, LSTMBuilder(0, 2, 2, pc),
              "a recurrent network needs at least one layer, got 0"),
      MISTAKE(ArgumentError, GRUBuilder(0, 2, 2, pc),
              "a recurrent network needs at least one layer, got 0"),
      MISTAKE(ArgumentError, fresh.copy(deeper), "copy: the builders have 3 and 6 parameters"),
      MISTAKE(ArgumentError, BiRNNBuilder<LSTMBuilder>(1, 2, 3, pc),
              "BiRNNBuilder: needs a layer and an even hidden size, got 1 and 3"),
      REFUSED(fresh_both.transduce({x}), "transduce: " + no_graph),
      REFUSED(both.transduce({x}, {x, x}),
              "transduce: needs a mask for each of the 1 inputs, or none, got 2"),
      REFUSED(fresh_word.compose({1}), "compose: " + no_graph),
      REFUSED(word.compose({}), "compose: a word needs a character"),
      MISTAKE(ArgumentError, C2WBuilder(5, 0, 2, 2, pc),
              "C2WBuilder: needs a layer and an even hidden size, got 0 and 2"),
      REFUSED(fresh_softmax.full_logits(x), "full_logits: " + no_graph),
  };
}

std::vector<Mistake> Builders::tree_mistakes() {
  const std::string no_sequence = "call new_graph and start_new_sequence first";
  return {
      REFUSED(no_tree.new_graph(g),
              "new_graph: the builder was made without arguments and is empty"),
      REFUSED(fresh_tree.start_new_sequence(), "start_new_sequence: call new_graph first"),
      REFUSED(fresh_tree.add_input(0, {}, x), "add_input: " + no_sequence),
      REFUSED(fresh_tree.back(), "back: " + no_sequence),
      MISTAKE(ArgumentError, tree.set_num_elements(-1),
              "set_num_elements: needs a number of nodes, got -1"),
      REFUSED(tree.add_input(3, {}, x), "add_input: there is no node 3 in a tree of 3"),
      REFUSED(tree.add_input(-1, {}, x), "add_input: there is no node -1 in a tree of 3"),
      REFUSED(pairs.add_input(-1, {}, x),
              "add_input: there is no node -1: numbers must not be negative"),
      REFUSED(tree.add_input(0, {}, x), "add_input: there is a node 0 already"),
      REFUSED(tree.add_input(1, {0, 2}, x), "add_input: node 2 was not added"),
      REFUSED(tree.add_input(1, {}, Expression()),
              "add_input: a node without children needs an input"),
      REFUSED(pairs.add_input(1, {0, 0, 0}, x), "add_input: a node has at most 2 children, got 3"),
  };
}

std::vector<Mistake> Builders::trainer_mistakes() {
  const std::string averaged =
      " while the averages replace the values; call swap_params_to_weights first";
  return {
      MISTAKE(ArgumentError, MomentumSGDTrainer(trained, 0.1f, 1.0f),
              "MomentumSGDTrainer: needs 0 <= mom < 1, got 1.000000"),
      MISTAKE(ArgumentError, RMSPropTrainer(trained, 0.1f, 1e-6f, -1.0f),
              "RMSPropTrainer: needs 0 <= rho < 1, got -1.000000"),
      MISTAKE(ArgumentError, trainer.update(nan), "Trainer: gradients cannot count nan times"),
      MISTAKE(ArgumentError, trainer.update(std::vector<Parameter>{strange}),
              "Trainer: the parameter " + strange.get_fullname() +
                  " is not in the trainer's collection, " + trained.get_fullname()),
      MISTAKE(ArgumentError, trainer.update(stranger),
              "Trainer: the collection " + stranger.get_fullname() +
                  " is not part of the trainer's, " + trained.get_fullname()),
      MISTAKE(ArgumentError, trainer.exponential_moving_average(1),
              "exponential_moving_average: needs 0 <= beta < 1, got 1.000000"),
      MISTAKE(ArgumentError, trainer.cumulative_moving_average(0),
              "Trainer: a moving average needs every > 0, got 0"),
      MISTAKE(ArgumentError, averaging.swap_params_to_moving_average(),
              "Trainer: there is no moving average yet to swap the parameters to"),
      MISTAKE(ArgumentError, trainer.swap_params_to_weights(),
              "Trainer: the weights are where they belong"),
      MISTAKE(ArgumentError, swapped.update(), "Trainer: update" + averaged),
      MISTAKE(ArgumentError, swapped.restart(), "Trainer: restart" + averaged),
  };
}

}  // namespace

TEST_CASE("mistakes with builders and trainers throw at their line and harm nothing") {
  Builders builders;
  for (const std::vector<Mistake>& all :
       {builders.sequence_mistakes(), builders.tree_mistakes(), builders.trainer_mistakes()}) {
    check_mistakes(builders, all);
  }
}

#undef REFUSED

}  // namespace dynet::test
