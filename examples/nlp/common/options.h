#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "examples/nlp/common/names.h"
#include "examples/nlp/common/training.h"
#include "tools/program/help.h"

namespace nlp {

/// Validates a number from `low` to `high`, an integer if `low` is one, also in the form 1e3; for
/// use with `transform`. CLI::Range accepts "nan" and, for unsigned numbers, "-1".
struct InRange : CLI::Validator {
  template <typename Low>
  InRange(Low low, double high)
      : InRange(static_cast<double>(low), high, std::is_integral_v<Low>) {}

 private:
  InRange(double low, double high, bool whole);
};

/// For CLI::Option::check: the values that completion offers.
template <typename Value>
CLI::Validator named(const Names<Value>& names) {
  std::vector<std::string> all;
  for (const auto& [value, name] : names) all.emplace_back(name);
  return program::choices(all);
}

/// Options and their variables. Each option is declared once for the command line, for the
/// comparison of a resumed run with its original, and for the report.
class Options {
 public:
  /// Adds options to a command; null: only collects their values.
  explicit Options(CLI::App* command) : command_(command) {}

  /// Puts options added after this call into this group of --help.
  void begin_group(const std::string& group);

  /// Adds a number.
  template <typename Number>
  void add(const std::string& name, Number& value, const std::string& help, const InRange& range) {
    kept_.emplace_back(name, option_text(value));
    if (command_ != nullptr) command_->add_option(name, value, help)->transform(range);
  }
  /// Adds an option with named values; `what` is its name in errors.
  template <typename Value>
  void add(const std::string& name, Value& value, const std::string& help,
           const Names<Value>& names, const std::string& what) {
    const auto read = [&value, &names, what](const std::string& text) {
      value = value_of(names, text, what);
    };
    CLI::Option* const option = add_text(name, name_of(names, value), help, read);
    if (option != nullptr) option->check(named(names));
  }
  /// Adds an option that `read` parses; null without a command.
  CLI::Option* add_text(const std::string& name, const std::string& text, const std::string& help,
                        const std::function<void(const std::string&)>& read);
  void add_flag(const std::string& name, bool& value, const std::string& help);

  /// Adds an option that may differ in a resumed run, since the data are compared instead; null
  /// without a command.
  CLI::Option* add_of_data(const std::string& name, std::string& value, const std::string& help);
  template <typename Value>
  void add_of_data(const std::string& name, std::string& value, const std::string& help,
                   const Names<Value>& names) {
    CLI::Option* const option = add_of_data(name, value, help);
    if (option != nullptr) option->check(named(names));
  }
  /// Adds a file, whose value is its base name.
  void add_file_of_data(const std::string& name, std::string& path, const std::string& help);
  void add_flag_of_data(const std::string& name, bool& value, const std::string& help);

  const OptionValues& kept() const { return kept_; }
  const OptionValues& of_data() const { return of_data_; }

 private:
  CLI::App* command_;
  OptionValues kept_, of_data_;
};

/// Options of a command and their values: those that must be equal in a resumed run, or all.
template <class Command>
OptionValues kept_options(Command& command) {
  Options options(nullptr);
  command.add_settings(options);
  return options.kept();
}
template <class Command>
OptionValues all_options(Command& command) {
  Options options(nullptr);
  command.add_settings(options);
  OptionValues all = options.of_data();
  all.insert(all.end(), options.kept().begin(), options.kept().end());
  return all;
}

}  // namespace nlp
