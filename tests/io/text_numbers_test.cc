// Numbers that were written as text come back to the bit: trainers, archives of text, DyNet's
// files, word vectors.

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/archive/text_iarchive.hpp>
#include <boost/archive/text_oarchive.hpp>
#include <boost/archive/xml_iarchive.hpp>
#include <boost/archive/xml_oarchive.hpp>
#include <iomanip>
#include <locale>
#include <random>

#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/word_vectors.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"
#include "tests/train/rules.h"

namespace text_numbers_test {

using namespace dynet;

namespace {

// Each hard for some way of writing it; NaNs with both signs.
std::vector<float> odd_numbers() {
  using Limits = std::numeric_limits<float>;
  std::vector<float> all;
  for (const float x :
       {0.0f, Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(), Limits::min(),
        std::nextafter(Limits::min(), 0.0f), Limits::max(), 16777217.0f / 3, 0.1f, 1e-40f})
    for (const float sign : {1.0f, -1.0f}) all.push_back(std::copysign(x, sign));
  for (std::uint32_t i = 0; all.size() < 400; ++i) {
    float x;
    const auto bits = static_cast<std::uint32_t>(mix_bits(i)) & (i % 4 ? 0xffffffffu : 0x807fffffu);
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isnan(x)) all.push_back(x);
  }
  return all;
}

// A language whose numbers look like 1.234,5.
struct Foreign : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// A trainer of each kind with state, all of it numbers that are hard to write.
struct Odd {
  ParameterCollection pc;
  Parameter p = pc.add_parameters({400}, ParameterInitConst(0.01f), "p");
  LookupParameter e = pc.add_lookup_parameters(2000, {1}, ParameterInitConst(0.5f), "e");
  std::unique_ptr<Trainer> trainer;

  explicit Odd(const TrainerCase& c) : trainer(c.make(pc)) {}
  void fill() {
    plant(p, std::vector<float>(400, 0.5f));
    plant_row(e, 3, {0.5f});
    trainer->update();
    const std::vector<float> odd = odd_numbers();
    for (const Trainer::StateView& s : trainer->state_views())
      for (const float* a : s.arrays)
        for (std::size_t i = 0; i < s.dim.size(); ++i)
          const_cast<float*>(a)[i] = odd[(i + s.dim.size()) % odd.size()];
    trainer->clip_threshold = std::numeric_limits<float>::infinity();
    trainer->updates = 1234567;
  }
};

}  // namespace

TEST_CASE("trainers come back from text to the bit, infinities and NaNs too") {
  std::size_t numbers = 0;
  for (const TrainerCase& c : trainer_cases()) {
    CAPTURE(c.name);
    Odd one(c), two(c);
    one.fill();
    std::stringstream text;
    one.trainer->save(text);
    two.trainer->populate(text);
    CHECK(two.trainer->numbers() == one.trainer->numbers());
    CHECK(same_bits(state_of(*two.trainer), state_of(*one.trainer)));
    numbers += state_of(*one.trainer).size();
    std::stringstream again;
    two.trainer->save(again);
    CHECK(again.str() == text.str());
  }
  CHECK(numbers > 10000);
}

TEST_CASE("the flags and the language of a stream do not change what a trainer writes and reads") {
  const TrainerCase c = trainer_cases()[6];
  Odd one(c);
  one.fill();
  std::ostringstream plain;
  one.trainer->save(plain);
  std::stringstream odd;
  odd.imbue(std::locale(std::locale::classic(), new Foreign));
  odd << std::hex << std::showbase << std::showpos << std::uppercase << std::fixed
      << std::setprecision(2) << std::setw(30) << std::setfill('*') << std::left;
  const auto flags = odd.flags();
  one.trainer->save(odd);
  CHECK(odd.str() == plain.str());
  CHECK(odd.flags() == flags);
  CHECK(odd.precision() == 2);
  Odd two(c);
  odd >> std::noskipws;
  odd.width(3);
  two.trainer->populate(odd);
  CHECK((odd.flags() & std::ios::skipws) == 0);
  CHECK(two.trainer->numbers() == one.trainer->numbers());
  CHECK(same_bits(state_of(*two.trainer), state_of(*one.trainer)));
}

TEST_CASE("words that are no numbers are refused where a trainer's text needs numbers") {
  const TrainerCase c = trainer_cases()[6];
  Odd one(c), two(c);
  one.fill();
  std::ostringstream out;
  one.trainer->save(out);
  const auto check = [&](const std::string& from, const std::string& to, const std::string& why) {
    std::string text = out.str();
    text.replace(text.find(from), from.size(), to);
    std::istringstream in(text);
    const auto before = two.trainer->numbers();
    CHECK_SAYS(FileError, two.trainer->populate(in), why);
    CHECK(two.trainer->numbers() == before);
    CHECK(two.trainer->state_views().empty());
  };
  const auto settings = std::to_string(one.trainer->numbers().size());
  check("AdamTrainer " + settings, "AdamTrainer -1", "is no number, \"-1\"");
  check("AdamTrainer " + settings, "AdamTrainer 0x10", "is no number, \"0x10\"");
  check("clip_threshold inf", "clip_threshold 1,5", "is no number, \"1,5\"");
  check("clip_threshold inf", "clip_threshold 1e999", "is no number");
  check("\"/p\" 1 400", "\"/p\" 9 400", "a rank is 9");
  check("\"/p\" 1 400 2", "\"/p\" 1 400 99", "too many arrays");
  check("\"/p\" 1 400", "\"/p\x1b[31m\" 1 400000",
        "the state of \"/p\\u{1b}[31m\" is larger than any parameter");
  check("\"/p\" 1 400", "\"/q\n\" 1 400", "state of /q\\n fits no parameter");
  check("AdamTrainer", "Adam\x07Trainer", "a Adam\\u{7}Trainer was saved");
}

