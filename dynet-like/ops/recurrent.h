#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Parts of an LSTM step (Hochreiter and Schmidhuber 1997, with a forget gate). Gates are stacked in
// a vector {4H}: input i, forget f, output o, new content g. Errors: ShapeError.

namespace dynet {

/// i, f, o = logistic(.), g = tanh(.) of Wx x_t + Wh h_tm1 + b; `forget_bias` is added to the sum
/// of f. Weights and b get Gaussian noise of standard deviation `weightnoise_std`. x {I}, h {H}, Wx
/// {4H,I}, Wh {4H,H}, b {4H} give {4H}; batch sizes are equal or one.
Expression vanilla_lstm_gates(const Expression& x_t, const Expression& h_tm1, const Expression& Wx,
                              const Expression& Wh, const Expression& b,
                              float weightnoise_std = 0.0f, float forget_bias = 1.0f,
                              SourceLocation at = SourceLocation::current());
/// vanilla_lstm_gates with the vectors of a list, concatenated, as x_t.
Expression vanilla_lstm_gates_concat(const std::vector<Expression>& x_t, const Expression& h_tm1,
                                     const Expression& Wx, const Expression& Wh,
                                     const Expression& b, float weightnoise_std = 0.0f,
                                     float forget_bias = 1.0f,
                                     SourceLocation at = SourceLocation::current());
/// vanilla_lstm_gates with x_t and h_tm1 multiplied elementwise by masks {I} and {H}.
Expression vanilla_lstm_gates_dropout(const Expression& x_t, const Expression& h_tm1,
                                      const Expression& Wx, const Expression& Wh,
                                      const Expression& b, const Expression& dropout_mask_x,
                                      const Expression& dropout_mask_h,
                                      float weightnoise_std = 0.0f, float forget_bias = 1.0f,
                                      SourceLocation at = SourceLocation::current());
/// vanilla_lstm_gates with a list of vectors as x_t, and with masks.
Expression vanilla_lstm_gates_dropout_concat(const std::vector<Expression>& x_t,
                                             const Expression& h_tm1, const Expression& Wx,
                                             const Expression& Wh, const Expression& b,
                                             const Expression& dropout_mask_x,
                                             const Expression& dropout_mask_h,
                                             float weightnoise_std = 0.0f, float forget_bias = 1.0f,
                                             SourceLocation at = SourceLocation::current());
/// vanilla_lstm_gates of the first step, where h is zero.
Expression vanilla_lstm_gates(const Expression& x_t, const Expression& Wx, const Expression& b,
                              float forget_bias = 1.0f,
                              SourceLocation at = SourceLocation::current());
/// Gates of precomputed sums {4H}.
Expression vanilla_lstm_gates(const Expression& sums, float forget_bias = 1.0f,
                              SourceLocation at = SourceLocation::current());
/// c_t = i g + f c_tm1: cell {H} and gates {4H} give {H}.
Expression vanilla_lstm_c(const Expression& c_tm1, const Expression& gates_t,
                          SourceLocation at = SourceLocation::current());
/// h_t = o tanh(c_t): cell {H} and gates {4H} give {H}.
Expression vanilla_lstm_h(const Expression& c_t, const Expression& gates_t,
                          SourceLocation at = SourceLocation::current());

/// Output and cell of an LSTM.
struct LSTMCellState {
  Expression h, c;
};
/// A step of an LSTM with K predecessors, one in a sequence, any number in a tree (Tai, Socher,
/// Manning 2015), as one node with two results: c = i g + sum_k f_k c_k and h = o tanh(c) for the
/// gates i, f_k, o = logistic(.), g = tanh(.) of precomputed sums {(3+K)H}, in this order;
/// `forget_bias` is added to the sums of the f_k. Cells {H} and sums give {H} each; batch sizes are
/// equal or one. `sums` may also be a list with the sum {H} of each gate.
LSTMCellState lstm_cell(const Expression& sums, std::initializer_list<Expression> cells,
                        float forget_bias = 0.0f, SourceLocation at = SourceLocation::current());
LSTMCellState lstm_cell(const Expression& sums, const std::vector<Expression>& cells,
                        float forget_bias = 0.0f, SourceLocation at = SourceLocation::current());
LSTMCellState lstm_cell(std::initializer_list<Expression> sums,
                        std::initializer_list<Expression> cells, float forget_bias = 0.0f,
                        SourceLocation at = SourceLocation::current());
LSTMCellState lstm_cell(const std::vector<Expression>& sums, const std::vector<Expression>& cells,
                        float forget_bias = 0.0f, SourceLocation at = SourceLocation::current());

/// lstm_cell(affine_transform(sums), cells, forget_bias), with the same values, as one node: `sums`
/// are b, W_1, x_1, W_2, x_2, ...
LSTMCellState lstm_step(std::initializer_list<Expression> sums,
                        std::initializer_list<Expression> cells, float forget_bias = 0.0f,
                        SourceLocation at = SourceLocation::current());
LSTMCellState lstm_step(const std::vector<Expression>& sums, const std::vector<Expression>& cells,
                        float forget_bias = 0.0f, SourceLocation at = SourceLocation::current());

/// A whole sequence as one node: column t of `sums` {4H,T} is b + Wx x_t for each gate, Wh {4H,H}
/// is multiplied by the previous output, and h and c are {H,T}, with a column for each step as by
/// lstm_step, to the bit on a CPU. Sequences of all lengths run together. `reverse`: the last
/// column is the first step. The state before the first step is zero, or `initial`, {H} each. Batch
/// sizes are that of the sums; those of `initial` may be one.
LSTMCellState lstm_sequence(const Expression& sums, const Expression& Wh, float forget_bias = 0.0f,
                            bool reverse = false, SourceLocation at = SourceLocation::current());
LSTMCellState lstm_sequence(const Expression& sums, const Expression& Wh,
                            const LSTMCellState& initial, float forget_bias = 0.0f,
                            bool reverse = false, SourceLocation at = SourceLocation::current());

/// x logistic(gate): a gated linear unit (Dauphin, Fan, Auli, Grangier 2017), or a reset gate. Both
/// operands have one shape, which is the result's; batch sizes are equal or one.
Expression gated(const Expression& x, const Expression& gate,
                 SourceLocation at = SourceLocation::current());
/// z tanh(content) + (1 - z) before for z = logistic(gate): the update of a GRU (Cho et al. 2014),
/// or of an LSTM whose input and forget gates are coupled (Greff et al. 2017). All operands have
/// one shape, which is the result's; batch sizes are equal or one.
Expression coupled_update(const Expression& gate, const Expression& content,
                          const Expression& before, SourceLocation at = SourceLocation::current());

}  // namespace dynet
