#include "dynet-like/ops/recurrent.h"

#include <algorithm>
#include <array>
#include <span>

#include "dynet-like/graph/check.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/ops/noise.h"
#include "dynet-like/ops/selection.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/recurrent.h"
#include "kernels/cpu/selection.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

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

// Operations of an LSTM step; `shape` is the rule of a sequence or of a tree.
using Shape = Dim (*)(const Operands&);

constexpr OpForm activate_form(const char* name, Shape shape) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::each(sizeof(LstmGatesAttr)),
          .reads = Reads::output_in_place,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::lstm_activate_forward),
          .backward = DYNET_BACKWARD(cpu::lstm_activate_backward),
          .cuda = CudaRule::by(&cuda::kLstmActivate)};
}
constexpr OpForm cell_form(const char* name, Shape shape) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::each(),
          .reads = Reads::inputs,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::lstm_c_forward),
          .backward = DYNET_BACKWARD(cpu::lstm_c_backward),
          .cuda = CudaRule::by(&cuda::kLstmC)};
}
// Scratch: tanh(c), for backward.
constexpr OpForm output_form(const char* name, Shape shape) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::each(),
          .reads = Reads::inputs,
          .aux = [](const GraphStore&, const Node& n) { return n.dim.size(); },
          .forward = DYNET_FORWARD(cpu::lstm_h_forward),
          .backward = DYNET_BACKWARD(cpu::lstm_h_backward),
          .cuda = CudaRule::by(&cuda::kLstmH)};
}

Dim cell_shape(const Operands& x) { return shape::lstm_cell(x[0], x[1]); }
Dim tree_gates_shape(const Operands& x) {
  return shape::tree_gates(x[0], x.as<LstmGatesAttr>().children);
}
Dim tree_cell_shape(const Operands& x) {
  const std::size_t children = x.dims.size() - 1;
  return shape::tree_cell(x.dims.first(children), x[children]);
}

const OpForm kActivate =
    activate_form("vanilla_lstm_gates", [](const Operands& x) { return shape::lstm_gates(x[0]); });
const OpForm kCell = cell_form("vanilla_lstm_c", cell_shape);
const OpForm kOutput = output_form("vanilla_lstm_h", cell_shape);
const OpForm kTreeActivate = activate_form("tree_lstm_gates", tree_gates_shape);
const OpForm kTreeCell = cell_form("tree_lstm_c", tree_cell_shape);
const OpForm kTreeOutput =
    output_form("tree_lstm_h", [](const Operands& x) { return shape::tree_output(x[0], x[1]); });

const OpForm kSecondResult{.name = "lstm_cell",
                           .kind = Kind::alias,
                           .shape = [](const Operands& x) { return x[0]; },
                           .batch = BatchRule::each(),
                           .reads = Reads::nothing,
                           .aux = no_aux,
                           .forward = kNoForward,
                           .backward = DYNET_BACKWARD(cpu::alias_backward),
                           .cuda = CudaRule::by(&cuda::kAlias)};
// Scratch: c, tanh(c) and the gates.
const OpForm kLstmCell{
    .name = "lstm_cell",
    .shape =
        [](const Operands& x) { return shape::lstm_step(x.dims, x.as<LstmGatesAttr>().children); },
    .batch = BatchRule::each(sizeof(LstmGatesAttr)),
    .reads = Reads::inputs,
    .aux = [](const GraphStore& graph,
              const Node& n) { return (5 + graph.attr<LstmGatesAttr>(n).children) * n.dim.size(); },
    .forward = DYNET_FORWARD(cpu::lstm_cell_forward),
    .backward = DYNET_BACKWARD(cpu::lstm_cell_backward),
    .cuda = CudaRule::by(&cuda::kLstmCell),
    .second_result = &kSecondResult};

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

