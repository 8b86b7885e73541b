#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "dynet-like/c/handles.h"
#include "dynet-like/ops/families.h"
#include "tests/c/calls.h"

namespace dynet::test::c_operations {
namespace {

// Names in C of infix operators.
const std::map<std::string, std::vector<std::string>> kOperators = {
    {"operator+", {"add", "add_number"}},
    {"operator-", {"subtract", "negate", "subtract_from"}},
    {"operator*", {"multiply", "scale"}},
    {"operator/", {"divide"}}};

struct Described {
  std::string name;
  bool is_made_of_others;
};
std::vector<Described> described() {
  const std::string here = __FILE__;
  std::ifstream in(here.substr(0, here.rfind("tests/c/")) + "docs/operations.md");
  std::vector<Described> all;
  static const std::regex row(R"(\| `([a-z0-9_+*/-]+)` \|.*)");
  for (std::string line; std::getline(in, line);)
    if (std::smatch m; std::regex_match(line, m, row))
      all.push_back({m[1], line.find("made of") != line.npos});
  return all;
}

std::set<std::string> names() {
  std::set<std::string> all;
  for (const std::string& s : signatures(DYNET_OPERATIONS)) CHECK(all.insert(name_in(s)).second);
  return all;
}

TEST_CASE("C: all operations are there, and no others") {
  std::set<std::string> left = names();
  REQUIRE(described().size() > 150);
  for (const auto& [name, _] : described()) {
    const auto infix = kOperators.find(name);
    for (const std::string& known :
         infix == kOperators.end() ? std::vector<std::string>{name} : infix->second) {
      INFO(known);
      CHECK(left.erase(known) == 1);
    }
  }
  // Two forms of input have names of their own.
  CHECK(left == std::set<std::string>{"number", "sparse_input"});
}

// Whether an operation of this name is among the nodes from `first` on.
bool has_made(const dynet_graph* g, std::size_t first, const std::string& name) {
  const auto& nodes = g->graph.store().nodes;
  while (first < g->graph.size())
    if (nodes[first++].form->name.value == name) return true;
  return false;
}

TEST_CASE("C: an operation on expressions is the one of its name") {
  std::map<std::string, bool> made_of_others;
  for (const auto& [name, others] : described()) made_of_others[name] = others;
  unsigned checked = 0;
  for (const std::string& signature : signatures(DYNET_OPERATIONS)) {
    const std::string name = name_in(signature);
    if (!made_of_others.count(name) || made_of_others[name]) continue;
    for (const bool is_matrix : {true, false}) {
      Graph g(dynet_graph_new(nullptr, NoError()));
      const std::int64_t sizes[] = {2, 2};
      std::vector<dynet_value> x(
          std::count(signature.begin(), signature.end(), ',') + 1 -
              std::count(signature.begin(), signature.end(), '='),
          dynet_expr(apply(g, "constant", {dynet_ints(sizes, is_matrix ? 2 : 1), dynet_num(0.5)})));
      const std::size_t before = dynet_graph_size(g);
      dynet_error error = DYNET_NO_ERROR;
      dynet_apply(g, name.c_str(), x.data(), x.size(), &error);
      if (error.code != DYNET_OK) continue;
      INFO(signature);
      CHECK(has_made(g, before, name));
      ++checked;
      break;
    }
  }
  CHECK(checked > 75);
}

TEST_CASE("C: arguments of every type") {
  Graph g(dynet_graph_new(nullptr, NoError()));
  const dynet_shape batch = {2, {2, 2}, 2};
  const std::vector<float> eight = {1, 2, 3, 4, 5, 6, 7, 8};
  const dynet_expression x = apply(g, "input", {dynet_dims(&batch), dynet_nums(eight.data(), 8)});
  using V = std::vector<float>;
  CHECK(value_of(apply(g, "pick", {dynet_expr(x), dynet_int(1)})) == V{2, 4, 6, 8});
  const std::int64_t rows[] = {1, 0};
  CHECK(value_of(apply(g, "pick", {dynet_expr(x), dynet_ints(rows, 2), dynet_int(1)})) ==
        V{3, 4, 5, 6});
  CHECK(value_of(apply(g, "sum_dim", {dynet_expr(x), dynet_ints(rows, 2), dynet_int(1)})) == V{36});
  CHECK(value_of(apply(g, "sum_dim", {dynet_expr(x), dynet_int(0)})) == V{3, 7, 11, 15});
  CHECK(value_of(apply(g, "elu", {dynet_expr(numbers(g, {2, 3})), dynet_int(1)})) == V{2, 3});
  CHECK(value_of(apply(g, "scale", {dynet_expr(x), dynet_num(0.5)}))[7] == 4);
  CHECK(value_of(apply(g, "add_number", {dynet_expr(x), dynet_num(0.5)}))[0] == 1.5f);
  CHECK(value_of(apply(g, "subtract_from", {dynet_num(3), dynet_expr(x)}))[0] == 2);
  const dynet_expression a = numbers(g, {1, 2}), b = numbers(g, {3, 5});
  CHECK(value_of(apply(g, "subtract", {dynet_expr(b), dynet_expr(a)})) == V{2, 3});
  CHECK(value_of(apply(g, "divide", {dynet_expr(b), dynet_expr(a)})) == V{3, 2.5});
  CHECK(value_of(apply(g, "multiply", {dynet_expr(x), dynet_expr(a)})) == V{7, 10, 19, 22});
  CHECK(value_of(apply(g, "negate", {dynet_expr(a)})) == V{-1, -2});
  const dynet_expression both[] = {a, b};
  CHECK(value_of(apply(g, "add", {dynet_expr(a), dynet_expr(b)})) == V{4, 7});
  CHECK(value_of(apply(g, "concatenate", {dynet_exprs(both, 2)})) == V{1, 2, 3, 5});
  CHECK(value_of(apply(g, "max", {dynet_expr(a)})) == V{1, 2});
  CHECK(value_of(apply(g, "round",
                       {dynet_expr(numbers(g, {1.6f})), dynet_text("zero_gradient")})) == V{2});
  const std::int64_t strides[] = {2}, empty[] = {0};
  CHECK(value_of(apply(g, "strided_select", {dynet_expr(b), dynet_ints(strides, 1)})) == V{3});
  CHECK(value_of(apply(g, "transpose", {dynet_expr(x)})) == V{1, 3, 2, 4, 5, 7, 6, 8});
  CHECK(value_of(apply(g, "log_softmax", {dynet_expr(a), dynet_ints(empty, 1)}))[0] == 0);
  CHECK(value_of(apply(g, "number", {dynet_num(7)})) == V{7});
  const std::int64_t places[] = {0, 2};
  CHECK(value_of(apply(g, "sparse_input",
                       {dynet_int(3), dynet_ints(places, 2), dynet_nums(eight.data(), 2),
                        dynet_num(9)})) == V{1, 9, 2});
  CHECK(value_of(apply(g, "one_hot", {dynet_int(3), dynet_int(1)})) == V{0, 1, 0});
  CHECK(value_of(apply(g, "to_device", {dynet_expr(a), dynet_text("CPU")})) == V{1, 2});
  // A list for each batch element.
  const dynet_value lists[] = {dynet_ints(empty, 1), dynet_ints(rows, 1)};
  const dynet_shape two = {1, {2}, 2};
  const dynet_expression scores =
      apply(g, "input", {dynet_dims(&two), dynet_nums(eight.data(), 4)});
  CHECK(value_of(apply(g, "hinge_dim", {dynet_expr(x), dynet_ints(rows, 2)})).size() == 4);
  CHECK(value_of(apply(g, "sparsemax_loss", {dynet_expr(scores), dynet_lists(lists, 2)})).size() ==
        2);
}

TEST_CASE("C: cells have two results, structures take lists") {
  Graph g(dynet_graph_new(nullptr, NoError()));
  const dynet_expression sums = numbers(g, {1, 2, 3, 4});
  const dynet_expression h =
      apply(g, "lstm_cell", {dynet_expr(sums), dynet_expr(numbers(g, {0.5}))});
  const dynet_expression c = dynet_second_result(h, NoError());
  CHECK(value_of(h) != value_of(c));
  // h = o tanh(c), the output gate being the last number but one or the third: it is below 1.
  CHECK(std::abs(value_of(h)[0]) < std::tanh(std::abs(value_of(c)[0])));
  // A sequence of one column, from that cell on.
  const dynet_expression w = numbers(g, {0.1, 0.2, 0.3, 0.4}), start = numbers(g, {0.5});
  const dynet_expression first = apply(g, "lstm_sequence", {dynet_expr(sums), dynet_expr(w)});
  const dynet_expression later = apply(g, "lstm_sequence",
                                       {dynet_expr(sums), dynet_expr(w), dynet_num(0), dynet_int(1),
                                        dynet_expr(numbers(g, {0})), dynet_expr(start)});
  CHECK(value_of(later) == value_of(h));
  CHECK(value_of(dynet_second_result(later, NoError())) == value_of(c));
  CHECK(value_of(first)[0] < value_of(later)[0]);
  dynet_error error = DYNET_NO_ERROR;
  const dynet_value half[] = {dynet_expr(sums), dynet_expr(w), dynet_num(0), dynet_int(1),
                              dynet_expr(start)};
  dynet_apply(g, "lstm_sequence", half, 5, &error);
  CHECK(std::string(error.message).find("needs h and c of the initial") != std::string::npos);
  error = DYNET_NO_ERROR;
  dynet_second_result(sums, &error);
  CHECK(error.code != DYNET_OK);

  const auto zeros = [&](std::vector<std::int64_t> sizes) {
    return dynet_expr(apply(g, "zeros", {dynet_ints(sizes.data(), sizes.size())}));
  };
  const std::int64_t known[] = {0, 1}, any[] = {-1, -1}, one[] = {1, 1}, tree[] = {0, 1, 0},
                     last[] = {0, 1, 1}, none[] = {-1, -1, -1}, heads[] = {0, 1};
  const auto chain = [&](const char* name, dynet_value tags) {
    return value_of(
        apply(g, name, {zeros({2, 2}), zeros({2, 2}), zeros({2}), zeros({2}), tags}))[0];
  };
  CHECK(chain("crf_log_prob", dynet_ints(known, 2)) == Approx(std::log(0.25)));
  CHECK(chain("crf_log_prob", dynet_ints(any, 2)) == Approx(0).margin(1e-6));
  CHECK(value_of(apply(g, "semi_crf_log_prob",
                       {zeros({2, 2}), zeros({2, 2}), zeros({2}), zeros({2}), dynet_ints(known, 2),
                        dynet_ints(one, 2)}))[0] == Approx(std::log(0.25)));
  CHECK(value_of(apply(g, "span_log_prob",
                       {zeros({2, 2, 2}), dynet_ints(tree, 3), dynet_ints(last, 3),
                        dynet_ints(none, 3)}))[0] == Approx(0).margin(1e-6));
  const float one_root =
      value_of(apply(g, "dependency_log_prob", {zeros({3, 3}), dynet_ints(heads, 2)}))[0];
  CHECK(one_root == Approx(std::log(0.5)));
  CHECK(value_of(apply(g, "dependency_log_prob",
                       {zeros({3, 3}), dynet_ints(heads, 2), dynet_int(1), dynet_int(0)}))[0] ==
        Approx(std::log(1 / 3.0)));
  CHECK(value_of(apply(g, "ctc_loss", {zeros({2, 2}), dynet_ints(one, 1)})).size() == 1);
  CHECK(value_of(apply(g, "attention", {zeros({2, 3}), zeros({2, 3}), zeros({2, 3}), dynet_int(2)}))
            .size() == 6);
  CHECK(value_of(apply(g, "contract3d_1d", {zeros({2, 2, 2}), zeros({2}), zeros({2, 2})})).size() ==
        4);
}

// The error of a call that must fail.
struct Failure {
  int code;
  std::string message;
};
Failure failure(dynet_graph* g, const char* operation, std::initializer_list<dynet_value> x) {
  dynet_error error = DYNET_NO_ERROR;
  const dynet_expression e = dynet_apply(g, operation, x.begin(), x.size(), DYNET_HERE(&error));
  CHECK(e.reserved[3] == 0);
  CHECK(error.code != DYNET_OK);
  return {error.code, error.message};
}

TEST_CASE("C: a wrong argument is an error that says which") {
  Graph g(dynet_graph_new(nullptr, NoError()));
  const dynet_value x = dynet_expr(numbers(g, {1, 2}));
  const std::size_t before = dynet_graph_size(g);
  CHECK(failure(g, "tanhh", {x}).message.find("tanhh: there is no such name") == 0);
  CHECK(failure(g, nullptr, {x}).code == DYNET_ARGUMENT_ERROR);
  const std::int64_t places[] = {0, 1};
  CHECK(failure(g, "span_log_prob",
                {x, dynet_ints(places, 2), dynet_ints(places, 1), dynet_ints(places, 2)})
            .message.find("argument 3, ") != std::string::npos);
  CHECK(failure(nullptr, "tanh", {x}).message == "graph is NULL");
  CHECK(failure(g, "tanh", {})
            .message.find("tanh(x): argument 1, x, is missing; it must be an expression") == 0);
  CHECK(failure(g, "tanh", {x, x}).message.find("tanh(x): 2 arguments are too many") == 0);
  CHECK(failure(g, "tanh", {dynet_int(1)}).message.find("x, is an integer") != std::string::npos);
  CHECK(failure(g, "pick", {x, dynet_num(1)})
            .message.find(
                "pick(x, index, d = 0): argument 2, index, is a number; it must be an integer") ==
        0);
  CHECK(failure(g, "pick", {x, dynet_int(-1)}).code == DYNET_INDEX_ERROR);
  CHECK(failure(g, "pick", {x, dynet_int(std::int64_t{1} << 40)}).code == DYNET_INDEX_ERROR);
  CHECK(failure(g, "pick", {x, dynet_int(2)}).code == DYNET_INDEX_ERROR);
  CHECK(failure(g, "softmax", {x, dynet_int(-1)}).code == DYNET_INDEX_ERROR);
  CHECK(failure(g, "pick", {x, dynet_ints(nullptr, 2)}).message.find("NULL") != std::string::npos);
  CHECK(failure(g, "sum", {dynet_exprs(nullptr, 2)}).code == DYNET_ARGUMENT_ERROR);
  CHECK(failure(g, "sum", {dynet_exprs(nullptr, 0)}).code == DYNET_ARGUMENT_ERROR);
  CHECK(failure(g, "zeros", {dynet_dims(nullptr)}).code == DYNET_ARGUMENT_ERROR);
  const dynet_shape deep = {8, {1, 1, 1, 1, 1, 1, 1}, 1};
  CHECK(failure(g, "zeros", {dynet_dims(&deep)}).code == DYNET_ARGUMENT_ERROR);
  CHECK(failure(g, "zeros", {dynet_int(-3)}).code == DYNET_INDEX_ERROR);
  CHECK(failure(g, "input", {dynet_int(2), dynet_nums(nullptr, 2)}).code == DYNET_ARGUMENT_ERROR);
  CHECK(failure(g, "parameter", {dynet_param(nullptr)}).code == DYNET_ARGUMENT_ERROR);
  CHECK(failure(g, "round", {x, dynet_text("up")}).code == DYNET_ARGUMENT_ERROR);
  CHECK(failure(g, "round", {x, dynet_text(nullptr)}).code == DYNET_ARGUMENT_ERROR);
  CHECK(failure(g, "to_device", {x, dynet_text("GPU:99")}).code == DYNET_DEVICE_ERROR);
  dynet_value odd = x;
  odd.type = 99;
  CHECK(failure(g, "tanh", {odd}).message.find("of no type") != std::string::npos);
  const dynet_value texts[] = {dynet_text("a")};
  CHECK(failure(g, "sparsemax_loss", {x, dynet_lists(texts, 1)}).code == DYNET_ARGUMENT_ERROR);
  const std::int64_t large[] = {std::int64_t{1} << 40};
  CHECK(failure(g, "strided_select", {x, dynet_ints(large, 1)}).code == DYNET_ARGUMENT_ERROR);
  CHECK(failure(g, "tanh", {dynet_expr(dynet_expression{})}).code == DYNET_STALE_EXPRESSION);
  // Its own errors, at the caller's line.
  const Failure f = failure(g, "multiply", {x, x});
  CHECK(f.code == DYNET_SHAPE_ERROR);
  CHECK(f.message.find("operations_test.cc") != std::string::npos);
  CHECK(dynet_graph_size(g) == before);

  Model model(dynet_model_new(NoError()));
  const dynet_value W = dynet_param(add(model, "W", {2}));
  CHECK(failure(g, "lookup", {W, dynet_int(0)}).message.find("must be a table") !=
        std::string::npos);
  Graph other(dynet_graph_new(nullptr, NoError()));
  CHECK(failure(g, "add", {x, dynet_expr(numbers(other, {1, 2}))}).code != DYNET_OK);
  CHECK(value_of(apply(g, "tanh", {x})).size() == 2);
}

}  // namespace
}  // namespace dynet::test::c_operations
