#include "examples/nlp/common/options.h"

#include <cstdlib>
#include <sstream>

#include "examples/nlp/common/command_line.h"
#include "examples/nlp/common/text.h"

namespace nlp {

InRange::InRange(double low, double high)
    : CLI::Validator(
          [low, high](std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (end != text.c_str() && *end == '\0' && value >= low && value <= high) return "";
            std::ostringstream message;
            message << nlp::quoted(text) << " is no number from " << low << " to " << high;
            return message.str();
          },
          "") {}

void Options::begin_group(const std::string& group) {
  if (command_ != nullptr) nlp::begin_group(*command_, group);
}

void Options::add_text(const std::string& name, const std::string& text, const std::string& help,
                       const std::function<void(const std::string&)>& read) {
  kept_.emplace_back(name, text);
  if (command_ == nullptr) return;
  command_->add_option_function<std::string>(name, read, help)->default_str(text);
}

void Options::add_flag(const std::string& name, bool& value, const std::string& help) {
  kept_.emplace_back(name, value ? "on" : "off");
  if (command_ != nullptr) command_->add_flag(name, value, help);
}

void Options::add_of_data(const std::string& name, std::string& value, const std::string& help) {
  of_data_.emplace_back(name, value);
  if (command_ != nullptr) command_->add_option(name, value, help);
}

void Options::add_flag_of_data(const std::string& name, bool& value, const std::string& help) {
  of_data_.emplace_back(name, value ? "on" : "off");
  if (command_ != nullptr) command_->add_flag(name, value, help);
}

}  // namespace nlp
