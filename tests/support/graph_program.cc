#include "tests/support/graph_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "tests/support/all_values.h"

using namespace dynet;

namespace {

constexpr unsigned kMostCheckpoints = 3;

/// A second graph, which runs between the actions of the graph under test.
class Neighbour {
 public:
  explicit Neighbour(unsigned width) : width_(width), model_(width) { start(); }

  void act() {
    ++turn_;
    random_->grow(3);
    if (turn_ % 2 == 0) random_->vectors().back().value();
    if (turn_ % 3 == 0) graph_->backward(random_->loss());
    if (turn_ % 5 == 0) start();
  }

 private:
  void start() {  // every other time the old graph is destroyed first
    if (turn_ % 2 == 0) graph_.reset();
    graph_ = std::make_unique<ComputationGraph>(turn_ % 10 != 0);
    random_ = std::make_unique<RandomGraph>(*graph_, model_, width_, turn_);
    random_->start();
  }

  unsigned width_, turn_ = 0;
  RandomGraph::Model model_;
  std::unique_ptr<ComputationGraph> graph_;
  std::unique_ptr<RandomGraph> random_;
};

class Run {
 public:
  Run(const GraphProgram& program, Choices& choices, const GraphMode& mode,
      RandomGraph::Model& model)
      : program_(program),
        choices_(choices),
        mode_(mode),
        model_(model),
        graph_(mode.batched),
        random_(graph_, model, program.width, choices) {
    if (mode.device) graph_.set_device(mode.device);
    graph_.set_seed(7);
    graph_.set_immediate_compute(mode.immediate);
    graph_.set_inference(mode.inference);
    graph_.set_check_validity(mode.check);
    if (mode.gradient_buffer) graph_.set_gradient_buffer(*mode.gradient_buffer);
    if (mode.interleaved) neighbour_ = std::make_unique<Neighbour>(program.width);
    random_.start();
  }

  GraphLog run() {
    try {
      for (turn_ = 0; turn_ < program_.actions && !choices_.ended(); ++turn_) {
        if (neighbour_) neighbour_->act();
        if (mode_.switching) throw_a_switch();
        act();
      }
      for (const Expression& x : random_.vectors()) ask(x);
      differentiate(false);
    } catch (const NumericError& e) {  // ends the program
      if (!mode_.check && !mode_.switching) throw;
    }
    return std::move(log_);
  }

 private:
  unsigned below(unsigned n) { return choices_.below(n); }
  const Expression& any() {
    return random_.vectors()[below(static_cast<unsigned>(random_.vectors().size()))];
  }

  void act() {
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
        return ask(any());
      case 3: {
        const Expression x = any();
        graph_.forward(x);
        return ask(x);
      }
      case 4:
        return differentiate(false);
      case 5:
        return differentiate(true);
      case 6:
        if (checkpoints_ == kMostCheckpoints) return;
        ++checkpoints_;
        return graph_.checkpoint();
      case 7:
        if (checkpoints_ == 0) return;
        --checkpoints_;
        return revert();
      case 8:
        return make_a_mistake();
      case 9:
        return program_.changes ? update() : graph_.invalidate();
      case 10:
        return program_.changes ? change_what_pointers_point_to() : grow();
      default:
        return grow();
    }
  }

  void grow() {
    const std::size_t before = random_.vectors().size();
    random_.grow(1 + below(8));
    for (std::size_t i = before; mode_.asks && i < random_.vectors().size(); ++i)
      random_.vectors()[i].value();
  }

  void ask(const Expression& x) {
    note(GraphAnswer::value, "value of node " + std::to_string(x.i), as_vector(x.value()));
  }

  void note(GraphAnswer::Kind kind, std::string what, std::vector<float> numbers) {
    log_.push_back({kind, "action " + std::to_string(turn_) + ": " + what, std::move(numbers)});
  }

  void differentiate(bool full) {
    const Expression loss = random_.loss();
    const Expression x = any(), y = any();
    if (mode_.switching) graph_.set_inference(false);
    if (!mode_.inference) graph_.backward(loss, full || mode_.full);
    ask(loss);
    for (const Expression& e : {x, y, x}) {
      // The gradient of a parameter is a sum over passes, and over graphs of other threads.
      if (graph_.nodes[e.i]->form->kind == Kind::parameter) continue;
      note(GraphAnswer::gradient, "gradient of node " + std::to_string(e.i),
           mode_.inference ? std::vector<float>() : as_vector(e.gradient()));
    }
    if (!program_.shares_model) note_parameters();
  }

