#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nlp {

/// Error in the user's input, as a sentence to show.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Malformed line of a file: "file:line: what was expected".
class LineError : public UserError {
 public:
  LineError(const std::string& file, std::size_t line, const std::string& what)
      : UserError(file + ":" + std::to_string(line) + ": " + what) {}
};

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
inline char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

/// ASCII letters lower-cased; other bytes are unchanged.
std::string lower_cased(std::string_view text);

/// The pieces between runs of white space; never empty.
std::vector<std::string> split_words(std::string_view text);

/// Pieces between single separators; pieces may be empty, and "" has one empty piece.
std::vector<std::string> split_fields(std::string_view text, char separator);

/// `pieces` with `separator` between them.
std::string join(const std::vector<std::string>& pieces, std::string_view separator);

/// The text in quotes for a message: cut after `longest` bytes, control characters escaped.
std::string in_quotes(std::string_view text, std::size_t longest = 40);

/// Parses a decimal number from 0 to `largest`; throws UserError with `what` otherwise.
std::size_t parse_number(std::string_view text, const std::string& what, std::size_t largest);

/// A number as an option of the command line.
std::string option_text(double value);
inline std::string option_text(float value) { return option_text(static_cast<double>(value)); }
inline std::string option_text(unsigned value) { return std::to_string(value); }
inline std::string option_text(std::uint64_t value) { return std::to_string(value); }

}  // namespace nlp
