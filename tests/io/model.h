#pragma once

#include <string>
#include <vector>

#include "dynet-like/io/save.h"
#include "dynet-like/train/adam.h"
#include "tests/io/folder.h"
#include "tests/param/plant.h"
#include "tests/support/all_values.h"

namespace dynet {

/// A collection with one of each, as another process would make it.
struct Model {
  ParameterCollection pc;
  Parameter w, b;
  LookupParameter e;

  explicit Model(std::uint64_t seed) {
    pc.set_seed(seed);
    w = pc.add_parameters({3, 4}, "W");
    auto sub = pc.add_subcollection("layer");
    b = sub.add_parameters({5}, "b");
    e = sub.add_lookup_parameters(6, {2}, "E");
  }
  std::vector<float> values() const { return test::all_values(pc); }
  void step(Trainer& trainer, float g) {
    plant(w, std::vector<float>(12, g));
    plant_row(e, 2, {g, -g});
    trainer.update();
  }
};

/// All numbers that a trainer keeps for its parameters.
inline std::vector<float> state_of(const Trainer& trainer) {
  std::vector<float> all;
  for (const Trainer::StateView& s : trainer.state_views())
    for (const float* a : s.arrays) all.insert(all.end(), a, a + s.dim.size());
  return all;
}

/// A whole training run: parameters, trainer, words, a number.
struct Run {
  Model model;
  AdamTrainer trainer;
  Dict words;
  int number;

  explicit Run(int n)
      : model(static_cast<std::uint64_t>(n)),
        trainer(model.pc),
        words({"a", std::to_string(n)}),
        number(n) {
    for (int i = 0; i < 3; ++i) model.step(trainer, static_cast<float>(n + i));
  }
  void save_to(const std::string& path, const SaveOptions& options = {}) const {
    save(path, options, model.pc, trainer, words, number);
  }
  void load_from(const std::string& path, const FileSystem* files = nullptr) {
    load(path, LoadOptions{.files = files}, model.pc, trainer, words, number);
  }
  /// Everything, bit for bit, as a string.
  std::string state() const {
    std::string s = std::to_string(number);
    for (const auto& floats : {model.values(), state_of(trainer)})
      s.append(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
    for (const auto& [name, x] : trainer.numbers()) s += name + std::to_string(x);
    for (const std::string& w : words.get_words()) s += w;
    return s;
  }
};

/// Error text of loading these things, or "".
template <class... Things>
std::string failed_load(const std::string& path, Things&&... things) {
  return message_of<FileError>([&] { load(path, things...); });
}
/// Its beginning where things do not fit.
inline std::string misfit(const std::string& path) {
  return "cannot load " + path + ": it does not fit: ";
}

}  // namespace dynet
