// The commands that speak to a service: `import` and `report`. There are two implementations: in
// this folder the full one, and in `local` that of the program in one file, which has no network.
#pragma once

#include <memory>
#include <optional>

namespace CLI {
class App;
}

namespace nightjar::cli {

class ServiceCommands {
 public:
  ServiceCommands();
  ~ServiceCommands();
  void add_to(CLI::App& app);
  // Runs the command that was chosen, if it is one of these, and returns its exit code.
  std::optional<int> run();

  // What this program is: "full" or "one-file".
  static const char* build();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nightjar::cli
