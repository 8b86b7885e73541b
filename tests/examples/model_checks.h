#pragma once

#include <cstddef>
#include <memory>

#include "dynet-like/dynet.h"
#include "dynet-like/run/grad_check.h"
#include "examples/nlp/common/model_file.h"
#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

/// Gradients of `loss(graph, training)` are right, with dropout and without, and reach so many
/// parameters; it drops out in training alone, by the graph's seed.
template <typename Loss>
void check_training_of(Loss loss, std::size_t parameters) {
  for (const bool training : {false, true}) {
    dynet::ComputationGraph graph;
    graph.set_seed(3);
    const dynet::GradientReport report = dynet::check_gradients(loss(graph, training));
    INFO(report);
    CHECK(report.ok());
    CHECK(report.parameters == parameters);
  }
  const auto value = [&](bool training, std::uint64_t seed) {
    dynet::ComputationGraph graph;
    graph.set_seed(seed);
    return as_vector(loss(graph, training).value());
  };
  CHECK(value(false, 1) == value(false, 2));
  CHECK(value(true, 1) == value(true, 1));
  CHECK(value(true, 1) != value(true, 2));
  CHECK(value(true, 1) != value(false, 1));
}

/// The model from a file that it was saved in. Saved again it is the same file, and no checkpoint.
template <typename Model, typename Settings>
std::unique_ptr<Model> saved_and_loaded(const Model& model) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model"), again = folder.path("again");
  nlp::save_model(path, model);
  std::unique_ptr<Model> loaded = nlp::load_model<Model>(path);
  nlp::save_model(again, *loaded);
  CHECK((read_file(again) == read_file(path)));
  const std::string name = Model::kProgram;
  CHECK(contains(error_from([&] { nlp::load_checkpoint<nlp::Checkpoint<Model, Settings>>(path); }),
                 "holds '" + name + " model 1', expected '" + name + " checkpoint 1'"));
  return loaded;
}
