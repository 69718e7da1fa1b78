// GET /api/v1/about: what this service watches, and as whom it knows the one who asks.
#include "service/api/routes.hpp"

namespace nightjar::service::api {
namespace {

struct About {
  const Project* project;
  web::Principal asking;
};

const Described<About>& about_row() {
  const auto of_project = [](auto get) {
    return [get](const About& about) { return std::invoke(get, *about.project); };
  };
  static const Described<About> made(
      "About", "What is watched, and who asks.",
      {{"project", of_project(&Project::name)},
       {"package", of_project(&Project::package), "Whose wheels are measured."},
       {"is_pytorch", of_project(&Project::is_pytorch),
        "Pages and lists about PyTorch's compilers and operators say nothing of other packages."},
       {"role", [](const About& about) { return about.asking.role; },
        "That the request's token has; none: it came without one."}});
  return made;
}

}  // namespace

void add_about_routes(Routes& routes) {
  routes.read(
      {.path = "/api/v1/about",
       .id = "get_about",
       .summary = "What is watched, and what the token that asks may do",
       .answers = {{.schema = about_row().schema()}}},
      [&context = routes.context](storage::Database&, const web::Request& request) {
        return json_answer(about_row().write({&context.config.project, request.principal}));
      },
      Routes::Kept::never);
}

}  // namespace nightjar::service::api
