#include "tools/program/describe.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <string_view>
#include <vector>

#include "dynet-like/base/version.h"
#include "tools/program/help.h"

namespace program {
namespace {

using Apps = std::vector<const CLI::App*>;
using Options = std::vector<const CLI::Option*>;
using Texts = std::vector<std::string>;

Apps commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

Options options_of(const CLI::App& app, bool positional) {
  return app.get_options(
      [&](const CLI::Option* option) { return option->get_positional() == positional; });
}

/// --model and -m.
Texts names_of(const CLI::Option& option) {
  Texts names;
  for (const std::string& letters : option.get_lnames()) names.push_back("--" + letters);
  for (const std::string& letter : option.get_snames()) names.push_back("-" + letter);
  return names;
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::string joined(const Texts& texts, std::string_view between) {
  std::string result;
  for (const std::string& text : texts) {
    if (!result.empty()) result += between;
    result += text;
  }
  return result;
}

/// Inserts `escape` before each of these characters.
std::string escaped(std::string_view text, std::string_view characters, std::string_view escape) {
  std::string result;
  for (const char c : text) {
    if (characters.find(c) != characters.npos) result += escape;
    result += c;
  }
  return result;
}

/// In single quotes, for a shell.
std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Text for groff, whose control lines begin with a dot or an apostrophe.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'')
      result += "\\(aq";
    else if (c == '.' && (result.empty() || result.back() == '\n'))
      result += "\\&.";
    else
      result += c;
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

/// Up to the end of the first sentence or part of one: "Tags words with a BiLSTM".
std::string first_part(const std::string& text) {
  return text.substr(0, text.find_first_of(".,:;("));
}

std::string page_synopsis(const CLI::App& app, const std::string& name) {
  std::string text = bold(name) + " [" + italic("OPTIONS") + "]";
  for (const CLI::Option* argument : options_of(app, true)) {
    const std::string shown = italic(argument->get_name(true));
    text += argument->get_required() ? " " + shown : " [" + shown + "]";
  }
  return text + (commands_of(app).empty() ? "\n" : " " + italic("COMMAND") + "\n");
}

std::string page_option(const CLI::Option& option) {
  const std::string value = is_flag(option) ? "" : " " + italic(value_name(option));
  Texts names;
  for (const std::string& name : names_of(option)) names.push_back(bold(name) + value);
  return ".TP\n" + joined(names, ", ") + "\n" + roff(option_help(option)) + "\n";
}

/// Arguments, and the options by groups; --help is described once, for the program.
std::string page_options(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* argument : options_of(app, true)) {
    if (text.empty()) text += ".SS Arguments\n";
    text += ".TP\n" + italic(argument->get_name(true)) + "\n" + roff(argument->get_description()) +
            "\n";
  }
  for (const std::string& group : app.get_groups()) {
    std::string list;
    for (const CLI::Option* option : options_of(app, false)) {
      const bool shown = app.get_parent() == nullptr || option != app.get_help_ptr();
      if (shown && option->get_group() == group) list += page_option(*option);
    }
    if (!list.empty()) text += ".SS " + roff(group) + "\n" + list;
  }
  return text;
}

/// The footer that end_help has made.
std::string page_examples(const CLI::App& app) {
  const std::string footer = app.get_footer();
  const std::size_t first = footer.find('\n');
  if (first == footer.npos) return "";
  return ".SS Examples\n.nf\n" + roff(footer.substr(first + 1)) + "\n.fi\n";
}

/// Options, arguments and commands of a program or a command, for completion.
struct Words {
  std::string name;  ///< of a command; empty for the program
  Texts words;       ///< commands and options
  bool takes_file;   ///< as an argument
  Options options;
};

std::vector<Words> words_of(const CLI::App& app) {
  std::vector<Words> all;
  Apps apps = commands_of(app);
  apps.insert(apps.begin(), &app);
  for (const CLI::App* each : apps) {
    Words words{each == &app ? "" : each->get_name(),
                {},
                !options_of(*each, true).empty(),
                options_of(*each, false)};
    for (const CLI::App* command : commands_of(*each)) words.words.push_back(command->get_name());
    for (const CLI::Option* option : words.options)
      for (const std::string& name : names_of(*option)) words.words.push_back(name);
    all.push_back(std::move(words));
  }
  return all;
}

std::string function_name(const CLI::App& app) {
  std::string name = "_" + app.get_name();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Bash: the command that completes the value of an option; empty for a file.
std::string bash_value(const CLI::Option& option) {
  const Texts choices = choices_of(option);
  if (!choices.empty())
    return "COMPREPLY=($(compgen -W " + shell_quoted(joined(choices, " ")) + " -- \"$current\"))";
  const std::string value = value_name(option);
  if (value == "FILE") return "";  // by `complete -o default`
  return value == "DIR" ? "compopt +o default -o dirnames" : "compopt +o default";
}

/// Zsh: what _arguments reads about an option.
std::string zsh_option(const CLI::Option& option) {
  const Texts names = names_of(option);
  std::string value;
  if (!is_flag(option)) {
    const std::string shown = value_name(option);
    const Texts choices = choices_of(option);
    value = ":" + shown + ":";
    if (!choices.empty())
      value += "(" + joined(choices, " ") + ")";
    else if (shown == "FILE")
      value += "_files";
    else if (shown == "DIR")
      value += "_files -/";
  }
  const std::string help = "[" + escaped(option.get_description(), "[]\\", "\\") + "]";
  std::string text;
  for (const std::string& name : names) {
    const std::string joint = is_flag(option) ? "" : name[1] == '-' ? "=" : "+";
    text += " " + shell_quoted("(" + joined(names, " ") + ")" + name + joint + help + value);
  }
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string title = app.get_name();
  std::transform(title.begin(), title.end(), title.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  std::string text = ".TH " + roff(title) + " 1 \"\" \"dynet\\-like " + dynet::version() +
                     "\" \"User Commands\"\n.nh\n.ad l\n";
  text += ".SH NAME\n" + roff(app.get_name()) + " \\- " + roff(first_part(app.get_description())) +
          "\n";
  text += ".SH SYNOPSIS\n" + page_synopsis(app, app.get_name());
  text += ".SH DESCRIPTION\n" + roff(app.get_description()) + "\n" + page_options(app) +
          page_examples(app);
  text += ".SH COMMANDS\n";
  const Apps commands = commands_of(app);
  for (const CLI::App* command : commands)
    text += ".TP\n" + bold(command->get_name()) + "\n" + roff(command->get_description()) + "\n";
  for (const CLI::App* command : commands) {
    std::string heading = app.get_name() + " " + command->get_name();
    text += ".SH \"" + roff(heading) + "\"\n" + page_synopsis(*command, heading) + ".PP\n" +
            roff(command->get_description()) + "\n" + page_options(*command) +
            page_examples(*command);
  }
  return text;
}

std::string bash_completion(const CLI::App& app) {
  const std::string function = function_name(app);
  std::map<std::string, Texts> patterns;  // by what completes them
  std::string values, words;
  for (const Words& each : words_of(app)) {
    for (const CLI::Option* option : each.options) {
      if (is_flag(*option)) continue;
      for (const std::string& name : names_of(*option))
        patterns[bash_value(*option)].push_back(shell_quoted(each.name + " " + name));
    }
    words += "    " + shell_quoted(each.name) + ") " +
             (each.takes_file ? "[[ $current == -* ]] || return 0\n      " : "") +
             "words=" + shell_quoted(joined(each.words, " ")) + " ;;\n";
  }
  for (const auto& [completion, options] : patterns) {
    values += "    " + joined(options, " | ") + ")\n";
    if (!completion.empty()) values += "      " + completion + "\n";
    values += "      return 0 ;;\n";
  }
  return "# Completion for bash: eval \"$(" + app.get_name() + " --bash-completion)\"\n" +
         function +
         R"(() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= words=
  [ "$COMP_CWORD" -le 1 ] || command=${COMP_WORDS[1]}
  # --option=value is three words
  [ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
  [ "$current" != = ] || current=
  COMPREPLY=()
  case "$command $before" in
)" + values +
         R"(  esac
  case $command in
)" + words +
         R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F )" +
         function + " " + app.get_name() + "\n";
}

std::string zsh_completion(const CLI::App& app) {
  std::string own, commands, cases;
  for (const CLI::Option* option : options_of(app, false)) own += zsh_option(*option);
  for (const CLI::App* command : commands_of(app)) {
    commands += " " + shell_quoted(command->get_name() + ":" +
                                   escaped(command->get_description(), ":\\", "\\"));
    cases += "      " + command->get_name() + ") _arguments -s";
    for (const CLI::Option* option : options_of(*command, false)) cases += zsh_option(*option);
    for (const CLI::Option* argument : options_of(*command, true))
      cases += " " + shell_quoted(":" + argument->get_name(true) + ":_files");
    cases += " ;;\n";
  }
  return "#compdef " + app.get_name() + R"(
local state line
typeset -A opt_args
_arguments -C)" +
         own + R"( '1:command:->command' '*::argument:->arguments'
case $state in
  command)
    local -a commands
    commands=()" +
         commands + R"( )
    _describe command commands ;;
  arguments)
    case $line[1] in
)" + cases +
         R"(    esac ;;
esac
)";
}

bool describe(const CLI::App& app, int argc, char** argv) {
  if (argc != 2) return false;
  const std::string argument = argv[1];
  if (argument == "--man-page")
    std::cout << manual_page(app);
  else if (argument == "--bash-completion")
    std::cout << bash_completion(app);
  else if (argument == "--zsh-completion")
    std::cout << zsh_completion(app);
  else
    return false;
  return true;
}

}  // namespace program
