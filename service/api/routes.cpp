#include "service/api/routes.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <malloc.h>

#include "storage/base/log.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
namespace asio = boost::asio;
namespace {

constexpr Problem not_modified{304, "NotModified",
                               "If-None-Match names the ETag of what would have been sent."};
constexpr Problem no_token{401, "Unauthenticated", "No or an unknown token."};
constexpr Problem weak_token{403, "InsufficientRole", "The token's role does not suffice."};
constexpr Problem bad_query{400, "InvalidQuery",
                            "An unknown query parameter or a bad value; detail names it."};
constexpr Problem bad_body{400, "InvalidBody",
                           "The body is not what is asked for; detail says why."};
constexpr Problem large_body{413, "BodyTooLarge", "The body is too large."};

void check_query(const web::Request& request, const std::vector<Parameter>& known) {
  for (const auto& [name, value] : request.query)
    if (std::none_of(known.begin(), known.end(),
                     [&](const Parameter& one) { return one.in == "query" && one.name == name; }))
      throw Refused(400, "Unknown query parameter",
                    request.path + " has no query parameter '" + name + "'.",
                    {{"", "is not known here", name}});
}

// Runs a query. Any error becomes its answer.
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

// Runs a change. Any error becomes its answer.
template <class Work>
web::Response answer_of(Context& context, const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const Refused& refused) {
    return refused.response();
  } catch (const storage::Error& error) {
    return database_failed(context, error);
  } catch (const nlohmann::json::exception& error) {
    return web::problem(400, "Bad body", cause_of(error));
  } catch (const std::exception& error) {
    log::error("a change failed path={} error=\"{}\"", path, error.what());
    return web::problem(500, "Internal error", "The request failed; the service's log says why.");
  }
}

// What came of a large body lies scattered in the heap, which keeps it. One that is smaller is not
// worth the look at the whole heap.
constexpr std::size_t large_body_bytes = 1 << 20;

void give_memory_back(const Context& context, std::size_t body_bytes) {
  if (body_bytes >= large_body_bytes) asio::post(context.intake, [] { ::malloc_trim(0); });
}

// A failure to judge is an answer, too: nothing is read for it.
template <class Judged>
void judge_head(Context& context, const web::Request& request, const web::Route::Verdict& verdict,
                const Judged& judged) {
  std::optional<web::Response> refused;
  bool is_judged = false;
  auto failed = answer_of(context, request.path, [&] {
    refused = judged();
    is_judged = true;
    return web::Response();
  });
  if (!is_judged) refused = std::move(failed);
  verdict(std::move(refused));
}

// `done` holds the request's respond, and so the request.
void store_in_parts(Context& context, const web::Request& request, Routes::Store store,
                    std::function<void(web::Response)> done) {
  context.writes.post(
      request, [&context, &request, store = std::move(store), done = std::move(done)]() mutable {
        std::optional<web::Response> answer;
        auto failed = answer_of(context, request.path, [&] {
          answer = store(context.writer);
          return web::Response();
        });
        if (!answer && failed.status == 200)
          return store_in_parts(context, request, std::move(store), std::move(done));
        store = {};  // and with it what came of the body
        done(answer ? *std::move(answer) : std::move(failed));
      });
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
  context.reads.post(request, [&context, work, &request, ticket] {
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
  for (const Parameter& one : operation.parameters)
    if (one.unknown) operation.problems.push_back(*one.unknown);
  if (operation.body) operation.problems.insert(operation.problems.end(), {bad_body, large_body});
  operations_.push_back(std::move(operation));
}

void Routes::serve(Operation operation, web::Route route) {
  route.method = operation.method;
  route.pattern = operation.path;
  route.role = operation.role;
  server.add(std::move(route));
  describe(std::move(operation));
}

void Routes::add(Operation operation, web::Handler handler,
                 std::optional<asio::any_io_executor> executor, std::size_t body_limit,
                 Refuse refuse, Judge judge) {
  web::Route route;
  route.executor = std::move(executor);
  route.handler = std::move(handler);
  route.body_limit = body_limit;
  route.refuse = std::move(refuse);
  if (judge)
    route.judge = [&context = context, judge = std::move(judge)](
                      const std::shared_ptr<const web::Request>& request,
                      const web::Route::Verdict& verdict) {
      context.reads.post(*request, [&context, judge, request, verdict] {
        judge_head(context, *request, verdict, [&] {
          const auto database = context.readers.borrow();
          return judge(*database, *request);
        });
      });
    };
  serve(std::move(operation), std::move(route));
}

void Routes::take(Operation operation, Judge judge, ReadBody read, std::size_t body_limit) {
  web::Route route;
  route.body_limit = body_limit;
  if (judge)
    route.judge = [&context = context, judge = std::move(judge)](
                      const std::shared_ptr<const web::Request>& request,
                      const web::Route::Verdict& verdict) {
      context.writes.post(*request, [&context, judge, request, verdict] {
        judge_head(context, *request, verdict, [&] { return judge(context.writer, *request); });
      });
    };
  auto handler = [&context = context, known = operation.parameters, read = std::move(read)](
                     const web::Request& request, const web::Respond& respond) {
    Store store;
    const auto failed = answer_of(context, request.path, [&] {
      check_query(request, known);
      store = read(request);
      return web::Response{};
    });
    const std::size_t bytes = request.body.size();
    if (!store) {
      respond(failed);
      return give_memory_back(context, bytes);
    }
    store_in_parts(context, request, std::move(store), [&context, respond, bytes](auto answer) {
      respond(std::move(answer));
      give_memory_back(context, bytes);
    });
  };
  route.handler = context.bodies.in_turn(std::move(handler));
  serve(std::move(operation), std::move(route));
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

void Routes::add_reading(Operation operation, web::Handler handler, std::size_t body_limit,
                         Judge judge) {
  add(std::move(operation), context.reads.in_turn(std::move(handler)), std::nullopt, body_limit, {},
      std::move(judge));
}

void Routes::write(Operation operation, Work work, std::size_t body_limit, Refuse refuse) {
  if (!operation.body) operation.problems.push_back(bad_query);
  auto handler = [&context = context, known = operation.parameters, work = std::move(work)](
                     const web::Request& request, web::Respond respond) {
    respond(answer_of(context, request.path, [&] {
      check_query(request, known);
      return work(context.writer, request);
    }));
  };
  add(std::move(operation), context.writes.in_turn(std::move(handler)), std::nullopt, body_limit,
      std::move(refuse));
}

}  // namespace nightjar::service::api
