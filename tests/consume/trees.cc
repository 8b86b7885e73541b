#include <iostream>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/profile/picture.h"

struct Tree {
  unsigned word;
  std::vector<Tree> children;
};

int main() {
  dynet::ParameterCollection pc;
  pc.set_seed(1);
  auto words = pc.add_lookup_parameters(8, {16}, "words");
  auto p_W = pc.add_parameters({16, 16}, 0, "W"), p_V = pc.add_parameters({2, 16}, 0, "V");
  dynet::AdamTrainer trainer(pc, 0.01f);
  const Tree trees[] = {{0, {{1, {}}, {2, {{3, {}}}}}}, {4, {{5, {{6, {}}, {7, {}}}}}}};
  float value = 0;
  for (int update = 0; update <= 40; ++update) {
    dynet::ComputationGraph cg;
    auto W = parameter(cg, p_W), V = parameter(cg, p_V);
    auto network = [&](auto& self, const Tree& tree) -> dynet::Expression {
      auto h = lookup(cg, words, tree.word);
      for (const Tree& child : tree.children) h = h + W * self(self, child);
      return tanh(h);
    };
    std::vector<dynet::Expression> losses;
    for (unsigned label : {0, 1})
      losses.push_back(pickneglogsoftmax(V * network(network, trees[label]), label));
    auto loss = sum(losses);
    cg.backward(loss);
    trainer.update();
    value = as_scalar(loss.value());
    if (update % 20 == 0) std::cout << "update " << update << ", loss " << value << '\n';
    if (update == 40) dynet::write_svg(cg, "trees.svg");
  }
  return value < 0.01f ? 0 : 1;
}
