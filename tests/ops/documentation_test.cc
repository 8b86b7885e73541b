// docs/operations.md is written from the forms, the cases and the descriptions of all operations:
//
//     DYNET_WRITE_DOCS=1 build/dev/tests/test-ops "operations: the table in docs is up to date"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "dynet-like/ops/families.h"
#include "tests/ops/cases.h"
#include "tests/ops/descriptions.h"

namespace dynet::test {
namespace {

/// Properties of an operation, derived from its cases.
struct Shown {
  std::vector<const OpForm*> made_of;  ///< the forms of its nodes
  bool batches = false;                ///< minibatches go in, or come out of nothing
  bool sources = true;                 ///< there are no operands
};

std::string first_word(const std::string& name) {
  return name.substr(0, name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789"));
}

/// Builds a case over shapes of a kind and notes what comes of it under the names of its nodes and
/// under its own.
void note(const OpCase& c, Shapes::Kind kind, std::uint64_t seed,
          std::map<std::string, Shown>& all) {
  ComputationGraph g;
  Operand x;
  x.graph = &g;
  Shapes shapes(kind, seed);
  bool batch = false;
  for (const Dim& d : c.shapes(shapes)) {
    x.push_back(constant(g, d, 0.5f));
    batch = batch || d.bd > 1;
  }
  const auto first = static_cast<NodeId>(g.size());
  const Expression y = c.build(x);
  batch = batch || (x.empty() && y.dim().bd > 1);
  std::vector<const OpForm*> forms;
  std::set<std::string> under = {first_word(c.name)};
  for (NodeId id = first; id < g.size(); ++id) {
    const OpForm* form = g.store().nodes[id].form;
    if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(form);
    under.insert(form->name.value);
  }
  for (const std::string& name : under) {
    Shown& shown = all[name];
    if (name == first_word(c.name) && shown.made_of.empty()) shown.made_of = forms;
    shown.batches = shown.batches || batch;
    shown.sources = shown.sources && x.empty();
  }
}

std::map<std::string, Shown> shown_by_cases() {
  std::map<std::string, Shown> all;
  for (const OpCase& c : all_cases())
    for (std::uint64_t seed = 1; seed <= 8; ++seed) note(c, Shapes::batched, seed, all);
  return all;
}

std::multimap<std::string, const OpForm*> forms_by_name() {
  std::multimap<std::string, const OpForm*> all;
  for (const OpForm* form : all_ops()) all.emplace(form->name.value, form);
  return all;
}

std::string top_folder() {
  const std::string here = __FILE__;
  return here.substr(0, here.rfind("tests/ops/"));
}
std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The operations of the headers.
std::set<std::string> declared() {
  std::set<std::string> names;
  const std::regex function(R"(\bExpression (operator[-+*/]|[a-z][a-z_0-9]*)\()");
  for (const auto& file : std::filesystem::directory_iterator(top_folder() + "dynet-like/ops")) {
    if (file.path().extension() != ".h") continue;
    const std::string text = read(file.path());
    for (std::sregex_iterator at(text.begin(), text.end(), function), end; at != end; ++at)
      names.insert((*at)[1]);
    if (text.find("Expression pickrange(") != std::string::npos) names.insert("pickrange");
  }
  return names;
}

bool runs(const OpForm& form) { return form.kind == Kind::compute || form.kind == Kind::lookup; }
std::string batching(const OpForm& form) {
  const BatchRule& rule = form.batch;
  if (!runs(form)) return "nothing to run";
  if (!rule.batches) return std::string("no: ") + rule.why_not;
  return rule.has_products() ? "yes, those with the same matrix" : "yes";
}
std::string on_cuda(const OpForm& form) {
  const char* why_not = form.cuda.value.why_not;
  return why_not ? std::string("no: ") + why_not : "yes";
}
/// The same answer of all of them, or all answers.
template <class Of>
std::string joined(const std::vector<const OpForm*>& forms, const std::string& between, Of of) {
  std::string all;
  std::set<std::string> said;
  for (const OpForm* form : forms) {
    const std::string one = of(*form);
    if (said.insert(one).second) all += (all.empty() ? "" : between) + one;
  }
  return all;
}

std::string cell(const std::string& text) {
  std::string s;
  for (const char c : text) s += c == '|' ? "\\|" : std::string(1, c);
  return s;
}

std::string table() {
  const auto forms = forms_by_name();
  const auto shown = shown_by_cases();
  std::ostringstream out;
  out << "# Operations\n\n"
         "All operations of the library. Written by `tests/ops/documentation_test.cc` from their\n"
         "forms and test cases; the headers in `dynet-like/ops` say more of each.\n\n"
         "* Shapes are those of one batch element, d is a shape or dimension that is given, b the\n"
         "  batch size. Batch sizes of several operands are equal or 1; the result has the "
         "larger.\n"
         "* *Broadcast*: each size is equal, or 1 on either side; missing sizes are 1.\n"
         "* *Minibatch*: operands, or the result if there are none, may be batches.\n"
         "* *Batched*: nodes with equal shapes and settings run as one when a graph is batched.\n"
         "  An operation that is made of others runs as they do.\n"
         "* *CUDA*: on a GPU too, in a library with CUDA (see gpu.md).\n\n"
         "| name | computes | shape | minibatch | batched | CPU | CUDA |\n"
         "|---|---|---|---|---|---|---|\n";
  for (const Description& d : kDescriptions) {
    std::vector<const OpForm*> own;
    const auto [first, last] = forms.equal_range(d.name);
    for (auto at = first; at != last; ++at) own.push_back(at->second);
    std::string made_of;
    if (own.empty() && shown.count(d.name)) {
      for (const OpForm* form : shown.at(d.name).made_of)
        if (runs(*form)) own.push_back(form);
      made_of = "; made of " +
                joined(own, ", ", [](const OpForm& form) { return std::string(form.name.value); });
    }
    const bool batches = shown.count(d.name) && shown.at(d.name).batches;
    out << "| `" << d.name << "` | " << cell(d.formula) << cell(made_of) << " | " << cell(d.shape)
        << " | " << (batches ? "yes" : "no") << " | " << joined(own, "; ", batching) << " | "
        << joined(own, "; ",
                  [](const OpForm& form) {
                    return !runs(form) || form.kind == Kind::lookup || form.forward.value.f ? "yes"
                                                                                            : "no";
                  })
        << " | " << joined(own, "; ", on_cuda) << " |\n";
  }
  return out.str();
}

}  // namespace

TEST_CASE("operations: every one is described, once") {
  std::multiset<std::string> described;
  for (const Description& d : kDescriptions) described.insert(d.name);
  for (const std::string& name : described) {
    INFO(name);
    CHECK(described.count(name) == 1);
  }
  std::set<std::string> there = declared();
  CHECK(there.size() > 100);
  for (const OpForm* form : all_ops()) there.insert(form->name.value);
  for (const std::string& name : there) {
    INFO("tests/ops/descriptions.h does not describe " << name);
    CHECK(described.count(name) == 1);
  }
  for (const std::string& name : described) {
    INFO("there is no operation " << name);
    CHECK(there.count(name) == 1);
  }
}

TEST_CASE("operations: every one has a test case, made of others or not") {
  const auto shown = shown_by_cases();
  for (const Description& d : kDescriptions) {
    INFO("no case in tests/ops builds " << d.name);
    CHECK(shown.count(d.name) == 1);
  }
}

TEST_CASE("operations: the table in docs is up to date") {
  const std::string path = top_folder() + "docs/operations.md", text = table();
  if (std::getenv("DYNET_WRITE_DOCS")) std::ofstream(path) << text;
  INFO(
      "to write it again: DYNET_WRITE_DOCS=1 test-ops \"operations: the table in docs is up to "
      "date\"");
  CHECK((read(path) == text));
}

}  // namespace dynet::test
