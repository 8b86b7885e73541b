#include "dynet-like/ops/recurrent.h"

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/ops/noise.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/recurrent.h"

namespace dynet {
namespace {

using cpu::LstmGatesAttr;

// The sums before the gates: an affine transformation under the name that the user wrote.
const OpForm kGateSums{
    .name = "vanilla_lstm_gates",
    .kind = Kind::compute,
    .shape = [](const Operands& x) { return shape::lstm_gates(shape::affine(x.dims)); },
    .batch = BatchRule::products(1),
    .reads = Reads::inputs,
    .aux = no_aux,
    .passes_gradient = true,
    .forward = DYNET_FORWARD(cpu::affine_forward),
    .backward = DYNET_BACKWARD(cpu::affine_backward)};

const OpForm kActivate{.name = "vanilla_lstm_gates",
                       .kind = Kind::compute,
                       .shape = [](const Operands& x) { return shape::lstm_gates(x[0]); },
                       .batch = BatchRule::each(sizeof(LstmGatesAttr)),
                       .reads = Reads::output_in_place,
                       .aux = no_aux,
                       .passes_gradient = true,
                       .forward = DYNET_FORWARD(cpu::lstm_activate_forward),
                       .backward = DYNET_BACKWARD(cpu::lstm_activate_backward)};

Dim cell_shape(const Operands& x) { return shape::lstm_cell(x[0], x[1]); }

const OpForm kCell{.name = "vanilla_lstm_c",
                   .kind = Kind::compute,
                   .shape = cell_shape,
                   .batch = BatchRule::each(),
                   .reads = Reads::inputs,
                   .aux = no_aux,
                   .passes_gradient = true,
                   .forward = DYNET_FORWARD(cpu::lstm_cell_forward),
                   .backward = DYNET_BACKWARD(cpu::lstm_cell_backward)};

// tanh(c) is kept for the backward pass.
const OpForm kOutput{.name = "vanilla_lstm_h",
                     .kind = Kind::compute,
                     .shape = cell_shape,
                     .batch = BatchRule::each(),
                     .reads = Reads::inputs,
                     .aux = [](const GraphStore&, const Node& n) { return n.dim.size(); },
                     .passes_gradient = true,
                     .forward = DYNET_FORWARD(cpu::lstm_output_forward),
                     .backward = DYNET_BACKWARD(cpu::lstm_output_backward)};

}  // namespace

OpFamily recurrent_ops() {
  static constexpr const OpForm* kAll[] = {&kGateSums, &kActivate, &kCell, &kOutput};
  return kAll;
}

Expression vanilla_lstm_gates(const Expression& x_t, const Expression& h_tm1, const Expression& Wx,
                              const Expression& Wh, const Expression& b, float weightnoise_std,
                              float forget_bias, SourceLocation at) {
  const auto noisy = [&](const Expression& w) {
    return weightnoise_std == 0 ? w : noise(w, weightnoise_std, at);
  };
  const Expression operands[] = {noisy(b), noisy(Wx), x_t, noisy(Wh), h_tm1};
  const Expression sums = add_node(kGateSums, operands, {}, at);
  return vanilla_lstm_gates(sums, forget_bias, at);
}

Expression vanilla_lstm_gates(const Expression& x_t, const Expression& Wx, const Expression& b,
                              float forget_bias, SourceLocation at) {
  const Expression operands[] = {b, Wx, x_t};
  const Expression sums = add_node(kGateSums, operands, {}, at);
  return add_node(kActivate, sums, LstmGatesAttr{forget_bias}, at);
}

Expression vanilla_lstm_gates(const Expression& sums, float forget_bias, SourceLocation at) {
  return add_node(kActivate, sums, LstmGatesAttr{forget_bias}, at);
}

Expression vanilla_lstm_c(const Expression& c_tm1, const Expression& gates_t, SourceLocation at) {
  return add_node(kCell, c_tm1, gates_t, {}, at);
}

Expression vanilla_lstm_h(const Expression& c_t, const Expression& gates_t, SourceLocation at) {
  return add_node(kOutput, c_t, gates_t, {}, at);
}

}  // namespace dynet
