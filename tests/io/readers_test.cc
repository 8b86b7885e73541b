// Differences that seldom occur.

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>

#include "dynet-like/io/contents.h"
#include "dynet-like/io/safetensors.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace readers_test {

using namespace dynet;

TEST_CASE("arrays that a format cannot hold, and reads behind the end of a file") {
  const TemporaryFolder folder;
  NamedTensor t;
  t.name = "vectors";
  t.shape = {1, 2};
  t.bytes = std::string(8, '\0');
  NamedTensor words;
  words.name = "words";
  words.type = NamedTensor::Type::U8;
  words.shape = {2};
  words.bytes = "a\n";
  write_tensors(folder / "m.vec", {t, words});
  CHECK_SAYS(FileError, write_tensors(folder / "m.dynet", {words}),
             "words holds U8, which are no floats");
  t.shape = std::vector<std::uint64_t>(8, 1);
  t.bytes.resize(4);
  write_safetensors(folder / "m.safetensors", {t});
  ParameterCollection pc;
  CHECK_SAYS(FileError, load_safetensors(folder / "m.safetensors", pc), "vectors has 8 sizes");
  const InputFile in(folder / "m.vec");
  CHECK_SAYS(FileError, in.read(in.size() - 1, 2), "the file is cut short");
  CHECK_THROWS_AS(in.read(~std::uint64_t{0}, 2), FileError);
}

TEST_CASE("an archive of one thing is not read as another") {
  Model model(1);
  const auto check = [](const auto& written, auto& read, const char* why) {
    std::stringstream bytes;
    boost::archive::binary_oarchive(bytes) << written;
    boost::archive::binary_iarchive in(bytes);
    CHECK_SAYS(FileError, in >> read, why);
  };
  check(model.w, model.pc, "a Parameter was saved, not a ParameterCollection");
  check(model.pc, model.w, "a ParameterCollection was saved, not a Parameter");
  check(model.w, model.e, "a Parameter was saved, not a LookupParameter");
}

TEST_CASE("damage is found in values that are left out, too") {
  const TemporaryFolder folder;
  ParameterCollection one, other;
  one.add_parameters({3}, ParameterInitConst(0.5f), "a");
  one.add_parameters({3}, ParameterInitConst(0.5f), "b");
  auto a = other.add_parameters({3}, ParameterInitConst(2.0f), "a");
  save(folder / "m", one);
  const std::string good = read_file(folder / "m");
  int refused = 0;
  for (std::size_t k = 0; k < good.size(); ++k) {
    std::string bytes = good;
    bytes[k] = static_cast<char>(bytes[k] ^ 4);
    write_file(folder / "m", bytes);
    try {
      load(folder / "m", LoadOptions{.allow_extra = true}, other);
    } catch (const FileError&) {
      ++refused;
    }
  }
  CHECK(refused == static_cast<int>(good.size()));
  CHECK(as_vector(a.values()) == std::vector<float>(3, 2.0f));
}

TEST_CASE("the state of parameters that are not there is left out if that is allowed") {
  const TemporaryFolder folder;
  Model one(1);
  AdamTrainer adam(one.pc);
  one.step(adam, 1.0f);
  save(folder / "m", adam);
  ParameterCollection pc;
  pc.add_parameters({4, 4}, "W");
  AdamTrainer other(pc);
  const LoadReport report =
      load(folder / "m", LoadOptions{.allow_extra = true, .allow_reshaped = true}, other);
  CHECK(report.left_out ==
        std::vector<std::string>{"AdamTrainer state of /W is reshaped",
                                 "AdamTrainer state of /layer/E is in the file only"});
  CHECK(other.updates == 1);
}

}  // namespace readers_test
