#include <iostream>

#include "tests/ops/cases.h"
#include "tests/ops/mistakes.h"

// Mistakes with the builders and trainers that are made of operations, and a count of all mistakes.

namespace dynet::test {
namespace {

/// Builders at every stage, over the parameters and the graph of a bench.
struct Builders {
  ParameterCollection pc;
  LSTMBuilder empty, fresh{1, 2, 2, pc}, ready{1, 2, 2, pc}, reading{1, 2, 2, pc};
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
  Parameter weights = trained.add_parameters({2}), foreign = stranger.add_parameters({2});
  SimpleSGDTrainer trainer{trained}, swapped{trained}, averaging{trained};

  explicit Builders(Bench& t) {
    for (RNNBuilder* b : std::vector<RNNBuilder*>{&ready, &reading, &simple, &gru})
      b->new_graph(t.g);
    for (RNNBuilder* b : std::vector<RNNBuilder*>{&reading, &simple, &gru}) b->start_new_sequence();
    for (TreeLSTMBuilder* b : std::vector<TreeLSTMBuilder*>{&tree, &pairs}) {
      b->new_graph(t.g);
      b->start_new_sequence();
    }
    tree.set_num_elements(3);
    tree.add_input(0, {}, t.x);
    pairs.add_input(0, {}, t.x);
    both.new_graph(t.g);
    word.new_graph(t.g);
    softmax.new_graph(t.g);
    swapped.exponential_moving_average(0.5f);
    swapped.update();
    swapped.swap_params_to_moving_average();
    averaging.exponential_moving_average(0.5f);
  }
};

#define AT "\n  at HERE"
#define MISTAKE(MESSAGE, ...)                                                                      \
  Mistake {                                                                                        \
    SourceLocation::current(), [&t, &b] { (void)t, (void)b, __VA_ARGS__; }, raises<ArgumentError>, \
        MESSAGE                                                                                    \
  }

std::vector<Mistake> sequence_mistakes(Bench& t, Builders& b) {
  using P = RNNPointer;
  const std::string empty = "the builder was made without arguments and is empty" AT;
  const std::string first = "call new_graph first" AT;
  const std::string both = "call new_graph and start_new_sequence first" AT;
  return {
      MISTAKE("new_graph: " + empty, b.empty.new_graph(t.g)),
      MISTAKE("start_new_sequence: " + first, b.fresh.start_new_sequence()),
      MISTAKE("set_dropout_masks: " + first, b.fresh.set_dropout_masks(1)),
      MISTAKE("add_input: " + both, b.fresh.add_input(t.x)),
      MISTAKE("add_input: " + both, b.ready.add_input(t.x)),
      MISTAKE("add_input: " + both, b.ready.add_input(P(-1), t.x)),
      MISTAKE("add_masked_input: " + both, b.ready.add_masked_input(t.x, t.x)),
      MISTAKE("set_h: " + both, b.ready.set_h(P(-1), {t.x})),
      MISTAKE("set_s: " + both, b.ready.set_s(P(-1), {t.x})),
      MISTAKE("rewind_one_step: " + both, b.ready.rewind_one_step()),
      MISTAKE("get_head: " + both, b.ready.get_head(P(0))),
      MISTAKE("get_s: " + both, b.ready.get_h(P(0))),
      MISTAKE("get_s: " + both, b.ready.final_s()),
      MISTAKE("back: " + both, b.ready.back()),
      MISTAKE("start_new_sequence: the initial state has 2 components, got 1" AT,
              b.ready.start_new_sequence({t.x})),
      MISTAKE("start_new_sequence: the initial state has 1 components, got 2" AT,
              b.gru.start_new_sequence({t.x, t.x})),
      MISTAKE("add_input: there is no step 3 in a sequence of 0" AT,
              b.reading.add_input(P(3), t.x)),
      MISTAKE("add_input: there is no step -2 in a sequence of 0" AT,
              b.reading.add_input(P(-2), t.x)),
      MISTAKE("add_masked_input: there is no step 0 in a sequence of 0" AT,
              b.reading.add_masked_input(P(0), t.x, t.x)),
      MISTAKE("add_masked_input: the mask needs one number for each batch element, got {3}" AT,
              b.reading.add_masked_input(t.x, t.y)),
      MISTAKE("back: there is no step and no initial state" AT, b.reading.back()),
      MISTAKE("rewind_one_step: there is no step to go back from" AT, b.reading.rewind_one_step()),
      MISTAKE("get_head: the initial state follows no other" AT, b.reading.get_head(P(-1))),
      MISTAKE("get_s: there is no step 0 in a sequence of 0" AT, b.reading.get_h(P(0))),
      MISTAKE("set_h: needs one output for each of the 1 layers, got 0" AT,
              b.reading.set_h(P(-1), {})),
      MISTAKE("set_s: the state has 2 components, got 3" AT,
              b.reading.set_s(P(-1), {t.x, t.x, t.x})),
      MISTAKE("add_auxiliary_input: the builder was made without support_lags" AT,
              b.simple.add_auxiliary_input(t.x, t.x)),
      MISTAKE("set_dropout: a rate must be at least 0 and below 1, got 1.000000",
              b.ready.set_dropout(1.0f)),
      MISTAKE("set_dropout: a rate must be at least 0 and below 1, got -0.500000",
              b.gru.set_dropout(0.0f, -0.5f)),
      MISTAKE("set_weightnoise: a standard deviation must be finite and not negative, got "
              "-1.000000",
              b.ready.set_weightnoise(-1)),
      MISTAKE("set_sparsity: needs 0 <= percent <= 100, got 101.000000",
              b.sparse.set_sparsity(101)),
      MISTAKE("a recurrent network needs at least one layer, got 0", LSTMBuilder(0, 2, 2, b.pc)),
      MISTAKE("a recurrent network needs at least one layer, got 0", GRUBuilder(0, 2, 2, b.pc)),
      MISTAKE("copy: the builders have 3 and 6 parameters", b.fresh.copy(b.deeper)),
      MISTAKE("BiRNNBuilder: needs a layer and an even hidden size, got 1 and 3",
              BiRNNBuilder<LSTMBuilder>(1, 2, 3, b.pc)),
      MISTAKE("transduce: " + first, b.fresh_both.transduce({t.x})),
      MISTAKE("transduce: needs a mask for each of the 1 inputs, or none, got 2" AT,
              b.both.transduce({t.x}, {t.x, t.x})),
      MISTAKE("compose: " + first, b.fresh_word.compose({1})),
      MISTAKE("compose: a word needs a character" AT, b.word.compose({})),
      MISTAKE("C2WBuilder: needs a layer and an even hidden size, got 0 and 2",
              C2WBuilder(5, 0, 2, 2, b.pc)),
      MISTAKE("full_logits: " + first, b.fresh_softmax.full_logits(t.x)),
  };
}

std::vector<Mistake> tree_mistakes(Bench& t, Builders& b) {
  const std::string both = "call new_graph and start_new_sequence first" AT;
  return {
      MISTAKE("new_graph: the builder was made without arguments and is empty" AT,
              b.no_tree.new_graph(t.g)),
      MISTAKE("start_new_sequence: call new_graph first" AT, b.fresh_tree.start_new_sequence()),
      MISTAKE("add_input: " + both, b.fresh_tree.add_input(0, {}, t.x)),
      MISTAKE("back: " + both, b.fresh_tree.back()),
      MISTAKE("set_num_elements: needs a number of nodes, got -1", b.tree.set_num_elements(-1)),
      MISTAKE("add_input: there is no node 3 in a tree of 3" AT, b.tree.add_input(3, {}, t.x)),
      MISTAKE("add_input: there is no node -1 in a tree of 3" AT, b.tree.add_input(-1, {}, t.x)),
      MISTAKE("add_input: there is no node -1: numbers must not be negative" AT,
              b.pairs.add_input(-1, {}, t.x)),
      MISTAKE("add_input: there is a node 0 already" AT, b.tree.add_input(0, {}, t.x)),
      MISTAKE("add_input: node 2 was not added" AT, b.tree.add_input(1, {0, 2}, t.x)),
      MISTAKE("add_input: a node without children needs an input" AT,
              b.tree.add_input(1, {}, Expression())),
      MISTAKE("add_input: a node has at most 2 children, got 3" AT,
              b.pairs.add_input(1, {0, 0, 0}, t.x)),
  };
}

std::vector<Mistake> trainer_mistakes(Bench& t, Builders& b) {
  const std::string swapped =
      " while the averages replace the values; call swap_params_to_weights first";
  return {
      MISTAKE("MomentumSGDTrainer: needs 0 <= mom < 1, got 1.000000",
              MomentumSGDTrainer(b.trained, 0.1f, 1.0f)),
      MISTAKE("RMSPropTrainer: needs 0 <= rho < 1, got -1.000000",
              RMSPropTrainer(b.trained, 0.1f, 1e-6f, -1.0f)),
      MISTAKE("Trainer: gradients cannot count nan times", b.trainer.update(t.nan)),
      MISTAKE("Trainer: the parameter " + b.foreign.get_fullname() +
                  " is not in the trainer's collection, " + b.trained.get_fullname(),
              b.trainer.update(std::vector<Parameter>{b.foreign})),
      MISTAKE("Trainer: the collection " + b.stranger.get_fullname() +
                  " is not part of the trainer's, " + b.trained.get_fullname(),
              b.trainer.update(b.stranger)),
      MISTAKE("exponential_moving_average: needs 0 <= beta < 1, got 1.000000",
              b.trainer.exponential_moving_average(1)),
      MISTAKE("Trainer: a moving average needs every > 0, got 0",
              b.trainer.cumulative_moving_average(0)),
      MISTAKE("Trainer: there is no moving average yet to swap the parameters to",
              b.averaging.swap_params_to_moving_average()),
      MISTAKE("Trainer: the weights are where they belong", b.trainer.swap_params_to_weights()),
      MISTAKE("Trainer: update" + swapped, b.swapped.update()),
      MISTAKE("Trainer: restart" + swapped, b.swapped.restart()),
  };
}

}  // namespace

TEST_CASE("mistakes with builders and trainers throw at their line and harm nothing") {
  Bench bench;
  Builders builders(bench);
  for (auto* mistakes : {&sequence_mistakes, &tree_mistakes, &trainer_mistakes}) {
    const std::vector<Mistake> all = mistakes(bench, builders);
    CHECK(all.size() >= 11);
    check_mistakes(bench, all);
  }
}

TEST_CASE("mistakes: there are at least 400, all of which tests make") {
  Bench bench;
  Builders builders(bench);
  std::size_t told = bench.shape_mistakes().size() + bench.value_mistakes().size();
  for (auto* mistakes :
       {&reduction_mistakes, &selection_mistakes, &window_mistakes, &algebra_mistakes})
    told += mistakes(bench).size();
  for (auto* mistakes : {&sequence_mistakes, &tree_mistakes, &trainer_mistakes})
    told += mistakes(bench, builders).size();
  std::size_t shapes = 0;
  for (const OpCase& c : all_cases()) shapes += c.bad.size();
  std::cout << told << " mistakes with their whole message, " << shapes
            << " wrong shapes of operands\n";
  CHECK(told + shapes >= 400);
}

#undef AT
#undef MISTAKE

}  // namespace dynet::test
