// A double that is a Python program: a child process, ended with the test program. It prints
// {"port": n} once it listens on loopback, and is told what to do below /_double/.
#pragma once

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "storage/model/json.hpp"
#include "tests/support/source_tree.hpp"
#include "web/client.hpp"

extern char** environ;

namespace nightjar::tests {

class PythonDouble {
 public:
  PythonDouble(const PythonDouble&) = delete;
  PythonDouble& operator=(const PythonDouble&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  nlohmann::json control(const std::string& what, const nlohmann::json& body) {
    web::ClientRequest request;
    request.method = "POST";
    request.url = url() + "/_double/" + what;
    request.body = body.dump();
    const auto result = web::Client().send(request);
    if (!result) throw std::runtime_error(result.failure.what);
    return nlohmann::json::parse(result.response->body);
  }
  nlohmann::json state() { return control("state", nlohmann::json::object()); }
  void fault(const std::string& on, const std::string& kind, int times = 1, int retry_after = 1) {
    control("faults",
            {{"items",
              {{{"on", on}, {"kind", kind}, {"times", times}, {"retry_after", retry_after}}}}});
  }

 protected:
  // `server` is its file below tests/support. GitHub's description is always given. Throws where
  // that or the validator is missing: what cannot be checked must not pass.
  PythonDouble(const std::string& server, const std::vector<std::string>& options) {
    namespace fs = std::filesystem;
    const fs::path source = nightjar::test::source_tree();
    const char* tools = std::getenv("NIGHTJAR_TEST_PYTHON");
    const std::string python = tools ? tools : (source / ".cache/tools/bin/python").string();
    const std::string description = (source / ".cache/testdata/api.github.com.deref.json").string();
    for (const std::string& needed : {python, description}) {
      if (!fs::exists(needed)) {
        throw std::runtime_error(needed + " is missing: run deploy/build --tests");
      }
    }
    std::vector<std::string> arguments{python, (source / "tests/support" / server).string(),
                                       "--description", description};
    arguments.insert(arguments.end(), options.begin(), options.end());
    start(arguments);
  }
  ~PythonDouble() {
    close(stdin_);  // it ends when its input does, however this program ends
    waitpid(process_, nullptr, 0);
  }

 private:
  void start(std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::array<int, 2> in{}, out{};
    if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error("cannot make pipes for " + arguments[1]);
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    const int failure = posix_spawn(&process_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    stdin_ = in[1];
    if (failure != 0) throw std::runtime_error("cannot start " + arguments[0]);
    std::string line;
    char c = 0;
    while (read(out[0], &c, 1) == 1 && c != '\n') line += c;
    close(out[0]);
    if (c != '\n') throw std::runtime_error(arguments[1] + " did not start; see its message above");
    port_ = nlohmann::json::parse(line).at("port");
  }

  pid_t process_ = 0;
  int stdin_ = -1;
  int port_ = 0;
};

}  // namespace nightjar::tests
