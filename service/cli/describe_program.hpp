// What the program says of itself for other programs: its version, and completion for shells, which
// comes from the options' own descriptions. (The manual is made of the help, deploy/install.d.)
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace nightjar::cli {

// "nightjar 0.1.0"; as JSON also which program this is, and its commands.
std::string version_text(const CLI::App& app, bool json);
// Throws BadInput for another shell than bash, zsh or fish.
std::string completion_text(const CLI::App& app, const std::string& shell);

// The command `completion SHELL`, which the help does not list.
class DescribeProgram {
 public:
  void add_to(CLI::App& app);
  // Prints if one of them was chosen, and returns the exit code.
  std::optional<int> run(const CLI::App& app) const;

 private:
  std::string shell_;
  CLI::App* completion_ = nullptr;
};

}  // namespace nightjar::cli