// The operands are the cells, then the gates or sums.
Expression add_cell(const OpForm& form, std::span<const Expression> cells, const Expression& gates,
                    const Attributes& attributes, SourceLocation at) {
  switch (cells.size()) {
    case 0:
      return add_node(form, gates, attributes, at);
    case 1:
      return add_node(form, cells[0], gates, attributes, at);
    case 2: {
      const Expression operands[] = {cells[0], cells[1], gates};
      return add_node(form, operands, attributes, at);
    }
    default: {
      std::vector<Expression> operands(cells.begin(), cells.end());
      operands.push_back(gates);
      return add_node(form, operands, attributes, at);
    }
  }
}

LSTMCellState states_of(const Expression& h) {
  LSTMCellState s{h, h};
  s.c.result = 1;
  return s;
}

// A cell from a sum for each gate.
LSTMCellState cell_of_gates(std::span<const Expression> sums, std::span<const Expression> cells,
                            float forget_bias, SourceLocation at) {
  std::array<Expression, 9> few;
  std::vector<Expression> many;
  const std::size_t n = sums.size() + cells.size();
  if (n > few.size()) many.resize(n);
  const std::span<Expression> operands = many.empty() ? std::span(few).first(n) : std::span(many);
  std::copy(sums.begin(), sums.end(), std::copy(cells.begin(), cells.end(), operands.begin()));
  return states_of(add_node(kLstmCell, operands, LstmGatesAttr{forget_bias, cells.size()}, at));
}

}  // namespace

OpFamily recurrent_ops() {
  static constexpr const OpForm* kAll[] = {&kGateSums,     &kActivate, &kCell,         &kOutput,
                                           &kTreeActivate, &kTreeCell, &kTreeOutput,   &kLstmCell,
                                           &kSecondResult, &kGated,    &kCoupledUpdate};
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
  return add_node(kCell, c_tm1, gates_t, {}, at);
}

Expression vanilla_lstm_h(const Expression& c_t, const Expression& gates_t, SourceLocation at) {
  return add_node(kOutput, c_t, gates_t, {}, at);
}

Expression tree_lstm_gates(const Expression& sums, unsigned children, float forget_bias,
                           SourceLocation at) {
  return add_node(kTreeActivate, sums, LstmGatesAttr{forget_bias, children}, at);
}

Expression tree_lstm_c(std::initializer_list<Expression> cells, const Expression& gates,
                       SourceLocation at) {
  return add_cell(kTreeCell, {cells.begin(), cells.size()}, gates, {}, at);
}
Expression tree_lstm_c(const std::vector<Expression>& cells, const Expression& gates,
                       SourceLocation at) {
  return add_cell(kTreeCell, cells, gates, {}, at);
}

Expression tree_lstm_h(const Expression& c, const Expression& gates, SourceLocation at) {
  return add_node(kTreeOutput, c, gates, {}, at);
}

LSTMCellState lstm_cell(const Expression& sums, std::initializer_list<Expression> cells,
                        float forget_bias, SourceLocation at) {
  const LstmGatesAttr attr{forget_bias, cells.size()};
  return states_of(add_cell(kLstmCell, {cells.begin(), cells.size()}, sums, attr, at));
}

LSTMCellState lstm_cell(const Expression& sums, const std::vector<Expression>& cells,
                        float forget_bias, SourceLocation at) {
  return states_of(add_cell(kLstmCell, cells, sums, LstmGatesAttr{forget_bias, cells.size()}, at));
}

LSTMCellState lstm_cell(std::initializer_list<Expression> sums,
                        std::initializer_list<Expression> cells, float forget_bias,
                        SourceLocation at) {
  return cell_of_gates({sums.begin(), sums.size()}, {cells.begin(), cells.size()}, forget_bias, at);
}

LSTMCellState lstm_cell(const std::vector<Expression>& sums, const std::vector<Expression>& cells,
                        float forget_bias, SourceLocation at) {
  return cell_of_gates(sums, cells, forget_bias, at);
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
