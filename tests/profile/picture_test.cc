#include "dynet-like/profile/picture.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/io/folder.h"
#include "tests/run/random_graph.h"
#include "tests/support/prelude.h"

namespace picture_test {

using namespace dynet;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

struct Rectangle {
  double x, y, width, height;
  std::string hue;  // of a batch, or empty
};

std::vector<Rectangle> rectangles(const std::string& svg) {
  std::vector<Rectangle> all;
  for (std::size_t at = svg.find("<rect "); at != std::string::npos;
       at = svg.find("<rect ", at + 1)) {
    Rectangle r;
    REQUIRE(std::sscanf(svg.c_str() + at, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"",
                        &r.x, &r.y, &r.width, &r.height) == 4);
    const std::size_t hue = svg.find("--hue", at);
    if (hue < svg.find("/>", at)) r.hue = svg.substr(hue, svg.find('"', hue) - hue);
    all.push_back(r);
  }
  return all;
}

// No box lies on another.
void check_apart(const std::string& svg) {
  const auto all = rectangles(svg);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Rectangle &a = all[i], &b = all[j];
      CHECK((a.x + a.width <= b.x + 0.2 || b.x + b.width <= a.x + 0.2 ||
             a.y + a.height <= b.y + 0.2 || b.y + b.height <= a.y + 0.2));
    }
}

}  // namespace

TEST_CASE("a picture has a box for each node and a line for each operand") {
  RandomGraph::Model model(4);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ComputationGraph g;
    RandomGraph(g, model, 4, seed).build();
    const std::string svg = graph_svg(g, {.most_boxes = 1000});
    CHECK(rectangles(svg).size() == g.size());
    std::size_t operands = 0;
    for (NodeId id = 0; id < g.size(); ++id) {
      const auto args = g.store().args_of(g.store().nodes[id]);
      operands += std::set<NodeId>(args.begin(), args.end()).size();
    }
    CHECK(count(svg, "<path class=\"edge\"") == operands);
    check_apart(svg);
  }
}

TEST_CASE("nodes of one batch have one colour, which others do not have") {
  ComputationGraph g;
  std::vector<Expression> all;
  for (int k = 0; k < 4; ++k) all.push_back(tanh(exp(input(g, float(k)))));
  sum(all);
  const std::string svg = graph_svg(g);
  std::map<std::string, int> hues;
  for (const Rectangle& box : rectangles(svg)) hues[box.hue] += box.hue.empty() ? 0 : 1;
  hues.erase("");
  CHECK(hues.size() == 3);  // input, exp, tanh; the sum is alone
  for (const auto& [hue, n] : hues) CHECK(n == 4);
  CHECK(count(svg, "batch of 4") == 12);
}

TEST_CASE("nodes of one batch are side by side, below all of their operands") {
  ComputationGraph g;
  const Expression x = input(g, Dim({3}), {1, 2, 3});
  const Expression deep = tanh(exp(tanh(x)));
  const std::vector<Expression> both = {exp(x), exp(deep), tanh(exp(deep))};
  sum(both);
  const std::string svg = graph_svg(g);
  const auto boxes = rectangles(svg);  // by node
  REQUIRE(boxes.size() == g.size());
  std::size_t together = 0;
  for (NodeId a = 0; a < g.size(); ++a) {
    for (const NodeId operand : g.store().args_of(g.store().nodes[a]))
      CHECK(boxes[operand].y < boxes[a].y);
    for (NodeId b = 0; b < a; ++b) {
      if (boxes[a].hue.empty() || boxes[a].hue != boxes[b].hue) continue;
      CHECK(boxes[a].y == boxes[b].y);
      ++together;
    }
  }
  CHECK(together > 0);
}

TEST_CASE("batches of several layers and steps are contiguous in their row") {
  ParameterCollection pc;
  Parameter p = pc.add_parameters({4, 4});
  ComputationGraph g;
  const Expression w = parameter(g, p);
  std::vector<Expression> lower, upper;  // two layers of three sequences
  for (int k = 0; k < 3; ++k) {
    lower.push_back(tanh(input(g, Dim({4}), std::vector<float>(4, float(k)))));
    upper.push_back(exp(lower.back()));
  }
  for (int step = 0; step < 4; ++step)
    for (std::size_t k = 0; k < 3; ++k) {
      lower[k] = tanh(w * lower[k]);
      upper[k] = exp(lower[k] + upper[k]);
    }
  sum(upper);
  const std::string svg = graph_svg(g);
  const auto boxes = rectangles(svg);
  REQUIRE(boxes.size() == g.size());
  std::map<double, std::vector<NodeId>> rows;
  for (NodeId id = 0; id < g.size(); ++id) {
    const auto args = g.store().args_of(g.store().nodes[id]);
    if (!args.empty()) rows[boxes[id].y].push_back(id);
  }
  for (auto& [y, row] : rows) {
    std::sort(row.begin(), row.end(), [&](NodeId a, NodeId b) { return boxes[a].x < boxes[b].x; });
    std::set<std::string> before;
    for (std::size_t k = 1; k < row.size(); ++k) {
      if (boxes[row[k]].hue == boxes[row[k - 1]].hue) continue;
      CHECK(before.insert(boxes[row[k - 1]].hue).second);
      CHECK(before.count(boxes[row[k]].hue) == 0);
    }
  }
  check_apart(svg);
}

