#include "service/api/cache.hpp"

#include "tests/service/api/world.hpp"

namespace nightjar::service::api {

TEST_CASE("What is kept of answers is charged by its real size, however long the questions are") {
  World world;
  const auto held = [&] { return world.server.ledger().held(web::Account::cache); };
  const auto ask = [&](int number) {
    const std::string text = std::to_string(number) + std::string(12'000, 'x');
    return world.get("/api/v1/regressions?workload=" + text).status;
  };
  constexpr std::size_t count = 100;
  for (std::size_t i = 0; i < count; ++i) REQUIRE(ask(static_cast<int>(i)) == 200);
  CHECK(held() >= count * 512);
  CHECK(held() <= count * 1500);
}

TEST_CASE("The cache forgets its answers rather than to hold more than its budget") {
  World world;
  Cache cache(world.folder.path / "nightjar.sqlite");
  const web::Ledger ledger({.cache = {10'000, 10'000}});
  web::Request request;
  request.path = "/large";
  const auto put = [&](const std::string& name, std::size_t bytes) {
    request.query["of"] = name;
    const auto ticket = cache.ticket(request);
    auto answer = web::json_response(std::string(bytes, 'x'));
    answer.headers.emplace_back("ETag", "\"" + name + "\"");
    cache.put(ticket, answer);
    return ticket;
  };
  const auto before = put("before", 10);
  CHECK_FALSE(cache.find(before));  // it has no ledger yet
  cache.charge_to(ledger);
  const auto first = put("first", 6000);
  CHECK(cache.find(first));
  const auto second = put("second", 6000);
  CHECK(cache.find(second));
  CHECK_FALSE(cache.find(first));
  CHECK(cache.etag(first) == "\"first\"");
  const auto third = put("third", 20'000);
  CHECK_FALSE(cache.find(third));  // what has no room in any case costs the others nothing
  CHECK(cache.find(second));
  CHECK(ledger.held(web::Account::cache) <= 10'000);
  CHECK(cache.etag(third) == "\"third\"");
}

}  // namespace nightjar::service::api
