// The query parameters of a list, a line each: cursor, limit, time, commit. Only Refused may come
// out, and what is accepted means the same when it is written again.
#include "service/api/query.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace api = service::api;
namespace {

template <class Read>
void read(Read read) {
  try {
    read();
  } catch (const api::Refused& refused) {
    require(refused.response().status == 400, "a wrong parameter is refused with another status");
  }
}

}  // namespace

void cursor(std::string_view input) {
  web::Request request;
  for (const char* name : {"cursor", "limit", "since", "commit", "metric"})
    if (const auto line = take_line(input); !line.empty()) request.query[name] = line;
  read([&] {
    const auto page = api::page_request(request);
    require(page.limit >= 1 && page.limit <= 500, "a limit is out of range");
    if (page.before)
      require(std::to_string(*page.before) == request.query.at("cursor"),
              "a cursor is written in two ways");
  });
  read([&] {
    const auto time = api::time_query("since", "")(request);
    if (time) require(parse_rfc3339(to_rfc3339(*time)) == time, "a time changes when written");
  });
  read([&] {
    const auto commit = api::commit_name_query("commit", "")(request);
    if (commit) require(commit->size() >= 4 && commit->size() <= 40, "a commit has no such length");
  });
  read([&] { api::metric_query()(request); });
}

}  // namespace nightjar::fuzz
