#include "dynet-like/base/errors.h"

#include <cctype>
#include <exception>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "dynet-like/base/source_location.h"
#include "dynet-like/base/thread_number.h"
#include "tests/support/prelude.h"

namespace errors_test {

using namespace dynet;

namespace {

SourceLocation here(SourceLocation at = SourceLocation::current()) { return at; }

// Whether a handler of type H catches an E; checks message and source location.
template <class E, class H>
bool reaches() {
  try {
    throw E("what", {"file.cc", 12});
  } catch (const H& e) {
    CHECK(std::string(e.what()) == "what");
    CHECK(dynamic_cast<const E&>(e).where().line == 12);
    CHECK(std::string(dynamic_cast<const Error&>(e).where().file) == "file.cc");
    return true;
  } catch (...) {
    return false;
  }
}

// Checks all handlers for an error derived from `Standard`.
template <class E, class Standard>
void check_error() {
  CHECK(reaches<E, E>());
  CHECK(reaches<E, Error>());
  CHECK(reaches<E, std::exception>());
  constexpr bool argument = std::is_same_v<Standard, std::invalid_argument>;
  CHECK(reaches<E, std::invalid_argument>() == argument);
  CHECK(reaches<E, std::logic_error>() == argument);
  CHECK(reaches<E, std::runtime_error>() == !argument);
  CHECK(reaches<E, ShapeError>() == std::is_same_v<E, ShapeError>);
  CHECK(reaches<E, FileError>() == std::is_same_v<E, FileError>);
  CHECK_FALSE(reaches<E, std::out_of_range>());
  CHECK(std::string(E("x").where().file).empty());
}

}  // namespace

TEST_CASE("every error is an Error and one standard exception, with a source location") {
  check_error<ShapeError, std::invalid_argument>();
  check_error<IndexError, std::invalid_argument>();
  check_error<ArgumentError, std::invalid_argument>();
  check_error<StaleExpressionError, std::runtime_error>();
  check_error<NumericError, std::runtime_error>();
  check_error<FileError, std::runtime_error>();
  check_error<OutOfMemoryError, std::runtime_error>();
  check_error<DeviceError, std::runtime_error>();
}

TEST_CASE("a defaulted source location is the caller's") {
  const SourceLocation at = here();
  CHECK(at.line == __LINE__ - 1);
  CHECK(std::string(at.file) == __FILE__);
  CHECK(here({"other.cc", 3}).line == 3);
}

TEST_CASE("thread numbers are unique, even after threads have ended") {
  const std::uint64_t mine = this_thread_number();
  CHECK(this_thread_number() == mine);
  std::set<std::uint64_t> numbers{mine};
  for (int i = 0; i < 50; ++i) {  // one after another, so that the system reuses its ids
    std::uint64_t number = 0;
    std::thread([&] { number = this_thread_number(); }).join();
    numbers.insert(number);
  }
  CHECK(numbers.size() == 51);
  CHECK(numbers.count(0) == 0);
}

TEST_CASE("the version has three numbers") {
  const std::string v = version();
  int dots = 0;
  for (char c : v) {
    dots += c == '.';
    CHECK((std::isdigit(static_cast<unsigned char>(c)) || c == '.'));
  }
  CHECK(dots == 2);
}

}  // namespace errors_test
