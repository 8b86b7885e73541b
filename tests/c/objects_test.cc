#include <cstring>
#include <fstream>

#include "dynet-like/io/save.h"
#include "tests/c/calls.h"
#include "tests/io/folder.h"

namespace dynet::test::c_objects {
namespace {

using V = std::vector<float>;

TEST_CASE("C: an error that is set stops all further calls") {
  dynet_error error = DYNET_NO_ERROR;
  Model model(dynet_model_new(&error));
  const std::uint32_t sizes[] = {2};
  CHECK(!dynet_add_parameters(model, "W", sizes, 1, "no_such(1)", &error));
  CHECK(error.code == DYNET_ARGUMENT_ERROR);
  const std::string first = error.message;
  CHECK(first.find("no_such") == 0);
  CHECK(!dynet_add_parameters(model, "W", sizes, 1, nullptr, &error));
  CHECK(!dynet_graph_new(nullptr, &error));
  CHECK(dynet_model_size(model) == 0);
  CHECK(error.message == first);
  error.code = DYNET_OK;
  CHECK(dynet_add_parameters(model, "W", sizes, 1, nullptr, &error));
  CHECK(error.code == DYNET_OK);
  // Without an error the results alone tell.
  CHECK(!dynet_add_parameters(model, "V", sizes, 1, "normal(x)", nullptr));
  CHECK(dynet_add_parameters(model, "V", sizes, 1, "normal(0, 0.5)", nullptr));
}

TEST_CASE("C: programs with another size of a struct work") {
  struct {
    dynet_error known = DYNET_NO_ERROR;
    char behind = 'x';
  } small;
  small.known.size = offsetof(dynet_error, message) + 8;  // room for 7 characters
  std::memset(small.known.message, 'y', sizeof(small.known.message));
  CHECK(!dynet_model_find(nullptr, "W", &small.known));
  CHECK(std::string(small.known.message) == "model i");
  CHECK(small.known.message[8] == 'y');
  small.known.size = 4;  // not even a code
  CHECK(!dynet_model_find(nullptr, "W", &small.known));

  dynet_graph_options options = DYNET_GRAPH_OPTIONS;
  options.inference = 1;
  options.size = offsetof(dynet_graph_options, inference);  // of a program that does not know it
  Graph g(dynet_graph_new(&options, NoError()));
  dynet_backward(apply(g, "number", {dynet_num(1)}), 0, NoError());
}

TEST_CASE("C: parameters are read, written, found and frozen") {
  Model model(dynet_model_new(NoError()));
  Model below(dynet_model_add_subcollection(model, "below", NoError()));
  dynet_parameter* W = add(below, "W", {2, 3}, "constant(0.5)");
  const std::uint32_t row[] = {2};
  dynet_parameter* table =
      dynet_add_lookup_parameters(model, "table", 3, row, 1, "constant(2)", NoError());
  CHECK(dynet_parameter_name(W) == std::string("/below/W"));
  CHECK(values_of(W, 6) == V(6, 0.5f));
  dynet_shape shape;
  dynet_parameter_shape(table, &shape, NoError());
  CHECK((shape.dimensions == 2 && shape.sizes[0] == 2 && shape.sizes[1] == 3));
  const V six = {1, 2, 3, 4, 5, 6};
  dynet_parameter_set(table, six.data(), 6, NoError());
  CHECK(values_of(table, 6) == six);
  CHECK(dynet_model_size(model) == 2);
  CHECK(dynet_model_find(below, "/below/W", NoError()) == W);
  CHECK(dynet_parameter_name(dynet_model_find(model, "/below/W", NoError())) ==
        std::string("/below/W"));
  CHECK(dynet_model_find(model, "/table", NoError()) == table);
  CHECK(dynet_model_find(model, "/none", NoError()) == nullptr);
  CHECK(dynet_model_parameter(model, 1, NoError()) == table);

  Graph g(dynet_graph_new(nullptr, NoError()));
  const dynet_expression w = apply(g, "parameter", {dynet_param(W)});
  const dynet_expression x = apply(g, "lookup", {dynet_param(table), dynet_int(1)});
  CHECK(value_of(x) == V{3, 4});
  CHECK(value_of(apply(g, "parameter", {dynet_param(table)})) == six);
  const dynet_expression product =
      apply(g, "multiply", {dynet_expr(apply(g, "transpose", {dynet_expr(w)})), dynet_expr(x)});
  dynet_backward(apply(g, "sum_elems", {dynet_expr(product)}), 0, NoError());
  V gradient(6);
  dynet_parameter_get_gradient(W, gradient.data(), 6, NoError());
  CHECK(gradient == V{3, 4, 3, 4, 3, 4});
  dynet_parameter_get_gradient(table, gradient.data(), 6, NoError());
  CHECK(gradient == V{0, 0, 1.5, 1.5, 0, 0});
  V x_gradient(2);
  dynet_get_gradient(x, x_gradient.data(), 2, NoError());
  CHECK(x_gradient == V{1.5, 1.5});
  dynet_parameter_set_updated(table, 0, NoError());
  Optimizer trainer(dynet_trainer_new(model, "sgd", nullptr, 0, NoError()));
  dynet_trainer_update(trainer, 1, NoError());
  CHECK(values_of(table, 6) == six);
  CHECK(values_of(W, 6)[0] == Approx(0.5 - 0.1 * 3 * 5 / std::sqrt(75)));
  dynet_model_reset_gradient(model, NoError());

  dynet_error error = DYNET_NO_ERROR;
  dynet_parameter_get(W, gradient.data(), 5, &error);
  CHECK(std::string(error.message) == "dynet_parameter_get: there are 6 numbers, not 5");
  error.code = 0;
  dynet_parameter_set(W, nullptr, 6, &error);
  CHECK(error.code == DYNET_ARGUMENT_ERROR);
  error.code = 0;
  dynet_model_parameter(model, 2, &error);
  CHECK(error.code == DYNET_INDEX_ERROR);
}

TEST_CASE("C: initial values depend on the seed and the name") {
  const auto values = [](std::uint64_t seed, const char* initializer) {
    Model model(dynet_model_new(NoError()));
    dynet_model_set_seed(model, seed, NoError());
    return values_of(add(model, "W", {2, 2}, initializer), 4);
  };
  for (const std::string& signature : signatures(DYNET_INITIALIZERS)) {
    const std::string name = name_in(signature);
    const std::string text = name == "uniform"    ? "uniform(-1, 1)"
                             : name == "constant" ? "constant(3)"
                                                  : name + "()";
    INFO(text);
    CHECK(values(1, text.c_str()) == values(1, text.c_str()));
    CHECK((values(1, text.c_str()) == values(2, text.c_str())) ==
          (name == "constant" || name == "identity"));
  }
  CHECK(values(1, "identity") == V{1, 0, 0, 1});
}

TEST_CASE("C: models, trainers and texts are saved and loaded") {
  const TemporaryFolder folder;
  const std::string path = folder.path("model");
  const auto made = [] { return dynet_model_new(NoError()); };
  Model model(made());
  dynet_parameter* W = add(model, "W", {2}, "constant(1)");
  Optimizer trainer(dynet_trainer_new(model, "adam", nullptr, 0, NoError()));
  const auto step = [](dynet_parameter* p, dynet_trainer* t) {
    Graph g(dynet_graph_new(nullptr, NoError()));
    dynet_backward(apply(g, "squared_norm", {dynet_expr(apply(g, "parameter", {dynet_param(p)}))}),
                   0, NoError());
    dynet_trainer_update(t, 1, NoError());
  };
  step(W, trainer);
  dynet_save(path.c_str(), model, trainer, "words\nand tags", NoError());
  step(W, trainer);

  Model again(made());
  dynet_parameter* V2 = add(again, "W", {2}, "constant(7)");
  Optimizer trainer2(dynet_trainer_new(again, "adam", nullptr, 0, NoError()));
  dynet_load(path.c_str(), again, trainer2, 0, NoError());
  step(V2, trainer2);
  CHECK(values_of(V2, 2) == values_of(W, 2));

  char text[20];
  CHECK(dynet_read_text(path.c_str(), nullptr, 0, NoError()) == 14);
  CHECK(dynet_read_text(path.c_str(), text, sizeof(text), NoError()) == 14);
  CHECK(std::string(text) == "words\nand tags");
  text[0] = 'x';
  CHECK(dynet_read_text(path.c_str(), text, 14, NoError()) == 14);  // one too short: unchanged
  CHECK(text[0] == 'x');

  dynet_save(path.c_str(), model, nullptr, nullptr, NoError());
  CHECK(dynet_read_text(path.c_str(), text, sizeof(text), NoError()) == 0);
  dynet_load(path.c_str(), again, nullptr, DYNET_LOAD_MAP, NoError());
  ParameterCollection in_cpp;  // what C++ and Python read
  in_cpp.add_parameters({2}, "W");
  CHECK(load(path, in_cpp).loaded == 1);
  dynet_error error = DYNET_NO_ERROR;
  dynet_load(path.c_str(), again, trainer2, 0, &error);
  CHECK(error.code == DYNET_FILE_ERROR);
  error.code = 0;
  dynet_load(folder.path("none").c_str(), again, nullptr, DYNET_LOAD_UNVERIFIED, &error);
  CHECK(error.code == DYNET_FILE_ERROR);
  error.code = 0;
  dynet_save(nullptr, model, nullptr, nullptr, &error);
  CHECK(error.code == DYNET_ARGUMENT_ERROR);
}

TEST_CASE("C: graphs have options, marks and stale expressions") {
  dynet_graph_options options = DYNET_GRAPH_OPTIONS;
  options.has_seed = 1;
  options.seed = 5;
  options.check_validity = 1;
  Graph g(dynet_graph_new(&options, NoError()));
  const auto draw = [&] { return value_of(apply(g, "random_normal", {dynet_int(3)})); };
  const V first = draw();
  dynet_graph_renew(g, &options, NoError());
  CHECK(draw() == first);
  options.seed = 6;
  dynet_graph_renew(g, &options, NoError());
  CHECK(draw() != first);
  dynet_error error = DYNET_NO_ERROR;
  const dynet_expression nan = apply(g, "log", {dynet_expr(numbers(g, {-1}))});
  CHECK(dynet_get_scalar(nan, &error) == 0);
  CHECK(error.code == DYNET_NUMERIC_ERROR);

  dynet_graph_renew(g, nullptr, NoError());
  const dynet_expression x = numbers(g, {1, 2});
  dynet_graph_checkpoint(g, NoError());
  const dynet_expression y = apply(g, "tanh", {dynet_expr(x)});
  dynet_graph_revert(g, NoError());
  CHECK(dynet_graph_size(g) == 1);
  error.code = 0;
  dynet_get_value(y, nullptr, 2, &error);
  CHECK(error.code == DYNET_STALE_EXPRESSION);
  error.code = 0;
  dynet_graph_revert(g, &error);
  CHECK(error.code == DYNET_ARGUMENT_ERROR);
  error.code = 0;
  dynet_backward(x, 0, &error);
  CHECK(error.code == DYNET_SHAPE_ERROR);
  error.code = 0;
  dynet_backward(dynet_expression{}, 0, &error);
  CHECK(error.code == DYNET_STALE_EXPRESSION);
  error.code = 0;
  float value;
  dynet_get_gradient(apply(g, "number", {dynet_num(1)}), &value, 1, &error);
  CHECK(error.code == DYNET_GRADIENT_ERROR);
  options = DYNET_GRAPH_OPTIONS;
  options.precision = "half";
  error.code = 0;
  CHECK(!dynet_graph_new(&options, &error));
  options.precision = "bf16";
  options.device = "CPU";
  options.immediate = options.unbatched = 1;
  Graph last(dynet_graph_new(&options, NoError()));
  CHECK(value_of(numbers(last, {1})) == V{1});
  const dynet_expression gone = [] {
    Graph short_lived(dynet_graph_new(nullptr, NoError()));
    return numbers(short_lived, {1});
  }();
  error.code = 0;
  dynet_get_scalar(gone, &error);
  CHECK(error.code == DYNET_STALE_EXPRESSION);
}

TEST_CASE("C: every trainer learns, and has settings") {
  for (const std::string& signature : signatures(DYNET_TRAINERS)) {
    INFO(signature);
    Model model(dynet_model_new(NoError()));
    dynet_parameter* W = add(model, "W", {2}, "constant(0.5)");
    Optimizer trainer(dynet_trainer_new(model, name_in(signature).c_str(), nullptr, 0, NoError()));
    const auto loss = [&](bool update) {
      Graph g(dynet_graph_new(nullptr, NoError()));
      const dynet_expression w = apply(g, "parameter", {dynet_param(W)});
      const dynet_expression e =
          apply(g, "squared_distance", {dynet_expr(w), dynet_expr(numbers(g, {0.6f, 0.4f}))});
      if (update) dynet_backward(e, 0, NoError()), dynet_trainer_update(trainer, 1, NoError());
      return value_of(e)[0];
    };
    dynet_trainer_set(trainer, "learning_rate", 0.01, NoError());
    const float before = loss(true);
    CHECK(loss(false) < before);
    dynet_trainer_set(trainer, "learning_rate", 0.25, NoError());
    CHECK(dynet_trainer_get(trainer, "learning_rate", NoError()) == 0.25);
    CHECK(dynet_trainer_get(trainer, "clip_threshold", NoError()) == 5);
    dynet_trainer_set(trainer, "clip_threshold", 0, NoError());
    CHECK(dynet_trainer_get(trainer, "clip_threshold", NoError()) == 0);
    dynet_trainer_set(trainer, "sparse_updates", 0, NoError());
    CHECK(dynet_trainer_get(trainer, "sparse_updates", NoError()) == 0);
    CHECK(dynet_trainer_get(trainer, "skip_non_finite", NoError()) == 0);
  }
  dynet_error error = DYNET_NO_ERROR;
  Model model(dynet_model_new(NoError()));
  const dynet_value rate[] = {dynet_num(0.5)};
  Optimizer sgd(dynet_trainer_new(model, "sgd", rate, 1, NoError()));
  CHECK(dynet_trainer_get(sgd, "learning_rate", NoError()) == 0.5);
  dynet_trainer_get(sgd, "rate", &error);
  CHECK(std::string(error.message).find("no setting \"rate\"") != std::string::npos);
  error.code = 0;
  CHECK(!dynet_trainer_new(model, "sgdd", nullptr, 0, &error));
  CHECK(error.code == DYNET_ARGUMENT_ERROR);
}

TEST_CASE("C: weight decay is that of the model") {
  Model model(dynet_model_new(NoError()));
  dynet_parameter* W = add(model, "W", {1}, "constant(1)");
  dynet_model_set_weight_decay(model, 0.5, NoError());
  Optimizer trainer(dynet_trainer_new(model, "sgd", nullptr, 0, NoError()));
  dynet_trainer_update(trainer, 1, NoError());
  CHECK(values_of(W, 1) == V{0.5f});
}

TEST_CASE("C: recurrent networks") {
  const dynet_value sizes[] = {dynet_int(2), dynet_int(3), dynet_int(4)};
  for (const std::string& signature : signatures(DYNET_RNNS)) {
    INFO(signature);
    Model model(dynet_model_new(NoError()));
    Rnn rnn(dynet_rnn_new(model, name_in(signature).c_str(), sizes, 3, NoError()));
    Rnn copy(dynet_rnn_copy(rnn, NoError()));
    const auto output = [&](dynet_rnn* of) {
      Graph g(dynet_graph_new(nullptr, NoError()));
      dynet_rnn_new_graph(of, g, 1, NoError());
      dynet_rnn_start(of, nullptr, 0, NoError());
      const dynet_expression x = numbers(g, {1, 2, 3});
      CHECK(dynet_rnn_last_step(of) == -1);
      dynet_rnn_add_input(of, x, NoError());
      const V second = value_of(dynet_rnn_add_input(of, x, NoError()));
      CHECK(dynet_rnn_last_step(of) == 1);
      CHECK(value_of(dynet_rnn_add_input_after(of, 0, x, NoError())) == second);
      std::vector<dynet_expression> state(4);
      const std::size_t n = dynet_rnn_get_state(of, 0, state.data(), 4, NoError());
      CHECK((n == 2 || n == 4));
      dynet_rnn_start(of, state.data(), n, NoError());
      CHECK(value_of(dynet_rnn_add_input(of, x, NoError())) == second);
      return second;
    };
    CHECK(output(rnn) == output(copy));
    dynet_rnn_set_dropout(rnn, 0.5, 0.5, NoError());
    CHECK(output(copy) == output(copy));
    Graph g(dynet_graph_new(nullptr, NoError()));
    dynet_rnn_new_graph(rnn, g, 1, NoError());
    dynet_rnn_start(rnn, nullptr, 0, NoError());
    dynet_rnn_add_input(rnn, numbers(g, {1, 2, 3}), NoError());
    CHECK(value_of(dynet_rnn_add_input(rnn, numbers(g, {1, 2, 3}), NoError())) != output(copy));
  }
  dynet_error error = DYNET_NO_ERROR;
  Model model(dynet_model_new(NoError()));
  Rnn rnn(dynet_rnn_new(model, "gru", sizes, 3, NoError()));
  dynet_rnn_add_input(rnn, dynet_expression{}, &error);
  CHECK(error.code == DYNET_ARGUMENT_ERROR);
  error.code = 0;
  CHECK(!dynet_rnn_new(model, "lstm", sizes, 2, &error));
  CHECK(std::string(error.message).find("argument 3, hidden, is missing") != std::string::npos);
}

TEST_CASE("C: tree networks") {
  for (const std::string& signature : signatures(DYNET_TREES)) {
    INFO(signature);
    const bool has_limit = signature.find("children") != signature.npos;
    const dynet_value sizes[] = {dynet_int(2), dynet_int(1), dynet_int(4), dynet_int(4)};
    Model model(dynet_model_new(NoError()));
    Tree tree(dynet_tree_new(model, name_in(signature).c_str(), sizes + !has_limit, 3 + has_limit,
                             NoError()));
    Tree copy(dynet_tree_copy(tree, NoError()));
    const auto output = [](dynet_tree* of) {
      Graph g(dynet_graph_new(nullptr, NoError()));
      dynet_tree_new_graph(of, g, 1, NoError());
      dynet_tree_start(of, NoError());
      const dynet_expression x = numbers(g, {1, 2, 3, 4});
      dynet_tree_add_input(of, 0, nullptr, 0, x, NoError());
      dynet_tree_add_input(of, 1, nullptr, 0, x, NoError());
      const std::int32_t children[] = {0, 1};
      return value_of(dynet_tree_add_input(of, 2, children, 2, x, NoError()));
    };
    CHECK(output(tree) == output(copy));
    CHECK(output(tree).size() == 4);
  }
}

TEST_CASE("C: a checkpoint is loaded with and without its trainer") {
  const TemporaryFolder folder;
  const std::string path = folder.path("checkpoint");
  Model model(dynet_model_new(NoError())), other(dynet_model_new(NoError()));
  dynet_parameter* W = add(model, "W", {2}, "constant(1)");
  dynet_parameter* again = add(other, "W", {2}, "constant(7)");
  Optimizer trainer(dynet_trainer_new(model, "momentum_sgd", nullptr, 0, NoError()));
  dynet_trainer_update(trainer, 1, NoError());
  dynet_save(path.c_str(), model, trainer, "text", NoError());
  dynet_load(path.c_str(), other, nullptr, 0, NoError());
  CHECK(values_of(again, 2) == values_of(W, 2));
  dynet_save(path.c_str(), model, nullptr, "text", NoError());
  dynet_error error = DYNET_NO_ERROR;
  dynet_load(path.c_str(), model, trainer, 0, &error);
  CHECK(std::string(error.message).find("it has no state of a trainer") != std::string::npos);
  // A damaged text is noticed by loading.
  std::string bytes = read_file(path);
  bytes[bytes.rfind("text")] = 'T';
  write_file(path, bytes);
  error.code = 0;
  dynet_load(path.c_str(), other, nullptr, 0, &error);
  CHECK(error.code == DYNET_FILE_ERROR);
}

TEST_CASE("C: handles are shared by the collections of a tree") {
  Model model(dynet_model_new(NoError()));
  dynet_parameter* W;
  {
    Model below(dynet_model_add_subcollection(model, "below", NoError()));
    W = add(below, "W", {2}, "constant(1)");
  }
  CHECK(dynet_model_find(model, "/below/W", NoError()) == W);
  CHECK(values_of(W, 2) == V{1, 1});
}

TEST_CASE("C: gradients of all expressions on request, mistakes that are noticed") {
  Graph g(dynet_graph_new(nullptr, NoError())), other(dynet_graph_new(nullptr, NoError()));
  const dynet_expression x = numbers(g, {1, 2});
  dynet_backward(apply(g, "squared_norm", {dynet_expr(x)}), 1, NoError());
  V gradient(2);
  dynet_get_gradient(x, gradient.data(), 2, NoError());
  CHECK(gradient == V{2, 4});
  dynet_error error = DYNET_NO_ERROR;
  const dynet_value argument = dynet_expr(x);
  dynet_apply(other, "tanh", &argument, 1, &error);
  CHECK(std::string(error.message).find("x, is of another graph") != std::string::npos);
  dynet_error* none = nullptr;
  CHECK(DYNET_HERE(none) == nullptr);
  dynet_error zeros = {};
  CHECK(!dynet_model_find(nullptr, "x", &zeros));
  CHECK(zeros.code == DYNET_ARGUMENT_ERROR);
  // Options that are refused leave the graph as it was.
  dynet_graph_options options = DYNET_GRAPH_OPTIONS;
  options.precision = "";
  error.code = 0;
  const std::size_t size = dynet_graph_size(g);
  dynet_graph_renew(g, &options, &error);
  CHECK(error.code == DYNET_ARGUMENT_ERROR);
  CHECK(dynet_graph_size(g) == size);
  CHECK(value_of(x) == V{1, 2});
  // Counts are looked at before lists.
  Model model(dynet_model_new(NoError()));
  const std::uint32_t sizes[] = {2};
  error.code = 0;
  CHECK(!dynet_add_parameters(model, "W", sizes, std::size_t(-1), nullptr, &error));
  CHECK(error.code == DYNET_ARGUMENT_ERROR);
  const dynet_value three[] = {dynet_int(1), dynet_int(2), dynet_int(2)};
  Rnn rnn(dynet_rnn_new(model, "gru", three, 3, NoError()));
  dynet_rnn_new_graph(rnn, g, 1, NoError());
  error.code = 0;
  dynet_rnn_start(rnn, &x, 1000000, &error);
  CHECK(std::string(error.message) == "a state has 1 expressions, not 1000000");
  // Settings.
  Optimizer trainer(dynet_trainer_new(model, "sgd", nullptr, 0, NoError()));
  for (const auto& [name, value] :
       {std::pair("learning_rate", NAN), {"clip_threshold", -1.0f}, {"sparse_updates", 0.5f}}) {
    error.code = 0;
    dynet_trainer_set(trainer, name, static_cast<double>(value), &error);
    CHECK(error.code == DYNET_ARGUMENT_ERROR);
  }
  // A table has a scale of its own.
  const auto first = [](const char* initializer) {
    Model one(dynet_model_new(NoError()));
    const std::uint32_t row[] = {4};
    return values_of(dynet_add_lookup_parameters(one, "T", 3, row, 1, initializer, NoError()), 12);
  };
  CHECK(first(nullptr) == first("glorot"));
  CHECK(first("glorot(1)") == first("table_glorot"));
}

TEST_CASE("C: nothing happens to NULL") {
  dynet_model_free(nullptr);
  dynet_graph_free(nullptr);
  dynet_rnn_free(nullptr);
  dynet_tree_free(nullptr);
  dynet_trainer_free(nullptr);
  CHECK(dynet_model_size(nullptr) == 0);
  CHECK(dynet_graph_size(nullptr) == 0);
  CHECK(dynet_rnn_last_step(nullptr) == -1);
  CHECK(dynet_parameter_name(nullptr) == std::string());
  CHECK(dynet_signature(99, 0) == nullptr);
  CHECK(dynet_c_version() == DYNET_C_VERSION);
  CHECK(std::string(dynet_version()).find('.') != std::string::npos);
  dynet_error error = DYNET_NO_ERROR;
  const auto fails = [&] {
    const int code = error.code;
    error.code = 0;
    return code == DYNET_ARGUMENT_ERROR;
  };
  CHECK((dynet_model_add_subcollection(nullptr, "x", &error), fails()));
  CHECK((dynet_model_set_seed(nullptr, 1, &error), fails()));
  CHECK((dynet_model_set_weight_decay(nullptr, 0, &error), fails()));
  CHECK((dynet_parameter_set_updated(nullptr, 1, &error), fails()));
  CHECK((dynet_parameter_shape(nullptr, nullptr, &error), fails()));
  CHECK((dynet_graph_renew(nullptr, nullptr, &error), fails()));
  CHECK((dynet_graph_checkpoint(nullptr, &error), fails()));
  CHECK((dynet_rnn_new(nullptr, "gru", nullptr, 0, &error), fails()));
  CHECK((dynet_rnn_copy(nullptr, &error), fails()));
  CHECK((dynet_rnn_new_graph(nullptr, nullptr, 1, &error), fails()));
  CHECK((dynet_rnn_start(nullptr, nullptr, 0, &error), fails()));
  CHECK((dynet_rnn_get_state(nullptr, 0, nullptr, 0, &error), fails()));
  CHECK((dynet_tree_copy(nullptr, &error), fails()));
  CHECK((dynet_tree_add_input(nullptr, 0, nullptr, 0, {}, &error), fails()));
  CHECK((dynet_trainer_update(nullptr, 1, &error), fails()));
  CHECK((dynet_trainer_set(nullptr, "x", 1, &error), fails()));
  CHECK((dynet_load(nullptr, nullptr, nullptr, 0, &error), fails()));
  CHECK((dynet_read_text(nullptr, nullptr, 0, &error), fails()));
}

}  // namespace
}  // namespace dynet::test::c_objects
