// The page and the interface's description, which travel inside the program.
#include <algorithm>
#include <array>

#include "service/api/embedded.hpp"
#include "service/api/routes.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
namespace {

struct Kind {
  std::string_view extension, content_type;
};
constexpr std::array<Kind, 6> kinds{{{".html", "text/html; charset=utf-8"},
                                     {".js", "text/javascript; charset=utf-8"},
                                     {".css", "text/css; charset=utf-8"},
                                     {".svg", "image/svg+xml"},
                                     {".png", "image/png"},
                                     {".json", "application/json"}}};

void add_file(web::Server& server, std::string path, const EmbeddedFile& file,
              std::string_view content_type) {
  web::Route route;
  route.pattern = std::move(path);
  route.role = web::Role::none;
  const std::string tag = "\"" + web::sha256(file.content).brief() + "\"";
  route.handler = [file, tag, content_type](const web::Request& request, web::Respond respond) {
    web::Response response;
    response.content_type = content_type;
    response.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
    if (request.header("if-none-match") == tag)
      response.status = 304;
    else
      response.body = file.content;
    respond(std::move(response));
  };
  server.add(std::move(route));
}

}  // namespace

void add_page_routes(web::Server& server) {
  for (const EmbeddedFile& file : embedded_files()) {
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& known) {
      return file.path.ends_with(known.extension);
    });
    if (kind == kinds.end()) continue;
    add_file(server, "/" + std::string(file.path), file, kind->content_type);
    if (file.path == "index.html") add_file(server, "/", file, kind->content_type);
  }
}

}  // namespace nightjar::service::api