TEST_CASE("archives of text keep the bits of values and settings") {
  const TrainerCase c = trainer_cases()[6];
  for (const bool finite : {true, false}) {
    CAPTURE(finite);
    Odd one(c);
    if (!finite) one.fill();
    std::vector<float> values(400);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = finite ? static_cast<float>(i) / 7 : odd_numbers()[i];
    one.p.set_value(values);
    const auto check = [&](auto write, auto read) {
      Odd two(c);
      std::stringstream bytes;
      write(bytes);
      read(bytes, two);
      CHECK(same_bits(as_vector(two.p.values()), values));
      CHECK(same_bits(table_values(two.e), table_values(one.e)));
      CHECK(two.trainer->numbers() == one.trainer->numbers());
      CHECK(same_bits(state_of(*two.trainer), state_of(*one.trainer)));
      return bytes.str();
    };
    const auto adam = [](Odd& o) -> AdamTrainer& { return dynamic_cast<AdamTrainer&>(*o.trainer); };
    const auto write_all = [&](auto&& to) { to << one.pc << one.p << one.e << adam(one); };
    const auto read_all = [&](auto&& from, Odd& two) {
      from >> two.pc >> two.p >> two.e >> adam(two);
    };
    using namespace boost::archive;
    const std::string text = check([&](auto& s) { write_all(text_oarchive(s)); },
                                   [&](auto& s, Odd& two) { read_all(text_iarchive(s), two); });
    CHECK((text.find(" as bits") != text.npos) == !finite);
    check([&](auto& s) { write_all(binary_oarchive(s)); },
          [&](auto& s, Odd& two) { read_all(binary_iarchive(s), two); });
    using boost::serialization::make_nvp;
    check([&](auto& s) { xml_oarchive(s) << make_nvp("pc", one.pc) << make_nvp("t", adam(one)); },
          [&](auto& s, Odd& two) {
            xml_iarchive(s) >> make_nvp("pc", two.pc) >> make_nvp("t", adam(two));
          });
  }
}

TEST_CASE("archives keep parameters that are written in several pieces") {
  const std::size_t size = 2 * io_detail::kArchivePiece + 7;
  for (const bool finite : {true, false}) {
    ParameterCollection pc, again;
    Parameter p = pc.add_parameters({static_cast<unsigned>(size)});
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i);
    if (!finite) values.back() = std::numeric_limits<float>::infinity();
    p.set_value(values);
    std::stringstream stream;
    boost::archive::binary_oarchive(stream) << pc;
    again.add_parameters({static_cast<unsigned>(size)});
    boost::archive::binary_iarchive(stream) >> again;
    CHECK(same_bits(as_vector(again.parameters_list()[0].values()), values));
  }
}

TEST_CASE("DyNet's text and word vectors keep the bits of all floats") {
  const TemporaryFolder folder;
  const std::vector<float> odd = odd_numbers();
  const auto n = static_cast<unsigned>(odd.size());
  ParameterCollection one, two;
  Parameter p = one.add_parameters({n}), p2 = two.add_parameters({n});
  LookupParameter t = one.add_lookup_parameters(2, {n}), t2 = two.add_lookup_parameters(2, {n});
  p.set_value(odd);
  t.initialize(0, odd);
  t.initialize(1, std::vector<float>(odd.rbegin(), odd.rend()));
  plant(p, odd);
  TextFileSaver(folder / "m").save(one);
  TextFileLoader(folder / "m").populate(two);
  CHECK(same_bits(as_vector(p2.values()), odd));
  CHECK(same_bits(as_vector(p2.gradients()), odd));
  CHECK(same_bits(table_values(t2), table_values(t)));

  const Dict words({"a", "b"});
  std::vector<float> finite = odd;
  std::replace_if(
      finite.begin(), finite.end(), [](float x) { return !std::isfinite(x); }, 0.0f);
  t.initialize(0, finite);
  t.initialize(1, std::vector<float>(finite.rbegin(), finite.rend()));
  for (const VectorFormat format :
       {VectorFormat::text, VectorFormat::glove, VectorFormat::binary}) {
    t2.zero();
    save_word_vectors(folder / "v", words, t, format);
    load_word_vectors(folder / "v", words, t2, {.format = format});
    CHECK(same_bits(table_values(t2), table_values(t)));
  }
  t.initialize(1, odd);
  CHECK_THROWS_AS(save_word_vectors(folder / "v", words, t), ArgumentError);
}

TEST_CASE("a program's language does not change the text in files") {
  const TemporaryFolder folder;
  std::mt19937 engine(1), other(2);
  engine.discard(100);
  save(folder / "plain", engine);
  const std::locale before = std::locale::global(std::locale(std::locale(), new Foreign));
  save(folder / "foreign", engine);
  const std::string same = read_file(folder / "foreign");
  load(folder / "plain", other);
  std::locale::global(before);
  CHECK(same == read_file(folder / "plain"));
  CHECK(engine == other);
}

}  // namespace text_numbers_test
