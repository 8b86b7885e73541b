// Binary tree-LSTM on sentiment trees: word vectors of 128 numbers, 128 hidden units, a label per
// node; each gate has its own matrices.
#include <utility>

#include "benchmarks/training/task.h"

namespace bench {
namespace {

using namespace dynet;

constexpr unsigned kWord = 128, kHidden = 128;

class TreeLstm : public Task {
 public:
  explicit TreeLstm(Trees data)
      : data_(std::make_shared<const Trees>(std::move(data))),
        words_(model.add_lookup_parameters(data_->words, {kWord})),
        weights_{matrix(kWord),       matrix(kWord),       matrix(kWord),   matrix(2 * kHidden),
                 matrix(2 * kHidden), matrix(2 * kHidden), matrix(kHidden), matrix(kHidden)},
        biases_{bias(), bias(), bias(), bias()},
        output_(model.add_parameters({data_->labels, kHidden})) {}

  std::unique_ptr<Task> share() const override { return std::make_unique<TreeLstm>(*this); }

  Expression build(ComputationGraph& cg, std::size_t first, std::size_t count) override {
    const auto [Wi, Wo, Wu, Ui, Uo, Uu, Fl, Fr] = in_graph(cg, weights_);
    const auto [bi, bo, bu, bf] = in_graph(cg, biases_);
    const Expression output = parameter(cg, output_);
    losses_.clear();
    for (std::size_t k = first; k < first + count; ++k) {
      const auto& tree = data_->trees[k % data_->trees.size()];
      states_.resize(tree.size());
      for (std::size_t j = 0; j < tree.size(); ++j) {
        const TreeNode& node = tree[j];
        LSTMCellState& s = states_[j];
        if (node.is_leaf()) {
          const Expression x = lookup(cg, words_, node.word);
          const Expression i = affine_transform({bi, Wi, x});
          const Expression o = affine_transform({bo, Wo, x});
          const Expression u = affine_transform({bu, Wu, x});
          s = lstm_cell({i, o, u}, {});
        } else {
          const LSTMCellState& l = states_[static_cast<std::size_t>(node.left)];
          const LSTMCellState& r = states_[static_cast<std::size_t>(node.right)];
          const Expression e = concatenate({l.h, r.h});
          const Expression i = affine_transform({bi, Ui, e});
          const Expression o = affine_transform({bo, Uo, e});
          const Expression u = affine_transform({bu, Uu, e});
          const Expression fl = affine_transform({bf, Fl, l.h});
          const Expression fr = affine_transform({bf, Fr, r.h});
          s = lstm_cell({i, fl, fr, o, u}, {l.c, r.c});
        }
        losses_.push_back(linear_cross_entropy({output, s.h}, node.label));
      }
    }
    units += count;
    return sum(losses_);
  }

 private:
  Parameter matrix(unsigned columns) { return model.add_parameters({kHidden, columns}); }
  Parameter bias() { return model.add_parameters({kHidden}, ParameterInitConst(0.0f)); }
  template <std::size_t n>
  static std::array<Expression, n> in_graph(ComputationGraph& cg,
                                            const std::array<Parameter, n>& parameters) {
    std::array<Expression, n> result;
    for (std::size_t k = 0; k < n; ++k) result[k] = parameter(cg, parameters[k]);
    return result;
  }

  std::shared_ptr<const Trees> data_;
  LookupParameter words_;
  std::array<Parameter, 8> weights_;
  std::array<Parameter, 4> biases_;
  Parameter output_;
  std::vector<LSTMCellState> states_;
  std::vector<Expression> losses_;
};

}  // namespace

std::unique_ptr<Task> make_tree_lstm(Trees data) {
  return std::make_unique<TreeLstm>(std::move(data));
}

}  // namespace bench
