#include "service/cli/describe_program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "service/cli/failure.hpp"
#include "service/cli/service_commands.hpp"
#include "storage/base/terminal.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {

// A command that the help lists. The program itself has the empty path.
struct ListedCommand {
  std::string path;  // "bisect run"
  const CLI::App* app = nullptr;
};

std::vector<const CLI::App*> listed_below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

void list_commands(std::vector<ListedCommand>& into, const std::string& path, const CLI::App& app) {
  into.push_back({path, &app});
  for (const CLI::App* one : listed_below(app))
    list_commands(into, path + (path.empty() ? "" : " ") + one->get_name(), *one);
}

std::vector<ListedCommand> listed_commands(const CLI::App& app) {
  std::vector<ListedCommand> all;
  list_commands(all, "", app);
  return all;
}

std::vector<const CLI::Option*> named_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* one) { return !one->get_lnames().empty(); });
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

// What the value may be, with spaces between: CLI11 writes it as TEXT:{lower,higher}.
std::string choices_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const auto begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || !takes_value(option)) return "";
  type = type.substr(begin + 1, end - begin - 1);
  std::replace(type.begin(), type.end(), ',', ' ');
  return type;
}

// For a shell: in single quotes.
std::string in_shell_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// "    ' bisect'|' bisect run'" : the ways to go from one command to the next.
std::string every_path(const std::vector<ListedCommand>& commands, const std::string& between) {
  std::string text;
  for (const ListedCommand& one : commands)
    if (!one.path.empty()) text += (text.empty() ? "" : between) + in_shell_quotes(" " + one.path);
  return text;
}

// Cases for bash and zsh: "' detect|--direction') ACTION 'lower higher'" of each option.
std::string value_cases(const std::vector<ListedCommand>& commands, const std::string& choices,
                        const std::string& files) {
  std::string text;
  for (const ListedCommand& one : commands)
    for (const CLI::Option* option : named_options(*one.app)) {
      if (!takes_value(*option)) continue;
      const std::string words = choices_of(*option);
      text += "    " +
              in_shell_quotes((one.path.empty() ? "" : " ") + one.path + "|--" +
                              option->get_lnames().front()) +
              ") " + (words.empty() ? files : choices + " " + words) + "; return ;;\n";
    }
  return text;
}

std::string for_bash(const std::vector<ListedCommand>& commands) {
  std::string words;
  for (const ListedCommand& one : commands) {
    std::string list;
    for (const CLI::App* below : listed_below(*one.app)) list += below->get_name() + " ";
    for (const CLI::Option* option : named_options(*one.app))
      list += "--" + option->get_lnames().front() + " ";
    list.pop_back();
    words += "    " + in_shell_quotes((one.path.empty() ? "" : " ") + one.path) +
             ") words=" + in_shell_quotes(list) + " ;;\n";
  }
  return "# Completion of nightjar for bash: source <(nightjar completion bash)\n"
         "_nightjar_offer() {\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
         "}\n"
         "_nightjar() {\n"
         "  local path= words= word i\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    word=${COMP_WORDS[i]}\n"
         "    case \"$path $word\" in\n"
         "      " +
         every_path(commands, "|") +
         ") path=\"$path $word\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$path|${COMP_WORDS[COMP_CWORD-1]}\" in\n" +
         value_cases(commands, "_nightjar_offer", "COMPREPLY=()") +
         "  esac\n"
         "  case \"$path\" in\n" +
         words +
         "  esac\n"
         "  _nightjar_offer \"$words\"\n"
         "}\n"
         "complete -o default -F _nightjar nightjar git-nightjar\n";
}

// A word with its description, as zsh's _describe takes it.
std::string described_word(const std::string& word, std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return in_shell_quotes(word + ":" + text);
}

