#include "dynet-like/base/pod_vector.h"

#include <cstdint>
#include <numeric>
#include <utility>

#include "tests/support/catch.h"

namespace pod_vector_test {

using namespace dynet;

TEST_CASE("a PodVector grows and keeps its elements") {
  PodVector<std::uint64_t> v;
  CHECK(v.empty());
  CHECK(v.size() == 0);
  std::size_t growths = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::size_t capacity = v.capacity();
    v.push_back(i * i);
    growths += v.capacity() > capacity;
  }
  CHECK(growths < 20);  // each doubles it, so that adding elements takes constant time on average
  REQUIRE(v.size() == 100'000);
  bool kept = true;
  for (std::uint64_t i = 0; i < v.size(); ++i) kept = kept && v[i] == i * i;
  CHECK(kept);
  CHECK(v.back() == 99'999ull * 99'999ull);
}

TEST_CASE("a PodVector may push one of its own elements while it grows") {
  PodVector<int> v;
  v.push_back(7);
  for (int i = 0; i < 1000; ++i) v.push_back(v[0]);
  CHECK(std::accumulate(v.begin(), v.end(), 0) == 7 * 1001);
}

TEST_CASE("shrinking a PodVector keeps its memory") {
  PodVector<int> v;
  v.resize(1000, 5);
  CHECK(v[999] == 5);
  const int* data = v.data();
  const std::size_t capacity = v.capacity();
  v.truncate(10);
  CHECK(v.size() == 10);
  CHECK(v[9] == 5);
  v.clear();
  CHECK(v.empty());
  CHECK(v.capacity() == capacity);
  int* four = v.append(4);
  CHECK(four == data);
  CHECK(v.size() == 4);
  v.resize(6, 8);
  CHECK(v[5] == 8);
  CHECK(v.data() == data);
}

TEST_CASE("reserve and append allocate for any number of elements") {
  PodVector<char> v;
  v.reserve(5000);
  const char* data = v.data();
  CHECK(v.size() == 0);
  CHECK(v.capacity() >= 5000);
  v.append(5000)[4999] = 'x';
  CHECK(v.data() == data);
  CHECK(v[4999] == 'x');
  v.append(100'000)[99'999] = 'y';
  CHECK(v.size() == 105'000);
  CHECK(v[4999] == 'x');
  CHECK(v.back() == 'y');
}

TEST_CASE("move and swap of a PodVector exchange the memory") {
  PodVector<int> a, b;
  a.resize(3, 1);
  b.resize(5, 2);
  const int* data = a.data();
  a.swap(b);
  CHECK(b.data() == data);
  CHECK(a.size() == 5);
  PodVector<int> c = std::move(b);
  CHECK(c.data() == data);
  CHECK(c.size() == 3);
  a = std::move(c);
  CHECK(a.data() == data);
  a = PodVector<int>();
  CHECK(a.empty());
}

}  // namespace pod_vector_test
