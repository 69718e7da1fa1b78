#include "service/api/routes.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "storage/base/log.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
namespace asio = boost::asio;
namespace {

constexpr Problem not_modified{304, "NotModified",
                               "If-None-Match names the ETag of what would have been sent."};
constexpr Problem no_token{401, "NoOrAnUnknownToken", "No or an unknown token."};
constexpr Problem weak_token{403, "TheTokenSRoleDoesNotSuffice",
                             "The token's role does not suffice."};
constexpr Problem bad_query{400, "AnUnknownQueryParameterOrABadValue",
                            "An unknown query parameter or a bad value; detail names it."};
constexpr Problem bad_body{400, "TheBodyIsNotWhatIsAskedFor",
                           "The body is not what is asked for; detail says why."};
constexpr Problem large_body{413, "TheBodyIsTooLarge", "The body is too large."};

void check_query(const web::Request& request, const std::vector<Parameter>& known) {
  for (const auto& [name, value] : request.query)
    if (std::none_of(known.begin(), known.end(),
                     [&](const Parameter& one) { return one.in == "query" && one.name == name; }))
      throw Refused(400, "Unknown query parameter",
                    request.path + " has no query parameter '" + name + "'.",
                    {{"", "is not known here", name}});
}

// Whatever goes wrong in a query becomes its answer.
web::Response query(Context& context, const Work& work, const web::Request& request) {
  try {
    const auto database = context.readers.borrow();
    return work(*database, request);
  } catch (const storage::Error& error) {
    return database_failed(context, error);
  } catch (const Refused& refused) {
    return refused.response();
  } catch (const std::exception& error) {
    log::error("a query failed path={} error=\"{}\"", request.path, error.what());
    return web::problem(500, "Internal error", "The query failed; the service's log says why.");
  }
}

constexpr const char* varies = "Accept, Accept-Encoding";

web::Response unchanged(const std::string& etag) {
  web::Response response;
  response.status = 304;
  response.headers = {{"ETag", etag}, {"Cache-Control", "no-cache"}, {"Vary", varies}};
  return response;
}

web::Response for_client(const web::Request& request, const Cache::Answer& answer) {
  const auto wanted = request.header("if-none-match");
  if (!wanted || answer->status != 200) return *answer;
  for (const auto& [name, value] : answer->headers)
    if (name == "ETag" && value == *wanted) return unchanged(value);
  return *answer;
}

void tag(web::Response& response) {
  if (response.status != 200) return;
  response.headers.emplace_back("ETag", "\"" + web::sha256(response.body).brief() + "\"");
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("Vary", varies);
}

// On the I/O thread, which only looks things up.
void read_kept(Context& context, const Work& work, const web::Request& request,
               const web::Respond& respond) {
  const auto ticket = context.cache.ticket(request);
  if (const auto wanted = request.header("if-none-match"))
    if (const auto etag = context.cache.etag(ticket); !etag.empty() && etag == *wanted)
      return respond(unchanged(etag));
  if (const auto answer = context.cache.find(ticket)) return respond(for_client(request, answer));
  // Without copies, which no ledger would know: the request lives as long as its respond.
  const bool first = context.cache.join(ticket, [&request, respond](const Cache::Answer& answer) {
    respond(for_client(request, answer));
  });
  if (!first) return;
  context.turns.post(request, [&context, work, &request, ticket] {
    auto response = query(context, work, request);
    compress(request, response);
    tag(response);
    asio::post(context.io, [&context, ticket, response = std::move(response)]() mutable {
      context.cache.put(ticket, std::move(response));
    });
  });
}

}  // namespace

Routes::Routes(web::Server& with_server, Context& with_context)
    : server(with_server), context(with_context) {
  context.cache.charge_to(server.ledger());
}

void Routes::describe(Operation operation) {
  if (operation.role != web::Role::none)
    operation.problems.insert(operation.problems.end(), {no_token, weak_token});
  if (operation.body) operation.problems.insert(operation.problems.end(), {bad_body, large_body});
  operations_.push_back(std::move(operation));
}

void Routes::add(Operation operation, web::Handler handler,
                 std::optional<asio::any_io_executor> executor, std::size_t body_limit,
                 Refuse refuse) {
  server.add({operation.method, operation.path, operation.role, std::move(executor),
              std::move(handler), body_limit, std::move(refuse)});
  describe(std::move(operation));
}

void Routes::read(Operation operation, Work work, Kept kept) {
  operation.problems.push_back(bad_query);
  if (kept == Kept::until_change) operation.problems.push_back(not_modified);
  web::Handler handler = [&context = context, known = operation.parameters, work = std::move(work),
                          kept](const web::Request& request, web::Respond respond) {
    try {
      check_query(request, known);
      if (kept == Kept::until_change) return read_kept(context, work, request, respond);
    } catch (const Refused& refused) {
      return respond(refused.response());
    }
    auto response = query(context, work, request);
    compress(request, response);
    respond(std::move(response));
  };
  if (kept == Kept::never)
    add_reading(std::move(operation), std::move(handler));
  else
    add(std::move(operation), std::move(handler));
}

void Routes::add_reading(Operation operation, web::Handler handler, std::size_t body_limit) {
  auto in_turn = [&context = context, handler = std::move(handler)](const web::Request& request,
                                                                    web::Respond respond) {
    // The request lives as long as its respond.
    context.turns.post(request, [handler, &request, respond = std::move(respond)] {
      web::answer_by(handler, request, respond);
    });
  };
  add(std::move(operation), std::move(in_turn), std::nullopt, body_limit);
}

void Routes::write(Operation operation, Work work, std::size_t body_limit, Refuse refuse) {
  if (!operation.body) operation.problems.push_back(bad_query);
  auto handler = [&context = context, known = operation.parameters, work = std::move(work)](
                     const web::Request& request, web::Respond respond) {
    try {
      check_query(request, known);
      respond(work(context.writer, request));
    } catch (const Refused& refused) {
      respond(refused.response());
    } catch (const storage::Error& error) {
      respond(database_failed(context, error));
    } catch (const nlohmann::json::exception& error) {
      respond(web::problem(400, "Bad body", cause_of(error)));
    }
  };
  add(std::move(operation), std::move(handler), context.write, body_limit, std::move(refuse));
}

}  // namespace nightjar::service::api
