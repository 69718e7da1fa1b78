#include "service/cli/shell.hpp"

#include <algorithm>
#include <cctype>
#include <unistd.h>

#include "storage/base/git_process.hpp"

namespace nightjar::cli {

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos && !git::is_about_repository(text.substr(0, equals)))
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Ran run_command(const std::string& command, const WorkPlace& place, double timeout_seconds,
                std::stop_token stop) {
  constexpr std::int64_t most_output = 16 << 20;
  runner::ProcessSpec spec;
  spec.command = {"sh", "-c", command};
  spec.output_is_protocol = true;  // apart from what it says on errors
  spec.environment = own_environment();
  for (const auto& [name, value] : place.variables) spec.environment[name] = value;
  spec.folder = place.folder;
  spec.timeout_seconds = timeout_seconds;
  spec.output_bytes = spec.protocol_bytes = most_output;
  spec.processes = 1 << 16;
  spec.memory_group = false;
  Ran ran{
      runner::run_untrusted(spec, runner::Unconfined("its user gave the command"), std::move(stop)),
      {}};
  ran.output = std::move(ran.process.protocol);
  return ran;
}

std::string quoted_for_shell(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string("/._-+~").find(static_cast<char>(c)) != std::string::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace nightjar::cli
