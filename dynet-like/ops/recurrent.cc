#include "dynet-like/ops/recurrent.h"

#include <algorithm>
#include <array>
#include <span>

#include "dynet-like/graph/check.h"
#include "dynet-like/graph/handle.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/noise.h"
#include "dynet-like/ops/selection.h"
#include "kernels/cpu/lstm_sequence.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/recurrent.h"
#include "kernels/cpu/selection.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

constexpr std::size_t kMostChildren = 2;  // of an LSTM step with its products as one node

// Sums before the gates: an affine transformation with the name of the user's operation.
const OpForm kGateSums{
    .name = "vanilla_lstm_gates",
    .shape = [](const Operands& x) { return shape::lstm_gates(shape::affine(x.dims)); },
    .batch = BatchRule::products(1),
    .reads = Reads::inputs,
    .aux = no_aux,
    .forward = DYNET_FORWARD(cpu::affine_forward),
    .backward = DYNET_BACKWARD(cpu::affine_backward),
    .cuda = CudaRule::by(&cuda::kAffine)};

const OpForm kActivate{.name = "vanilla_lstm_gates",
                       .shape = [](const Operands& x) { return shape::lstm_gates(x[0]); },
                       .batch = BatchRule::each(sizeof(LstmGatesAttr)),
                       .reads = Reads::output_in_place,
                       .aux = no_aux,
                       .forward = DYNET_FORWARD(cpu::lstm_activate_forward),
                       .backward = DYNET_BACKWARD(cpu::lstm_activate_backward),
                       .cuda = CudaRule::by(&cuda::kLstmActivate)};

constexpr OpForm second_result(const char* name) {
  return {.name = name,
          .kind = Kind::alias,
          .shape = [](const Operands& x) { return x[0]; },
          .batch = BatchRule::each(),
          .reads = Reads::nothing,
          .aux = no_aux,
          .forward = kNoForward,
          .backward = DYNET_BACKWARD(cpu::alias_backward),
          .cuda = CudaRule::by(&cuda::kAlias)};
}
const OpForm kCellOfCell = second_result("lstm_cell"), kCellOfStep = second_result("lstm_step"),
             kCellOfSequence = second_result("lstm_sequence");

// Scratch: c, tanh(c) and the gates.
std::size_t cell_scratch(const GraphStore& graph, const Node& n) {
  return (5 + graph.attr<LstmGatesAttr>(n).children) * n.dim.size();
}
const OpForm kLstmCell{
    .name = "lstm_cell",
    .shape =
        [](const Operands& x) { return shape::lstm_cell(x.dims, x.as<LstmGatesAttr>().children); },
    .batch = BatchRule::each(sizeof(LstmGatesAttr)),
    .reads = Reads::inputs,
    .aux = cell_scratch,
    .forward = DYNET_FORWARD(cpu::lstm_cell_forward),
    .backward = DYNET_BACKWARD(cpu::lstm_cell_backward),
    .cuda = CudaRule::by(&cuda::kLstmCell),
    .second_result = &kCellOfCell};

// The operands are the cells, then those of the sums.
Dim step_shape(shape::Dims xs, std::size_t children) {
  return shape::lstm_cell(xs.first(children), shape::affine(xs.subspan(children)));
}

// The sums lie where the gates will.
constexpr OpForm step_form(std::size_t children) {
  return {
      .name = "lstm_step",
      .shape = [](const Operands& x) { return step_shape(x.dims, x.as<LstmGatesAttr>().children); },
      .batch = BatchRule::products(children + 1, sizeof(LstmGatesAttr)),
      .reads = Reads::inputs,
      .aux = cell_scratch,
      .forward = DYNET_FORWARD(cpu::lstm_step_forward),
      .backward = DYNET_BACKWARD(cpu::lstm_step_backward),
      .cuda = CudaRule::by(&cuda::kLstmStep),
      .second_result = &kCellOfStep,
      .sums = [](const GraphStore& graph, const Node& n) -> std::size_t {
        return (3 + graph.attr<LstmGatesAttr>(n).children) * n.dim.size();
      }};
}
const OpForm kSteps[kMostChildren + 1] = {step_form(0), step_form(1), step_form(2)};  // by children