std::string for_zsh(const std::vector<ListedCommand>& commands) {
  std::string words;
  for (const ListedCommand& one : commands) {
    words += "    " + in_shell_quotes((one.path.empty() ? "" : " ") + one.path) + ")";
    std::string below, options;
    for (const CLI::App* sub : listed_below(*one.app))
      below += " " + described_word(sub->get_name(), sub->get_description());
    for (const CLI::Option* option : named_options(*one.app))
      options +=
          " " + described_word("--" + option->get_lnames().front(), option->get_description());
    words += " commands=(" + below + " ) options=(" + options + " ) ;;\n";
  }
  return "#compdef nightjar git-nightjar\n"
         "# Completion of nightjar for zsh: a file _nightjar in a folder of $fpath\n"
         "_nightjar() {\n"
         "  local at= word\n"
         "  local -a commands options\n"
         "  for word in ${words[2,CURRENT-1]}; do\n"
         "    case \"$at $word\" in\n"
         "      " +
         every_path(commands, "|") +
         ") at=\"$at $word\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$at|${words[CURRENT-1]}\" in\n" +
         value_cases(commands, "compadd --", "_files") +
         "  esac\n"
         "  case \"$at\" in\n" +
         words +
         "  esac\n"
         "  if [[ ${words[CURRENT]} == -* ]]; then _describe -o option options; return; fi\n"
         "  if (( $#commands )); then _describe command commands; else _files; fi\n"
         "}\n"
         "if [[ ${funcstack[1]} == _nightjar ]]; then _nightjar; else compdef _nightjar nightjar "
         "git-nightjar; fi\n";
}

std::string for_fish(const std::vector<ListedCommand>& commands) {
  std::string text =
      "# Completion of nightjar for fish: nightjar completion fish | source\n"
      "function __nightjar_path\n"
      "  set -l at ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$at $word\"\n"
      "      case " +
      every_path(commands, " ") +
      "\n"
      "        set at \"$at $word\"\n"
      "    end\n"
      "  end\n"
      "  echo -- \"$at\"\n"
      "end\n";
  for (const ListedCommand& one : commands) {
    const std::string here = "complete -c nightjar -n 'test (__nightjar_path) = \"" +
                             ((one.path.empty() ? "" : " ") + one.path) + "\"'";
    for (const CLI::App* below : listed_below(*one.app))
      text += here + " -f -a " + below->get_name() + " -d " +
              in_shell_quotes(below->get_description()) + "\n";
    for (const CLI::Option* option : named_options(*one.app)) {
      const std::string choices = choices_of(*option);
      text += here + " -l " + option->get_lnames().front() + (takes_value(*option) ? " -r" : "") +
              (choices.empty() ? "" : " -f -a " + in_shell_quotes(choices)) + " -d " +
              in_shell_quotes(option->get_description()) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string version_text(const CLI::App& app, bool json) {
  if (!json) return "nightjar " NIGHTJAR_VERSION;
  nlohmann::json root{{"program", "nightjar"},
                      {"version", NIGHTJAR_VERSION},
                      {"build", ServiceCommands::build()},
                      {"commands", nlohmann::json::array()}};
  for (const ListedCommand& one : listed_commands(app))
    if (listed_below(*one.app).empty()) root["commands"].push_back(one.path);
  return root.dump(2);
}

std::string completion_text(const CLI::App& app, const std::string& shell) {
  const auto commands = listed_commands(app);
  if (shell == "bash") return for_bash(commands);
  if (shell == "zsh") return for_zsh(commands);
  if (shell == "fish") return for_fish(commands);
  throw BadInput("cannot complete for the shell '" + shell + "'; there are bash, zsh and fish");
}

void DescribeProgram::add_to(CLI::App& app) {
  completion_ = app.add_subcommand("completion", "Completion for a shell")->group("");
  completion_->add_option("shell", shell_, "bash, zsh or fish")->required();
}

std::optional<int> DescribeProgram::run(const CLI::App& app) const {
  if (!*completion_) return std::nullopt;
  put_text(stdout, completion_text(app, shell_));
  return 0;
}

}  // namespace nightjar::cli
