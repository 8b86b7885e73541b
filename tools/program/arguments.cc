#include "tools/program/arguments.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "dynet-like/base/printable.h"
#include "tools/program/describe.h"
#include "tools/program/errors.h"

namespace program {
namespace {

/// Damerau-Levenshtein distance.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                          d[i - 1][j - 1] + static_cast<std::size_t>(a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// Option similar to a mistyped one; empty if none is similar.
std::string similar_option(const CLI::App& app, const std::string& typed) {
  std::string best;
  std::size_t least = 2 + typed.size() / 8;  // a larger distance means another word
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& letters : option->get_lnames()) {
      const std::string name = "--" + letters;
      const bool begun = typed.size() > 3 && name.rfind(typed, 0) == 0;
      const std::size_t far = begun ? 0 : distance(typed, name);
      if (far < least || (far == least && best.empty())) {
        least = far;
        best = name;
      }
    }
  }
  return best;
}

/// The command named by the arguments, or the program itself.
const CLI::App& innermost(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : innermost(*commands.back());
}

std::string full_name(const CLI::App& app) {
  return (app.get_parent() ? full_name(*app.get_parent()) + " " : "") + app.get_name();
}

std::string quoted(const std::string& text) { return "'" + dynet::printable(text) + "'"; }

/// The first unused argument, options first; empty if all are used.
std::string complaint(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining();
  const auto is_option = [](const std::string& text) { return text.size() > 1 && text[0] == '-'; };
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  if (option != left.end()) {
    const std::string name = option->substr(0, option->find('='));
    const std::string meant = similar_option(app, name);
    return "unknown option " + quoted(name) +
           (meant.empty() ? "" : ": did you mean " + meant + "?");
  }
  return left.empty() ? "" : "unexpected argument " + quoted(left[0]);
}

/// Throws UsageError unless the first argument is a command or an option.
void require_command(const CLI::App& app, const std::string& first) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::string names;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string& name = commands[i]->get_name();
    if (first == name) return;
    names += (i == 0 ? "" : i + 1 < commands.size() ? ", " : " or ") + name;
  }
  if (commands.empty() || first.rfind('-', 0) == 0) return;
  throw UsageError((first.empty() ? "no command" : "unknown command " + quoted(first)) +
                   ": expected " + names + " (" + app.get_name() + " --help says more)");
}

}  // namespace

bool parse(CLI::App& app, int argc, char** argv) {
  if (describe(app, argc, argv)) return false;
  require_command(app, argc > 1 ? argv[1] : "");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);  // prints
      return false;
    }
    const CLI::App& command = innermost(app);
    const std::string unknown = complaint(command);
    throw UsageError((unknown.empty() ? error.what() : unknown) + " (" + full_name(command) +
                     " --help lists what there is)");
  }
  return true;
}

}  // namespace program