// Scratch: c, tanh(c) and the gates, which may overwrite the sums.
const OpForm kSequence{.name = "lstm_sequence",
                       .shape = [](const Operands& x) { return shape::lstm_sequence(x.dims); },
                       .batch = kAnyLengthOfValue,
                       .reads = Reads::both,
                       .aux = for_each_element<6>,
                       .forward = DYNET_FORWARD(cpu::lstm_sequence_forward),
                       .backward = DYNET_BACKWARD(cpu::lstm_sequence_backward),
                       .cuda = CudaRule::by(&cuda::kLstmSequence),
                       .second_result = &kCellOfSequence,
                       .scratch_before_operand = [](const Dim& sums) { return sums.size() / 2; }};

const OpForm kGated{.name = "gated",
                    .shape = [](const Operands& x) { return shape::same(x.dims); },
                    .batch = BatchRule::each(),
                    .reads = Reads::inputs,
                    .aux = for_each_element<1>,
                    .forward = DYNET_FORWARD(cpu::gated_forward),
                    .backward = DYNET_BACKWARD(cpu::gated_backward),
                    .cuda = CudaRule::by(&cuda::kGated)};
const OpForm kCoupledUpdate{.name = "coupled_update",
                            .shape = [](const Operands& x) { return shape::same(x.dims); },
                            .batch = BatchRule::each(),
                            .reads = Reads::inputs,
                            .aux = for_each_element<2>,
                            .forward = DYNET_FORWARD(cpu::coupled_update_forward),
                            .backward = DYNET_BACKWARD(cpu::coupled_update_backward),
                            .cuda = CudaRule::by(&cuda::kCoupledUpdate)};

// Shape of gates with composite operands: b, Wx, Wh, h, optional masks of h and x, parts of x.
Dim gates_of_parts(shape::Dims xs, bool masked) {
  const Dim &b = *xs[0], &wx = *xs[1], &wh = *xs[2];
  Dim h = *xs[3], x = shape::concatenate(xs.subspan(masked ? 6 : 4), 0);
  if (masked) {
    h = shape::masked(h, *xs[4]);
    x = shape::masked(x, *xs[5]);
  }
  const Dim* const operands[] = {&b, &wx, &x, &wh, &h};
  return shape::lstm_gates(shape::affine(operands));
}

void check_gates(const char* name, std::vector<Expression> operands,
                 std::span<const Expression> parts, bool masked, SourceLocation at) {
  operands.insert(operands.end(), parts.begin(), parts.end());
  check_operands(
      name, operands, [&](shape::Dims xs) { return gates_of_parts(xs, masked); }, at);
}

// Parts of checked gates {4H}.
struct Gates {
  Gates(const char* name, const Expression& cell, const Expression& gates, SourceLocation source)
      : all(gates), at(source) {
    check_operands(
        name, {cell, gates}, [](shape::Dims x) { return shape::lstm_cell(*x[0], *x[1]); }, at);
  }
  Expression operator()(unsigned k) const {
    const unsigned h = all.dim().rows() / 4;
    return pick_range(all, k * h, (k + 1) * h, 0, at);
  }
  Expression all;
  SourceLocation at;
};

LSTMCellState both_results(const Expression& node) {
  return {node, make_handle(*node.state, node.i, node.serial, 1)};
}

// The operands are the cells, then the sums or those of a sum.
LSTMCellState add_cell(const OpForm& form, std::span<const Expression> cells,
                       std::span<const Expression> sums, float forget_bias,
                       const SourceLocation& at) {
  return both_results(add_node(form, cells, sums, LstmGatesAttr{forget_bias, cells.size()}, at));
}

