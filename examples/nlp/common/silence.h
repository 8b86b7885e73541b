#pragma once

#include <iostream>
#include <streambuf>

namespace nlp {

/// Drops output to std::cout and std::cerr during its lifetime.
class Silence {
 public:
  Silence() : out_(std::cout.rdbuf(&nothing_)), error_(std::cerr.rdbuf(&nothing_)) {}
  ~Silence() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(error_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  struct Nothing : std::streambuf {
    int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  };
  Nothing nothing_;
  std::streambuf *out_, *error_;
};

}  // namespace nlp
