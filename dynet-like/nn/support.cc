#include "dynet-like/nn/support.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet::nn_detail {

void fail(const char* who, const std::string& rule, SourceLocation at) {
  throw ArgumentError(std::string(who) + ": " + rule + "\n  at " + to_string(at), at);
}

void copy_values(const std::vector<Parameter>& from, const std::vector<Parameter>& to) {
  if (from.size() != to.size())
    throw ArgumentError("copy: the builders have " + std::to_string(to.size()) + " and " +
                        std::to_string(from.size()) + " parameters");
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i].dim() != from[i].dim())
      throw ShapeError("copy: " + to[i].get_fullname() + " is " + to_string(to[i].dim()) +
                       " here and " + to_string(from[i].dim()) + " there");
  for (std::size_t i = 0; i < to.size(); ++i)
    Parameter(to[i]).set_value(as_vector(from[i].values()));
}

}  // namespace dynet::nn_detail
