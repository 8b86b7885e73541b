#include "dynet-like/base/errors.h"

#include <cctype>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "dynet-like/base/source_location.h"
#include "dynet-like/base/thread_number.h"
#include "dynet-like/base/version.h"
#include "tests/support/catch.h"

using namespace dynet;

namespace {

SourceLocation here(SourceLocation at = SourceLocation::current()) { return at; }

template <class E>
void check_error() {
  static_assert(std::is_base_of_v<Error, E>);
  try {
    throw E("what", {"file.cc", 12});
  } catch (const std::runtime_error& e) {
    CHECK(std::string(e.what()) == "what");
    CHECK(dynamic_cast<const E&>(e).where().line == 12);
    CHECK(std::string(dynamic_cast<const Error&>(e).where().file) == "file.cc");
  }
}

}  // namespace

TEST_CASE("all errors derive from Error and carry their place") {
  check_error<ShapeError>();
  check_error<IndexError>();
  check_error<ArgumentError>();
  check_error<StaleExpressionError>();
  check_error<NumericError>();
  check_error<FileError>();
  check_error<OutOfMemoryError>();
  CHECK(std::string(Error("x").where().file).empty());
}

TEST_CASE("a defaulted source location is the caller's") {
  const SourceLocation at = here();
  CHECK(at.line == __LINE__ - 1);
  CHECK(std::string(at.file) == __FILE__);
  CHECK(here({"other.cc", 3}).line == 3);
}

TEST_CASE("no two threads ever have one number") {
  const std::uint64_t mine = this_thread_number();
  CHECK(this_thread_number() == mine);
  std::set<std::uint64_t> numbers{mine};
  for (int i = 0; i < 50; ++i) {  // one after another: the system gives its ids again
    std::uint64_t number = 0;
    std::thread([&] { number = this_thread_number(); }).join();
    numbers.insert(number);
  }
  CHECK(numbers.size() == 51);
  CHECK(numbers.count(0) == 0);
}

TEST_CASE("the version is three numbers") {
  const std::string v = version();
  int dots = 0;
  for (char c : v) {
    dots += c == '.';
    CHECK((std::isdigit(static_cast<unsigned char>(c)) || c == '.'));
  }
  CHECK(dots == 2);
}
