// The page, which travels inside the program, and the interface's description.
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
constexpr std::array<Kind, 5> kinds{{{".html", "text/html; charset=utf-8"},
                                     {".js", "text/javascript; charset=utf-8"},
                                     {".css", "text/css; charset=utf-8"},
                                     {".svg", "image/svg+xml"},
                                     {".png", "image/png"}}};

// Answers a text that stays the same while the program runs.
web::Handler unchanging(std::string content, std::string_view type) {
  const std::string tag = "\"" + web::sha256(content).brief() + "\"";
  return
      [content = std::move(content), tag, type](const web::Request& request, web::Respond respond) {
        web::Response response;
        response.content_type = type;
        response.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
        if (request.header("if-none-match") == tag)
          response.status = 304;
        else
          response.body = content;
        respond(std::move(response));
      };
}

void add_file(web::Server& server, std::string path, const EmbeddedFile& file,
              std::string_view type) {
  web::Route route;
  route.pattern = std::move(path);
  route.role = web::Role::none;
  route.handler = unchanging(std::string(file.content), type);
  server.add(std::move(route));
}

}  // namespace

void add_page_routes(Routes& routes) {
  for (const EmbeddedFile& file : embedded_files()) {
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& known) {
      return file.path.ends_with(known.extension);
    });
    if (kind == kinds.end()) continue;
    add_file(routes.server, "/" + std::string(file.path), file, kind->content_type);
    if (file.path == "index.html") add_file(routes.server, "/", file, kind->content_type);
  }
}

void add_document_route(Routes& routes) {
  const Operation itself{.path = "/openapi.json",
                         .id = "openapi",
                         .summary = "This document",
                         .role = web::Role::none,
                         .answers = {{.schema = {{"type", "object"}}}}};
  auto all = routes.operations();
  all.push_back(itself);
  routes.add(itself, unchanging(openapi(all).dump(2), "application/json"));
}

}  // namespace nightjar::service::api
