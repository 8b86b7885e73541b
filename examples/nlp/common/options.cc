#include "examples/nlp/common/options.h"

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "examples/nlp/common/command_line.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text.h"

namespace nlp {

namespace {

/// Above this limit integers have no exact double, so the user's digits are kept.
constexpr double kInexact = 9007199254740992.0;

bool is_digits(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

InRange::InRange(double low, double high, bool whole)
    : CLI::Validator(
          [low, high, whole](std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool is_number = end != text.c_str() && *end == '\0';
            if (!is_number || !(value >= low && value <= high) ||
                (whole && value != std::floor(value))) {
              std::ostringstream message;
              message << in_quotes(text) << " is no " << (whole ? "whole " : "") << "number from "
                      << low << " to " << high;
              return message.str();
            }
            // CLI11 rejects 1e3 as an integer, and reads 010 as octal 8.
            if (whole && (value < kInexact || !is_digits(text)))
              text = fixed(value + 0.0, 0);  // + 0.0 removes the sign of -0
            return "";
          },
          "") {}

void Options::begin_group(const std::string& group) {
  if (command_ != nullptr) nlp::begin_group(*command_, group);
}

CLI::Option* Options::add_text(const std::string& name, const std::string& text,
                               const std::string& help,
                               const std::function<void(const std::string&)>& read) {
  kept_.emplace_back(name, text);
  if (command_ == nullptr) return nullptr;
  return command_->add_option_function<std::string>(name, read, help)->default_str(text);
}

void Options::add_flag(const std::string& name, bool& value, const std::string& help) {
  kept_.emplace_back(name, value ? "on" : "off");
  if (command_ != nullptr) command_->add_flag(name, value, help);
}

CLI::Option* Options::add_of_data(const std::string& name, std::string& value,
                                  const std::string& help) {
  of_data_.emplace_back(name, value);
  return command_ == nullptr ? nullptr : command_->add_option(name, value, help);
}

void Options::add_file_of_data(const std::string& name, std::string& path,
                               const std::string& help) {
  of_data_.emplace_back(name, without_folders(path));
  if (command_ != nullptr) command_->add_option(name, path, help)->type_name("FILE");
}

void Options::add_flag_of_data(const std::string& name, bool& value, const std::string& help) {
  of_data_.emplace_back(name, value ? "on" : "off");
  if (command_ != nullptr) command_->add_flag(name, value, help);
}

}  // namespace nlp