  void note_parameters() {
    note(GraphAnswer::gradient, "gradients of parameters",
         mode_.inference ? std::vector<float>() : test::all_gradients(model_.pc));
    model_.pc.reset_gradient();
  }

  void revert() {
    graph_.revert();
    random_.forget_stale();
  }

  // Provokes an error and restores the graph.
  void make_a_mistake() {
    const std::size_t size = graph_.size();
    const Expression x = any();
    graph_.checkpoint();
    const std::size_t kind = below(3);
    std::string caught = "nothing";
    unsigned index = 0;
    try {
      if (kind == 0) {
        concatenate_cols({x, sum_elems(x)});
      } else if (kind == 1) {
        index = 1000;
        tanh(pick(x, &index)).value();
      } else {
        const Expression gone = tanh(x);
        graph_.revert();
        graph_.checkpoint();
        (gone + x).value();
      }
    } catch (const ShapeError&) {
      caught = "shape";
    } catch (const IndexError&) {
      caught = "index";
    } catch (const StaleExpressionError&) {
      caught = "stale";
    }
    graph_.revert();
    const bool same_size = graph_.size() == size;
    note(GraphAnswer::error, caught + (same_size ? " error" : " error, and the graph differs"), {});
  }

  // Not by gradients, which differ by rounding from mode to mode.
  void update() {
    std::vector<float> w = as_vector(model_.w.values()), b = as_vector(model_.b.values());
    for (float& x : w) x *= 0.9f;
    for (float& x : b) x += 0.1f;
    model_.w.set_value(w);
    model_.b.set_value(b);
    model_.table.initialize(2, b);
    graph_.invalidate();
  }

  // All nodes are computed first, so that they have read the old values.
  void change_what_pointers_point_to() {
    random_.vectors().back().value();
    model_.number = choices_.number();
    model_.index = below(program_.width);
    model_.rows = {below(7), below(7)};
  }

  void throw_a_switch() {
    const unsigned k = turn_ % 7;
    graph_.set_inference(k == 1 || k == 2);
    graph_.set_check_validity(k == 4);
    graph_.set_immediate_compute(k == 5);
  }

  const GraphProgram& program_;
  Choices& choices_;
  const GraphMode& mode_;
  RandomGraph::Model& model_;
  std::unique_ptr<Neighbour> neighbour_;
  ComputationGraph graph_;
  RandomGraph random_;
  GraphLog log_;
  unsigned turn_ = 0, checkpoints_ = 0;
};

// Tolerance, relative to the largest number of an answer.
constexpr float kRounding = 2e-4f;

bool equal(const GraphAnswer& a, const GraphAnswer& b, bool same_bits) {
  const std::vector<float>&x = a.numbers, &y = b.numbers;
  if (x.empty() || y.empty()) return true;
  if (x.size() != y.size()) return false;
  if (same_bits) return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  float largest = 1;
  for (const float f : x)
    if (std::isfinite(f)) largest = std::max(largest, std::abs(f));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(x[i]) != std::isfinite(y[i]) || std::abs(x[i] - y[i]) > kRounding * largest)
      return false;
  return true;
}

}  // namespace

GraphLog run_program(const GraphProgram& program, Choices choices, const GraphMode& mode,
                     RandomGraph::Model& model) {
  return Run(program, choices, mode, model).run();
}

GraphLog run_program(const GraphProgram& program, const Choices& choices, const GraphMode& mode) {
  RandomGraph::Model model(program.width);
  return run_program(program, choices, mode, model);
}

std::string first_difference(const GraphLog& expected, const GraphLog& got, SameBits same) {
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    const GraphAnswer &a = expected[i], &b = got[i];
    if (a.kind != b.kind || a.what != b.what) return "'" + a.what + "' became '" + b.what + "'";
    const bool bits =
        same == SameBits::all || (same == SameBits::values && a.kind == GraphAnswer::value);
    if (!equal(a, b, bits)) {
      std::string text = a.what;
      for (std::size_t k = 0; k < a.numbers.size(); ++k)
        if (k < b.numbers.size() && a.numbers[k] != b.numbers[k])
          return text + ", element " + std::to_string(k) + ": " + std::to_string(a.numbers[k]) +
                 " became " + std::to_string(b.numbers[k]);
      return text + ": other sizes or signs";
    }
  }
  return {};
}
