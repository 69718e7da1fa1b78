// What the program in one file has of these commands: their names, and where the commands are.
#include "service/cli/service_commands.hpp"

#include <CLI/CLI.hpp>
#include <vector>

#include "service/cli/failure.hpp"

namespace nightjar::cli {

struct ServiceCommands::Impl {
  std::vector<CLI::App*> commands;
};

ServiceCommands::ServiceCommands() : impl_(std::make_unique<Impl>()) {}
ServiceCommands::~ServiceCommands() = default;

void ServiceCommands::add_to(CLI::App& app) {
  for (const char* name : {"import", "report"}) {
    CLI::App* command = app.add_subcommand(
        name, "Not in this program: it speaks to a service, which the full one can");
    command->allow_extras();
    impl_->commands.push_back(command);
  }
}

std::optional<int> ServiceCommands::run() {
  for (const CLI::App* command : impl_->commands)
    if (*command)
      throw BadInput("cannot " + command->get_name() +
                     ": this nightjar is one file without network access; use the full one, which "
                     "deploy/build makes");
  return std::nullopt;
}

const char* ServiceCommands::build() {
  return "one-file";
}

}  // namespace nightjar::cli
