#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Parts of an LSTM step (Hochreiter and Schmidhuber 1997, with a forget gate). A vector {4H} holds
// the gates: input i, forget f, output o, new content g. Errors: ShapeError.

namespace dynet {

/// i, f, o = logistic(.), g = tanh(.) of Wx x_t + Wh h_tm1 + b, where f's sum also gets
/// `forget_bias`. Weights and b get Gaussian noise of deviation `weightnoise_std`. x {I}, h {H}, Wx
/// {4H,I}, Wh {4H,H}, b {4H} give {4H}; batch sizes equal or one.
Expression vanilla_lstm_gates(const Expression& x_t, const Expression& h_tm1, const Expression& Wx,
                              const Expression& Wh, const Expression& b,
                              float weightnoise_std = 0.0f, float forget_bias = 1.0f,
                              SourceLocation at = SourceLocation::current());
/// vanilla_lstm_gates of the concatenation of the vectors x_t.
Expression vanilla_lstm_gates_concat(const std::vector<Expression>& x_t, const Expression& h_tm1,
                                     const Expression& Wx, const Expression& Wh,
                                     const Expression& b, float weightnoise_std = 0.0f,
                                     float forget_bias = 1.0f,
                                     SourceLocation at = SourceLocation::current());
/// vanilla_lstm_gates of x_t and h_tm1 multiplied elementwise by masks {I} and {H}.
Expression vanilla_lstm_gates_dropout(const Expression& x_t, const Expression& h_tm1,
                                      const Expression& Wx, const Expression& Wh,
                                      const Expression& b, const Expression& dropout_mask_x,
                                      const Expression& dropout_mask_h,
                                      float weightnoise_std = 0.0f, float forget_bias = 1.0f,
                                      SourceLocation at = SourceLocation::current());
/// vanilla_lstm_gates_dropout of the concatenation of the vectors x_t.
Expression vanilla_lstm_gates_dropout_concat(const std::vector<Expression>& x_t,
                                             const Expression& h_tm1, const Expression& Wx,
                                             const Expression& Wh, const Expression& b,
                                             const Expression& dropout_mask_x,
                                             const Expression& dropout_mask_h,
                                             float weightnoise_std = 0.0f, float forget_bias = 1.0f,
                                             SourceLocation at = SourceLocation::current());
/// The gates of the first step, where h is zero.
Expression vanilla_lstm_gates(const Expression& x_t, const Expression& Wx, const Expression& b,
                              float forget_bias = 1.0f,
                              SourceLocation at = SourceLocation::current());
/// The gates from given sums {4H}.
Expression vanilla_lstm_gates(const Expression& sums, float forget_bias = 1.0f,
                              SourceLocation at = SourceLocation::current());
/// c_t = i g + f c_tm1: cell {H} and gates {4H} give {H}.
Expression vanilla_lstm_c(const Expression& c_tm1, const Expression& gates_t,
                          SourceLocation at = SourceLocation::current());
/// h_t = o tanh(c_t): cell {H} and gates {4H} give {H}.
Expression vanilla_lstm_h(const Expression& c_t, const Expression& gates_t,
                          SourceLocation at = SourceLocation::current());

// Parts of a node of a tree-LSTM (Tai, Socher, Manning 2015) with any number K of children. A
// vector {(3+K)H} holds the gates: input i, a forget gate f_k for each child, output o, new content
// g. With K = 1 these are the operations above. Errors: ShapeError.

/// i, f_k, o = logistic(.), g = tanh(.) of given sums {(3+K)H}, where those of the f_k also get
/// `forget_bias`; {(3+K)H}.
Expression tree_lstm_gates(const Expression& sums, unsigned children, float forget_bias = 0.0f,
                           SourceLocation at = SourceLocation::current());
/// c = i g + sum_k f_k c_k: the cells {H} of K children and gates {(3+K)H} give {H}; batch sizes
/// equal or one.
Expression tree_lstm_c(std::initializer_list<Expression> cells, const Expression& gates,
                       SourceLocation at = SourceLocation::current());
Expression tree_lstm_c(const std::vector<Expression>& cells, const Expression& gates,
                       SourceLocation at = SourceLocation::current());
/// h = o tanh(c): cell {H} and gates {(3+K)H} give {H}; batch sizes equal or one.
Expression tree_lstm_h(const Expression& c, const Expression& gates,
                       SourceLocation at = SourceLocation::current());

}  // namespace dynet
