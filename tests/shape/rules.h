#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/shape/algebra_rules.h"
#include "dynet-like/shape/convolution_rules.h"
#include "dynet-like/shape/reduction_rules.h"
#include "dynet-like/shape/rules.h"
#include "tests/support/catch.h"

namespace dynet::test {

/// The operands as a rule takes them.
class List {
 public:
  List(std::initializer_list<Dim> list) : dims_(list) {
    for (const Dim& d : dims_) pointers_.push_back(&d);
  }
  operator shape::Dims() const { return pointers_; }  // NOLINT

 private:
  std::vector<Dim> dims_;
  std::vector<const Dim*> pointers_;
};

template <class Rule>
void check_broken(RuleBroken::Kind kind, const Rule& rule) {
  try {
    rule();
    FAIL_CHECK("nothing was thrown");
  } catch (const RuleBroken& broken) {
    CHECK(broken.kind == kind);
    CHECK(!broken.rule.empty());
  }
}
#define BROKEN(KIND, ...) \
  ::dynet::test::check_broken(RuleBroken::Kind::KIND, [&] { (void)(__VA_ARGS__); })

/// Unlike ==, which looks past trailing ones.
inline void check_written(const Dim& d, const Dim& expected) {
  CHECK(d == expected);
  CHECK(d.nd == expected.nd);
}

}  // namespace dynet::test