TEST_CASE("each of several sequences is a column") {
  ParameterCollection pc;
  Parameter p = pc.add_parameters({4, 4});
  ComputationGraph g;
  const Expression w = parameter(g, p);
  std::vector<Expression> h;
  for (int k = 0; k < 3; ++k) h.push_back(input(g, Dim({4}), std::vector<float>(4, float(k))));
  for (int step = 0; step < 4; ++step)
    for (Expression& x : h) x = tanh(w * x);
  const auto boxes = rectangles(graph_svg(g));
  const auto centre = [&](NodeId id) { return boxes[id].x + boxes[id].width / 2; };
  for (NodeId id = 0; id < g.size(); ++id)
    for (const NodeId operand : g.store().args_of(g.store().nodes[id]))
      if (!g.store().args_of(g.store().nodes[operand]).empty())
        CHECK(std::abs(centre(id) - centre(operand)) < 0.2);
}

TEST_CASE("styles of a picture do not change the page around it") {
  ComputationGraph g;
  tanh(input(g, 1.0f));
  const std::string svg = graph_svg(g);
  const std::size_t begin = svg.find("<style>\n"), end = svg.find("</style>");
  REQUIRE(end != svg.npos);
  std::istringstream rules(svg.substr(begin + 8, end - begin - 8));
  std::size_t scoped = 0;
  for (std::string line; std::getline(rules, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line.find('{') == line.npos || line[0] == '@') continue;
    CHECK(line.substr(0, 12) == ".dynet-graph");
    ++scoped;
  }
  CHECK(scoped == 8);
}

TEST_CASE("a large graph is folded by batch, then by line") {
  ComputationGraph g;
  Expression h = input(g, Dim({4}), std::vector<float>(4, 0.0f));
  for (int k = 0; k < 50; ++k) h = tanh(h + 1.0f);
  std::vector<Expression> wide;
  for (int k = 0; k < 50000; ++k) wide.push_back(exp(h));
  const Expression last = sum(wide);
  REQUIRE(g.size() > 50000);
  const std::string by_batch = graph_svg(g, {.most_boxes = 200});
  CHECK(rectangles(by_batch).size() == 103);
  CHECK(count(by_batch, "exp x 50000") == 1);
  const std::string by_line = graph_svg(g, {.most_boxes = 20});
  CHECK(rectangles(by_line).size() == 5);
  CHECK(count(by_line, "tanh x 50") == 1);
  check_apart(by_line);
  CHECK(by_line.size() < 10000);
  for (const std::size_t most : {1, 2, 3, 4})
    CHECK(rectangles(graph_svg(g, {.most_boxes = most})).size() <= most);
  (void)last;
}

TEST_CASE("text of a picture is escaped, and shows values if asked to") {
  ParameterCollection pc;
  Parameter p = pc.add_parameters({1}, ParameterInitConst(0.5f), "a\"<b>&'\xff");
  ComputationGraph g;
  const SourceLocation odd("<\"\x01>.cc", 3u);
  tanh(parameter(g, p), odd);
  const std::string svg = graph_svg(g, {.values = true});
  CHECK(count(svg, "a&quot;&lt;b&gt;&amp;'?") >= 1);
  CHECK(count(svg, "&lt;&quot;?&gt;.cc:3") >= 1);
  CHECK(count(svg, "value: 0.462117") == 1);
  CHECK(count(graph_svg(g), "value:") == 0);
}

TEST_CASE("pictures name files without their folders") {
  ComputationGraph g;
  tanh(input(g, 1.0f), SourceLocation("/home/of/somebody/model.cc", 7u));
  const std::string svg = graph_svg(g);
  CHECK(count(svg, "somebody") == 0);
  CHECK(count(svg, "made at model.cc:7") == 1);
}

TEST_CASE("an empty graph is an empty picture, and files are written") {
  ComputationGraph g;
  CHECK(rectangles(graph_svg(g)).empty());
  tanh(input(g, 1.0f));
  const TemporaryFolder folder;
  write_svg(g, folder / "picture.svg");
  std::ifstream file(folder / "picture.svg");
  std::string line;
  std::getline(file, line);
  CHECK(line.rfind("<svg ", 0) == 0);
  CHECK_THROWS_AS(write_svg(g, "/nonexistent/x.svg"), FileError);
}

}  // namespace picture_test
