#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "examples/nlp/common/names.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// A number from `low` to `high`, and a whole one if `low` is an integer, which may be written as
/// 1e3 all the same; to be used with `transform`. CLI::Range lets "nan" and, for unsigned numbers,
/// "-1" pass.
struct InRange : CLI::Validator {
  template <typename Low>
  InRange(Low low, double high)
      : InRange(static_cast<double>(low), high, std::is_integral_v<Low>) {}

 private:
  InRange(double low, double high, bool whole);
};

/// Options with the variables that hold their values. Each is named once: for the command line, for
/// the check that a resumed run goes on as it began, and for the report.
class Options {
 public:
  /// Adds the options to a command; null: only collects their values.
  explicit Options(CLI::App* command) : command_(command) {}

  /// Options added after this call belong to this group of --help.
  void begin_group(const std::string& group);

  /// A number.
  template <typename Number>
  void add(const std::string& name, Number& value, const std::string& help, const InRange& range) {
    kept_.emplace_back(name, option_text(value));
    if (command_ != nullptr) command_->add_option(name, value, help)->transform(range);
  }
  /// One of the values that have a name; `what` is what errors call it.
  template <typename Value>
  void add(const std::string& name, Value& value, const std::string& help,
           const Names<Value>& names, const std::string& what) {
    add_text(name, name_of(names, value), help, [&value, &names, what](const std::string& text) {
      value = value_of(names, text, what);
    });
  }
  /// An option whose value `read` parses from a text.
  void add_text(const std::string& name, const std::string& text, const std::string& help,
                const std::function<void(const std::string&)>& read);
  void add_flag(const std::string& name, bool& value, const std::string& help);

  /// Options that a resumed run need not keep, as its data must be the same.
  void add_of_data(const std::string& name, std::string& value, const std::string& help);
  /// A file, whose value is its name without folders.
  void add_file_of_data(const std::string& name, std::string& path, const std::string& help);
  void add_flag_of_data(const std::string& name, bool& value, const std::string& help);

  const OptionValues& kept() const { return kept_; }
  const OptionValues& of_data() const { return of_data_; }

 private:
  CLI::App* command_;
  OptionValues kept_, of_data_;
};

/// The options of a command and their values: those that a resumed run must keep, or all.
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