LSTMCellState step_of(std::span<const Expression> sums, std::span<const Expression> cells,
                      float forget_bias, const SourceLocation& at) {
  if (cells.size() <= kMostChildren)
    return add_cell(kSteps[cells.size()], cells, sums, forget_bias, at);
  std::vector<Expression> all(cells.begin(), cells.end());
  all.insert(all.end(), sums.begin(), sums.end());
  check_operands(
      "lstm_step", all, [&](shape::Dims xs) { return step_shape(xs, cells.size()); }, at);
  const Expression sum = affine_transform({sums.begin(), sums.end()}, at);
  return add_cell(kLstmCell, cells, {&sum, 1}, forget_bias, at);
}

}  // namespace

OpFamily recurrent_ops() {
  static constexpr const OpForm* kAll[] = {
      &kGateSums, &kActivate, &kLstmCell, &kCellOfCell,     &kCellOfStep, &kSteps[0],
      &kSteps[1], &kSteps[2], &kSequence, &kCellOfSequence, &kGated,      &kCoupledUpdate};
  return kAll;
}

Expression vanilla_lstm_gates(const Expression& x_t, const Expression& h_tm1, const Expression& Wx,
                              const Expression& Wh, const Expression& b, float weightnoise_std,
                              float forget_bias, SourceLocation at) {
  // Checked before the noise nodes are created.
  if (weightnoise_std != 0)
    check_gates("vanilla_lstm_gates", {b, Wx, Wh, h_tm1}, {&x_t, 1}, false, at);
  const auto noisy = [&](const Expression& w) {
    return weightnoise_std == 0 ? w : noise(w, weightnoise_std, at);
  };
  const Expression operands[] = {noisy(b), noisy(Wx), x_t, noisy(Wh), h_tm1};
  const Expression sums = add_node(kGateSums, operands, {}, at);
  return vanilla_lstm_gates(sums, forget_bias, at);
}

Expression vanilla_lstm_gates_concat(const std::vector<Expression>& x_t, const Expression& h_tm1,
                                     const Expression& Wx, const Expression& Wh,
                                     const Expression& b, float weightnoise_std, float forget_bias,
                                     SourceLocation at) {
  check_gates("vanilla_lstm_gates_concat", {b, Wx, Wh, h_tm1}, x_t, false, at);
  return vanilla_lstm_gates(concatenate(x_t, 0, at), h_tm1, Wx, Wh, b, weightnoise_std, forget_bias,
                            at);
}

Expression vanilla_lstm_gates_dropout(const Expression& x_t, const Expression& h_tm1,
                                      const Expression& Wx, const Expression& Wh,
                                      const Expression& b, const Expression& dropout_mask_x,
                                      const Expression& dropout_mask_h, float weightnoise_std,
                                      float forget_bias, SourceLocation at) {
  check_gates("vanilla_lstm_gates_dropout", {b, Wx, Wh, h_tm1, dropout_mask_h, dropout_mask_x},
              {&x_t, 1}, true, at);
  return vanilla_lstm_gates(cmult(x_t, dropout_mask_x, at), cmult(h_tm1, dropout_mask_h, at), Wx,
                            Wh, b, weightnoise_std, forget_bias, at);
}

Expression vanilla_lstm_gates_dropout_concat(
    const std::vector<Expression>& x_t, const Expression& h_tm1, const Expression& Wx,
    const Expression& Wh, const Expression& b, const Expression& dropout_mask_x,
    const Expression& dropout_mask_h, float weightnoise_std, float forget_bias, SourceLocation at) {
  check_gates("vanilla_lstm_gates_dropout_concat",
              {b, Wx, Wh, h_tm1, dropout_mask_h, dropout_mask_x}, x_t, true, at);
  return vanilla_lstm_gates_dropout(concatenate(x_t, 0, at), h_tm1, Wx, Wh, b, dropout_mask_x,
                                    dropout_mask_h, weightnoise_std, forget_bias, at);
}

