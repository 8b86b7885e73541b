#include "tools/program/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "dynet-like/base/isa.h"
#include "dynet-like/base/version.h"

namespace program {
namespace {

constexpr const char* kHelpGroup = "Help";
constexpr std::size_t kColumns = 80, kFewestColumns = 40, kLeftColumns = 26;

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // skips continuation bytes of UTF-8
  }));
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t columns) : columns_(std::max(columns, kFewestColumns)) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode /*mode*/) const override {
    std::string help = wrapped(app->get_description(), columns_, 0, 0) + "\n\nUsage: " + name;
    const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
    const auto options = app->get_options();
    if (!options.empty()) help += " [OPTIONS]";
    for (const CLI::Option* option : options) {
      if (!option->get_positional()) continue;
      const std::string argument = option->get_name(true);
      help += option->get_required() ? " " + argument : " [" + argument + "]";
    }
    if (!commands.empty()) help += " COMMAND";
    help += "\n";
    if (!commands.empty()) help += "\nCommands:\n";
    for (const CLI::App* command : commands) {
      help += two_columns(command->get_name(), command->get_description());
    }
    help += arguments(options);
    for (const std::string& group : app->get_groups()) help += group_text(options, group);
    if (!app->get_footer().empty()) help += "\n" + app->get_footer() + "\n";
    return help;
  }

 private:
  std::string two_columns(const std::string& left, const std::string& right) const {
    std::string text = "  " + left;
    const std::size_t gap = width_of(text) + 2 > kLeftColumns ? 0 : kLeftColumns - width_of(text);
    text += gap == 0 ? "\n" + std::string(kLeftColumns, ' ') : std::string(gap, ' ');
    return text + wrapped(right, columns_, kLeftColumns, kLeftColumns) + "\n";
  }

  std::string arguments(const std::vector<const CLI::Option*>& options) const {
    std::string text;
    for (const CLI::Option* option : options) {
      if (option->get_positional())
        text += two_columns(option->get_name(true), option->get_description());
    }
    return text.empty() ? "" : "\nArguments:\n" + text;
  }

  std::string group_text(const std::vector<const CLI::Option*>& options,
                         const std::string& group) const {
    std::string text;
    for (const CLI::Option* option : options) {
      if (option->get_positional() || option->get_group() != group) continue;
      std::string left = option->get_name(false, true);
      for (std::size_t comma = 0; (comma = left.find(',', comma)) != left.npos; ++comma)
        left.insert(comma + 1, " ");
      const bool is_flag = option->get_items_expected_max() == 0;
      if (!is_flag) left += " " + value_name(*option);
      text += two_columns(left, option_help(*option));
    }
    return text.empty() ? "" : "\n" + group + ":\n" + text;
  }

  std::size_t columns_;
};

}  // namespace

std::size_t help_columns() {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? size.ws_col : kColumns;
}

std::string value_name(const CLI::Option& option) {
  const std::string all = option.get_type_name(), type = all.substr(0, all.find(':'));
  if (type == "UINT" || type == "INT") return "N";
  return type == "FLOAT" ? "X" : type;
}

std::string option_help(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required()) text += " (required)";
  if (option.get_items_expected_max() > 0 && !option.get_default_str().empty())
    text += " [default: " + option.get_default_str() + "]";
  return text;
}

CLI::Validator choices(const std::vector<std::string>& names) {
  return {[](std::string&) { return std::string(); }, CLI::detail::generate_set(names)};
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find(":{"), end = type.find('}');
  if (begin == type.npos || end == type.npos) return {};
  return CLI::detail::split(type.substr(begin + 2, end - begin - 2), ',');
}

std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent,
                    std::size_t begun) {
  std::istringstream in(text);
  std::string result;
  std::size_t at = begun;
  for (std::string word; in >> word;) {
    const std::size_t width = width_of(word);
    if (!result.empty()) {
      if (at + 1 + width > columns) {
        result += "\n" + std::string(indent, ' ');
        at = indent;
      } else {
        result += ' ';
        ++at;
      }
    }
    result += word;
    at += width;
  }
  return result;
}

void set_help(CLI::App& app, std::size_t columns) {
  app.formatter(std::make_shared<HelpFormatter>(columns));
  const auto version = [name = app.get_name()] {
    return name + " " + dynet::version() + " (kernels for " + dynet::isa_name() + ")";
  };
  app.set_version_flag("--version", version, "Print the version and end")->group(kHelpGroup);
}

void end_help(CLI::App& app, const std::vector<std::string>& examples) {
  app.set_help_flag();
  app.set_help_flag("-h,--help", "Print the options and end")->group(kHelpGroup);
  if (examples.empty()) return;
  std::string footer = examples.size() == 1 ? "Example:" : "Examples:";
  for (const std::string& example : examples) footer += "\n  " + example;
  app.footer(footer);
}

}  // namespace program
