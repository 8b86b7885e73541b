#pragma once

#include <string>
#include <vector>

namespace dynet {

/// How tags say which words belong together.
enum class TagScheme {
  bio,    ///< B-X begins a span of kind X, I-X goes on with it, O is outside (also IOB2)
  iob1,   ///< I-X begins or goes on; B-X begins where a span of the same kind ends just before
  bioes,  ///< as BIO, and E-X ends a span of several words, S-X is one of a single word (also
          ///< BILOU)
  bmes,   ///< B, M, E and S, with or without kinds; every word is in a span
};

/// Which tags may follow one another.
struct TagConstraints {
  unsigned tags = 0;
  std::vector<bool> follows;       ///< tag j after tag i at i + tags * j
  std::vector<bool> begins, ends;  ///< by tag: whether a sequence may begin or end with it

  /// Whether the same is allowed.
  bool operator==(const TagConstraints&) const = default;
};

/// Constraints of a scheme, by the names of tags: a letter, and for most a hyphen and a kind. In
/// BIOES L and U are synonyms of E and S. Throws ArgumentError for a name outside the scheme.
TagConstraints tag_constraints(TagScheme scheme, const std::vector<std::string>& tags);

}  // namespace dynet