Expression vanilla_lstm_gates(const Expression& x_t, const Expression& Wx, const Expression& b,
                              float forget_bias, SourceLocation at) {
  const Expression operands[] = {b, Wx, x_t};
  const Expression sums = add_node(kGateSums, operands, {}, at);
  return add_node(kActivate, sums, LstmGatesAttr{forget_bias, 1}, at);
}

Expression vanilla_lstm_gates(const Expression& sums, float forget_bias, SourceLocation at) {
  return add_node(kActivate, sums, LstmGatesAttr{forget_bias, 1}, at);
}

Expression vanilla_lstm_c(const Expression& c_tm1, const Expression& gates_t, SourceLocation at) {
  const Gates gates("vanilla_lstm_c", c_tm1, gates_t, at);
  return sum({cmult(gates(0), gates(3), at), cmult(gates(1), c_tm1, at)}, at);
}

Expression vanilla_lstm_h(const Expression& c_t, const Expression& gates_t, SourceLocation at) {
  const Gates gates("vanilla_lstm_h", c_t, gates_t, at);
  return cmult(gates(2), tanh(c_t, at), at);
}

namespace {
std::span<const Expression> span_of(std::initializer_list<Expression> xs) {
  return {xs.begin(), xs.size()};
}
}  // namespace

LSTMCellState lstm_cell(const Expression& sums, std::initializer_list<Expression> cells,
                        float forget_bias, SourceLocation at) {
  return add_cell(kLstmCell, span_of(cells), {&sums, 1}, forget_bias, at);
}

LSTMCellState lstm_cell(const Expression& sums, const std::vector<Expression>& cells,
                        float forget_bias, SourceLocation at) {
  return add_cell(kLstmCell, cells, {&sums, 1}, forget_bias, at);
}

LSTMCellState lstm_cell(std::initializer_list<Expression> sums,
                        std::initializer_list<Expression> cells, float forget_bias,
                        SourceLocation at) {
  return add_cell(kLstmCell, span_of(cells), span_of(sums), forget_bias, at);
}

LSTMCellState lstm_cell(const std::vector<Expression>& sums, const std::vector<Expression>& cells,
                        float forget_bias, SourceLocation at) {
  return add_cell(kLstmCell, cells, sums, forget_bias, at);
}

LSTMCellState lstm_step(std::initializer_list<Expression> sums,
                        std::initializer_list<Expression> cells, float forget_bias,
                        SourceLocation at) {
  return step_of(span_of(sums), span_of(cells), forget_bias, at);
}

LSTMCellState lstm_step(const std::vector<Expression>& sums, const std::vector<Expression>& cells,
                        float forget_bias, SourceLocation at) {
  return step_of(sums, cells, forget_bias, at);
}

LSTMCellState lstm_sequence(const Expression& sums, const Expression& Wh, float forget_bias,
                            bool reverse, SourceLocation at) {
  return both_results(add_node(kSequence, sums, Wh, LstmSequenceAttr{forget_bias, reverse}, at));
}

LSTMCellState lstm_sequence(const Expression& sums, const Expression& Wh,
                            const LSTMCellState& initial, float forget_bias, bool reverse,
                            SourceLocation at) {
  const Expression operands[] = {sums, Wh, initial.h, initial.c};
  return both_results(
      add_node(kSequence, operands, {}, LstmSequenceAttr{forget_bias, reverse}, at));
}

Expression gated(const Expression& x, const Expression& gate, SourceLocation at) {
  return add_node(kGated, x, gate, {}, at);
}

Expression coupled_update(const Expression& gate, const Expression& content,
                          const Expression& before, SourceLocation at) {
  const Expression operands[] = {gate, content, before};
  return add_node(kCoupledUpdate, operands, {}, at);
}

}  // namespace dynet
