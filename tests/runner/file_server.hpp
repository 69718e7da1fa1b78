// Gives any file below /tmp to whoever asks, over HTTP: where tests download wheels from.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/loop_thread.hpp"
#include "web/server/server.hpp"

namespace nightjar::runner {

class FileServer {
 public:
  static FileServer& shared() {
    static FileServer server;
    return server;
  }
  std::string url_of(const std::filesystem::path& file) const {
    return "http://127.0.0.1:" + std::to_string(server_.port()) + "/" +
           file.parent_path().filename().string() + "/" + file.filename().string();
  }
  ~FileServer() {
    server_.stop();
    loop_.end();
  }

 private:
  FileServer() : server_(loop_.io, web::ServerConfig{}) {
    web::Route route;
    route.pattern = "/{folder}/{name}";
    route.role = web::Role::none;
    route.handler = [](const web::Request& request, web::Respond respond) {
      const auto file = std::filesystem::path("/tmp") / request.parameters.at("folder") /
                        request.parameters.at("name");
      if (!std::filesystem::exists(file)) return respond(web::problem(404, "no file", "no file"));
      web::Response response;
      response.content_type = "application/octet-stream";
      response.file = file;
      respond(response);
    };
    server_.add(std::move(route));
    server_.start();
  }

  test::LoopThread loop_;
  web::Server server_;
};

}  // namespace nightjar::runner
