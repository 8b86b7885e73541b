// N-ary tree-LSTM (Tai, Socher, Manning 2015, section 3.2) with two children and few operations:
// concatenated gates; word vectors of 128 numbers, 128 hidden units, a label per node.
#include <utility>

#include "benchmarks/training/task.h"

namespace bench {
namespace {

using namespace dynet;

constexpr unsigned kWord = 128, kHidden = 128;

class TreeCells : public Task {
 public:
  explicit TreeCells(Trees data)
      : data_(std::make_shared<const Trees>(std::move(data))),
        words_(model.add_lookup_parameters(data_->words, {kWord})),
        leaf_(model.add_parameters({3 * kHidden, kWord})),
        left_(model.add_parameters({5 * kHidden, kHidden})),
        right_(model.add_parameters({5 * kHidden, kHidden})),
        leaf_bias_(model.add_parameters({3 * kHidden}, ParameterInitConst(0.0f))),
        bias_(model.add_parameters({5 * kHidden}, ParameterInitConst(0.0f))),
        output_(model.add_parameters({data_->labels, kHidden})) {}

  std::unique_ptr<Task> share() const override { return std::make_unique<TreeCells>(*this); }

  Expression build(ComputationGraph& cg, std::size_t first, std::size_t count) override {
    const Expression leaf = parameter(cg, leaf_), leaf_bias = parameter(cg, leaf_bias_);
    const Expression left = parameter(cg, left_), right = parameter(cg, right_);
    const Expression bias = parameter(cg, bias_), output = parameter(cg, output_);
    losses_.clear();
    for (std::size_t k = first; k < first + count; ++k) {
      const auto& tree = data_->trees[k % data_->trees.size()];
      states_.resize(tree.size());
      for (std::size_t j = 0; j < tree.size(); ++j) {
        const TreeNode& node = tree[j];
        LSTMCellState& s = states_[j];
        if (node.is_leaf()) {
          const Expression x = lookup(cg, words_, node.word);
          s = lstm_step({leaf_bias, leaf, x}, {});
        } else {
          const LSTMCellState& l = states_[static_cast<std::size_t>(node.left)];
          const LSTMCellState& r = states_[static_cast<std::size_t>(node.right)];
          s = lstm_step({bias, left, l.h, right, r.h}, {l.c, r.c});
        }
        losses_.push_back(linear_cross_entropy({output, s.h}, node.label));
      }
    }
    units += count;
    return sum(losses_);
  }

 private:
  std::shared_ptr<const Trees> data_;
  LookupParameter words_;
  Parameter leaf_, left_, right_, leaf_bias_, bias_, output_;
  std::vector<LSTMCellState> states_;
  std::vector<Expression> losses_;
};

}  // namespace

std::unique_ptr<Task> make_tree_cells(Trees data) {
  return std::make_unique<TreeCells>(std::move(data));
}

}  // namespace bench
