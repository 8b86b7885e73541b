#include "dynet-like/io/json.h"

#include <set>
#include <utility>

#include "dynet-like/base/errors.h"

namespace dynet::io_detail {
namespace {

constexpr int kMostLevels = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of the UTF-8 sequence at the start, or 0 if it is none (RFC 3629).
std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t i) {
    return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u;
  };
  const auto follows = [&](std::size_t i, unsigned from = 0x80, unsigned to = 0xbf) {
    return byte(i) >= from && byte(i) <= to;
  };
  const unsigned b = byte(0);
  if (b < 0x80) return 1;
  if (b >= 0xc2 && b <= 0xdf) return follows(1) ? 2 : 0;
  if (b >= 0xe0 && b <= 0xef)
    return follows(1, b == 0xe0 ? 0xa0 : 0x80, b == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  if (b >= 0xf0 && b <= 0xf4)
    return follows(1, b == 0xf0 ? 0x90 : 0x80, b == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3)
               ? 4
               : 0;
  return 0;
}

void append_utf8(std::string& s, std::uint32_t c) {
  if (c < 0x80) {
    s += static_cast<char>(c);
  } else if (c < 0x800) {
    s += static_cast<char>(0xc0 | c >> 6);
    s += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    s += static_cast<char>(0xe0 | c >> 12);
    s += static_cast<char>(0x80 | (c >> 6 & 63));
    s += static_cast<char>(0x80 | (c & 63));
  } else {
    s += static_cast<char>(0xf0 | c >> 18);
    s += static_cast<char>(0x80 | (c >> 12 & 63));
    s += static_cast<char>(0x80 | (c >> 6 & 63));
    s += static_cast<char>(0x80 | (c & 63));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json document() {
    Json j = value(0);
    space();
    if (at_ != text_.size()) fail("more follows after the end");
    return j;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw FileError("broken JSON at byte " + std::to_string(at_) + ": " + why);
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool eat(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!eat(c)) fail(std::string("'") + c + "' is missing");
  }

  Json value(int level) {
    if (level > kMostLevels) fail("it is nested too deeply");
    space();
    Json j;
    switch (peek()) {
      case '{':
        j.kind = Json::Kind::object;
        object(j, level);
        break;
      case '[':
        j.kind = Json::Kind::array;
        array(j, level);
        break;
      case '"':
        j.kind = Json::Kind::string;
        j.text = string();
        break;
      case 't':
      case 'f':
      case 'n':
        word(j);
        break;
      default:
        j.kind = Json::Kind::number;
        j.text = number();
    }
    return j;
  }

  void object(Json& j, int level) {
    need('{');
    space();
    if (eat('}')) return;
    std::set<std::string> seen;
    do {
      space();
      if (peek() != '"') fail("a name is missing");
      std::string name = string();
      if (!seen.insert(name).second) fail("the name " + json_string(name) + " comes twice");
      space();
      need(':');
      j.names.push_back(std::move(name));
      j.items.push_back(value(level + 1));
      space();
    } while (eat(','));
    need('}');
  }

  void array(Json& j, int level) {
    need('[');
    space();
    if (eat(']')) return;
    do {
      j.items.push_back(value(level + 1));
      space();
    } while (eat(','));
    need(']');
  }

  void word(Json& j) {
    for (const std::string_view w : {"true", "false", "null"})
      if (text_.substr(at_, w.size()) == w) {
        at_ += w.size();
        j.kind = w == "null" ? Json::Kind::null : Json::Kind::boolean;
        j.text = w;
        return;
      }
    fail("there is no value");
  }

  std::string number() {
    const std::size_t start = at_;
    const auto digits = [&] {
      if (!is_digit(peek())) fail("there is no value");
      while (is_digit(peek())) ++at_;
    };
    eat('-');
    if (!eat('0')) digits();
    if (eat('.')) digits();
    if (eat('e') || eat('E')) {
      if (!eat('+')) eat('-');
      digits();
    }
    return std::string(text_.substr(start, at_ - start));
  }

  std::uint32_t hex() {
    std::uint32_t x = 0;
    for (int i = 0; i < 4; ++i) {
      const std::size_t digit =
          std::string_view("0123456789abcdef")
              .find(
                  static_cast<char>(peek() >= 'A' && peek() <= 'F' ? peek() - 'A' + 'a' : peek()));
      if (digit == std::string_view::npos) fail("four hexadecimal digits are needed");
      x = x << 4 | static_cast<std::uint32_t>(digit);
      ++at_;
    }
    return x;
  }

  void escape(std::string& s) {
    static constexpr std::string_view kNames = "\"\\/bfnrt", kChars = "\"\\/\b\f\n\r\t";
    const char c = peek();
    ++at_;
    if (const std::size_t k = kNames.find(c); c != '\0' && k != kNames.npos) {
      s += kChars[k];
      return;
    }
    if (c != 'u') fail("an unknown escape");
    std::uint32_t x = hex();
    if (x >= 0xd800 && x < 0xdc00) {
      if (!eat('\\') || !eat('u')) fail("half of a surrogate pair");
      const std::uint32_t low = hex();
      if (low < 0xdc00 || low > 0xdfff) fail("half of a surrogate pair");
      x = 0x10000 + ((x - 0xd800) << 10) + (low - 0xdc00);
    } else if (x >= 0xdc00 && x <= 0xdfff) {
      fail("half of a surrogate pair");
    }
    append_utf8(s, x);
  }

  std::string string() {
    need('"');
    std::string s;
    while (true) {
      if (at_ >= text_.size()) fail("a string does not end");
      if (eat('"')) return s;
      if (eat('\\')) {
        escape(s);
        continue;
      }
      if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("a control character in a string");
      const std::size_t n = utf8_length(text_.substr(at_));
      if (n == 0) fail("a string that is not UTF-8");
      s += text_.substr(at_, n);
      at_ += n;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view name) const {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return &items[i];
  return nullptr;
}

std::uint64_t Json::whole(const std::string& what) const {
  if (kind != Kind::number || text.find_first_not_of("0123456789") != text.npos || text.size() > 18)
    throw FileError(what + " is no whole number below 10^18");
  std::uint64_t x = 0;
  for (const char c : text) x = 10 * x + static_cast<std::uint64_t>(c - '0');
  return x;
}

Json parse_json(std::string_view text) { return Parser(text).document(); }

std::string json_string(std::string_view text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      s += '\\';
      s += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      s += "\\u00";
      s += "0123456789abcdef"[c >> 4];
      s += "0123456789abcdef"[c & 15];
    } else {
      s += c;
    }
  }
  return s + '"';
}

}  // namespace dynet::io_detail
