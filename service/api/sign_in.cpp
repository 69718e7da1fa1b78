// /sign-in and /sign-in/callback, where a browser goes to its provider and comes back, and
// /api/v1/sign-in, which says who is signed in and signs out.
#include "service/sign_in.hpp"

#include "service/api/routes.hpp"
#include "web/text.hpp"

namespace nightjar::service::api {
namespace {

struct SignedIn {
  bool has_provider = false;
  std::optional<web::Principal> person = {};
};

const Described<SignedIn>& signed_in() {
  static const Described<SignedIn> made(
      "SignedIn", "How people sign in here, and who has in this browser.",
      {{"sign_in", &SignedIn::has_provider,
        "/sign-in leads to a provider, as [auth.oidc] says. A token lets in, too."},
       {"account",
        [](const SignedIn& own) {
          return own.person ? std::optional(own.person->name) : std::nullopt;
        },
        "As the audit names it; null: nobody is signed in by this browser's cookie."},
       {"role", [](const SignedIn& own) { return own.person ? own.person->role : web::Role::none; },
        "That the account has; none: nobody is signed in."}});
  return made;
}

std::string set_cookie(std::string_view name, const std::string& value,
                       std::chrono::seconds lifetime) {
  return std::string(name) + "=" + value +
         "; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=" + std::to_string(lifetime.count());
}

// What a person sees instead of the page.
web::Response told(unsigned status, const std::string& text) {
  web::Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = text + "\n";
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

web::Response redirect(const std::string& to) {
  web::Response response = told(303, "");
  response.headers.emplace_back("Location", to);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  return response;
}

std::string cookie_of(const web::Request& request, std::string_view name) {
  const std::string header = request.header("cookie").value_or("");
  return std::string(web::cookie_in(header, name).value_or(""));
}

web::Response begin_sign_in(SignIn& sign_in, const web::Request& request) {
  if (!request.query.empty())
    return told(400, "/sign-in has no parameters: it leads back to this service's page alone.");
  try {
    if (const auto begun = sign_in.begin()) {
      auto response = redirect(begun->provider);
      response.headers.emplace_back("Set-Cookie",
                                    set_cookie(sign_in_cookie, begun->cookie, longest_sign_in));
      return response;
    }
  } catch (const std::runtime_error& error) {
    return told(502, std::string("You cannot sign in: ") + error.what() + ".");
  }
  return told(503, "The provider has not answered this service yet. Try again in a minute.");
}

web::Response finish_sign_in(SignIn& sign_in, const web::Request& request) {
  const auto given = [&](const char* name) { return request.query_value(name).value_or(""); };
  const auto outcome = sign_in.finish({given("code"), given("state"), given("iss"), given("error")},
                                      cookie_of(request, sign_in_cookie));
  const auto* secret = std::get_if<std::string>(&outcome);
  const auto* refused = std::get_if<SignIn::Refused>(&outcome);
  web::Response response = secret
                               ? redirect(sign_in.home())
                               : told(refused->status, "You are not signed in: " + refused->reason +
                                                           ".\n\n" + "Back to " + sign_in.home());
  response.headers.emplace_back("Set-Cookie",
                                set_cookie(sign_in_cookie, "", std::chrono::seconds(0)));
  if (secret)
    response.headers.emplace_back("Set-Cookie",
                                  set_cookie(session_cookie, *secret, sign_in.lifetime()));
  return response;
}

web::Response session_answer(const SignedIn& own) {
  auto response = json_answer(signed_in().write(own));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

web::Response tell_session(const SignIn* sign_in, const web::Request& request) {
  if (!sign_in || !sign_in->is_on()) return session_answer({});
  return session_answer({true, sign_in->sessions().find(cookie_of(request, session_cookie))});
}

web::Response end_session(SignIn* sign_in, const web::Request& request) {
  if (!sign_in || !sign_in->is_on()) return session_answer({});
  sign_in->sessions().close(cookie_of(request, session_cookie));
  auto response = session_answer({true});
  response.headers.emplace_back("Set-Cookie",
                                set_cookie(session_cookie, "", std::chrono::seconds(0)));
  return response;
}

void add_browser_route(Routes& routes, const char* path, SignIn& sign_in,
                       web::Response (*answer)(SignIn&, const web::Request&),
                       std::optional<boost::asio::any_io_executor> executor) {
  web::Route route;
  route.pattern = path;
  route.role = web::Role::none;
  route.executor = std::move(executor);
  route.handler = [&sign_in, answer](const web::Request& request, const web::Respond& respond) {
    respond(answer(sign_in, request));
  };
  routes.server.add(std::move(route));
}

}  // namespace

void add_sign_in_routes(Routes& routes, SignIn* sign_in) {
  const auto& schema = signed_in().schema();
  routes.add({.path = "/api/v1/sign-in",
              .id = "get_sign_in",
              .summary = "How people sign in, and who is signed in by this browser's cookie",
              .role = web::Role::none,
              .answers = {{.schema = schema}}},
             [sign_in](const web::Request& request, const web::Respond& respond) {
               respond(tell_session(sign_in, request));
             });
  routes.add({.path = "/api/v1/sign-in",
              .id = "sign_out",
              .summary = "Sign out: the session of this browser's cookie ends",
              .method = web::Method::del,
              .role = web::Role::none,
              .answers = {{.text = "Nobody is signed in any more.", .schema = schema}}},
             [sign_in](const web::Request& request, const web::Respond& respond) {
               respond(end_session(sign_in, request));
             });
  if (!sign_in || !sign_in->is_on()) return;
  add_browser_route(routes, "/sign-in", *sign_in, begin_sign_in, std::nullopt);
  add_browser_route(routes, "/sign-in/callback", *sign_in, finish_sign_in, sign_in->executor());
}

}  // namespace nightjar::service::api
