// Whatever stores values in parameters says so: gradients that a backward pass did not keep are
// then lost and not computed from other values.

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <utility>

#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/checkpoints.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/word_vectors.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace changed_test {

using namespace dynet;

namespace {

// Loads into the model; the folder holds what was saved of another one.
struct Way {
  const char* name;
  std::function<void(const std::string&folder, Model&)> save, load;
};

std::vector<Way> ways() {
  return {
      {"a collection", [](auto& f, Model& m) { save(f + "/m", m.pc); },
       [](auto& f, Model& m) { load(f + "/m", m.pc); }},
      {"a mapped file", [](auto& f, Model& m) { save(f + "/m", m.pc); },
       [](auto& f, Model& m) { load(f + "/m", LoadOptions{.map = true}, m.pc); }},
      {"a parameter and a table", [](auto& f, Model& m) { save(f + "/m", m.w, m.e); },
       [](auto& f, Model& m) { load(f + "/m", m.w, m.e); }},
      {"a checkpoint", [](auto& f, Model& m) { Checkpoints(f + "/c").save(m.pc); },
       [](auto& f, Model& m) { REQUIRE(Checkpoints(f + "/c").load(m.pc)); }},
      {"safetensors", [](auto& f, Model& m) { save_safetensors(f + "/m", m.pc); },
       [](auto& f, Model& m) { load_safetensors(f + "/m", m.pc); }},
      {"an archive",
       [](auto& f, Model& m) {
         std::ostringstream bytes;
         boost::archive::binary_oarchive(bytes) << m.pc;
         write_file(f + "/m", bytes.str());
       },
       [](auto& f, Model& m) {
         std::istringstream bytes(read_file(f + "/m"));
         boost::archive::binary_iarchive(bytes) >> m.pc;
       }},
      {"word vectors",
       [](auto& f, Model& m) {
         save_word_vectors(f + "/v", Dict({"a", "b", "c", "d", "e", "f"}), m.e);
       },
       [](auto& f, Model& m) {
         load_word_vectors(f + "/v", Dict({"a", "b", "c", "d", "e", "f"}), m.e);
       }},
      {"DyNet's text", [](auto& f, Model& m) { TextFileSaver(f + "/t").save(m.pc); },
       [](auto& f, Model& m) { TextFileLoader(f + "/t").populate(m.pc); }},
      {"one table of DyNet's text", [](auto& f, Model& m) { TextFileSaver(f + "/t").save(m.pc); },
       [](auto& f, Model& m) { TextFileLoader(f + "/t").populate(m.e); }},
  };
}

}  // namespace

TEST_CASE("after values were loaded, gradients that were not kept are an error") {
  for (const Way& way : ways()) {
    INFO(way.name);
    const TemporaryFolder folder;
    Model other(2), model(1);
    way.save(folder.path().string(), other);
    ComputationGraph cg;
    const Expression row = lookup(cg, model.e, 2), hidden = tanh(row * 2.0f);
    const Expression loss = sum_elems(hidden * 3.0f) + sum_elems(parameter(cg, model.w));
    cg.forward(loss);
    cg.backward(loss);
    const std::vector<float> kept = as_vector(hidden.gradient());  // as the same values give them
    REQUIRE(kept.size() == 2);
    cg.backward(loss);
    const std::uint64_t before = model.pc.bank().changes;
    way.load(folder.path().string(), model);
    CHECK(model.pc.bank().changes > before);
    CHECK(table_values(model.e) == table_values(other.e));
    CHECK_SAYS(GradientError, hidden.gradient(),
               "the parameters have changed since the backward pass");
  }
}

TEST_CASE("every parameter that a load stores is told of it") {
  const TemporaryFolder folder;
  Model other(2), model(1);
  save(folder / "m", other.pc);
  const std::uint64_t before = model.pc.bank().changes;
  load(folder / "m", model.pc);
  CHECK(model.pc.bank().changes == before + 3);
}

TEST_CASE("a load that fails is no change") {
  const TemporaryFolder folder;
  Model model(1);
  ParameterCollection other;
  other.add_parameters({2}, "W");
  save(folder / "m", other);
  ComputationGraph cg;
  const Expression hidden = tanh(lookup(cg, model.e, 2)), loss = sum_elems(hidden);
  cg.backward(loss);
  CHECK_THROWS_AS(load(folder / "m", model.pc), FileError);
  CHECK(as_vector(hidden.gradient()) == std::vector<float>{1, 1});
}

}  // namespace changed_test
