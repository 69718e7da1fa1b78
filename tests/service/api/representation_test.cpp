// Lists as CSV and with some fields only, compressed answers, and ETags that outlive them.
#include "service/api/cache.hpp"
#include "storage/connection.hpp"
#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

Reply get_as(World& world, const std::string& path, const std::string& accept) {
  return world.send("GET", path, "", "", {{"Accept", accept}});
}

web::Request request_of(const std::string& path) {
  web::Request request;
  request.path = path;
  return request;
}

}  // namespace

TEST_CASE("A list is CSV where the request likes that more than JSON") {
  World world;
  (void)fill(world);
  const struct {
    const char *accept, *type;
  } cases[] = {{"text/csv", "text/csv"},
               {"text/*", "text/csv"},
               {"TEXT/CSV;q=0.9, application/json;q=0.8", "text/csv"},
               {"application/json, text/csv;q=0.9", "application/json"},
               {"text/csv, application/json", "application/json"},
               {"text/csv;q=0, */*", "application/json"},
               {"", "application/json"}};
  for (const auto& one : cases) {
    INFO(one.accept);
    const auto reply = get_as(world, "/api/v1/workloads", one.accept);
    CHECK(reply.status == 200);
    CHECK(reply.headers.at("content-type").starts_with(one.type));
  }
}

TEST_CASE("CSV has a column for each field of an object, and texts with commas in quotes") {
  World world;
  const Day day = fill(world);
  world.on_writer(
      [&] { world.db.impl().execute("UPDATE night SET reason = 'a \"b\", c' WHERE id = 1"); });
  const auto id = std::to_string(day.good.id.value);
  const auto text = get_as(world, "/api/v1/nights?fields=id,reason,build", "text/csv").text;
  CHECK(
      text.starts_with("id,reason,build.id,build.commit,build.date,build.kind,build.version\r\n"));
  CHECK(text.find("\r\n1,\"a \"\"b\"\", c\"," + id + ",") != std::string::npos);
}

TEST_CASE("No text of a CSV cell begins a formula, and numbers stay numbers") {
  World world;
  const Day day = fill(world);
  (void)day;
  const auto cell = [&](const std::string& reason) {
    world.on_writer([&] {
      world.db.impl().execute(("UPDATE night SET reason = '" + reason + "' WHERE id = 1").c_str());
    });
    const auto text = get_as(world, "/api/v1/nights?fields=reason,id", "text/csv").text;
    const auto row = text.rfind(",1\r\n");
    const auto begin = text.rfind("\r\n", row) + 2;
    return text.substr(begin, row - begin);
  };
  CHECK(cell("=HYPERLINK(1)") == "'=HYPERLINK(1)");
  CHECK(cell("+1") == "'+1");
  CHECK(cell("-1+cmd") == "'-1+cmd");
  CHECK(cell("@SUM(A1)") == "'@SUM(A1)");
  CHECK(cell("\t=1") == "'\t=1");
  CHECK(cell("\r=1") == "\"'\r=1\"");
  CHECK(cell("\n=1") == "\"'\n=1\"");
  for (const std::string wide : {"＝1", "＋1", "－1", "＠A1"}) CHECK(cell(wide) == "'" + wide);
  CHECK(cell("a=1") == "a=1");
}

TEST_CASE("A field that items do not have is refused by the parameter's name") {
  World world;
  for (const char* path : {"/api/v1/builds?fields=ids",
                           "/api/v1/builds?fields=", "/api/v1/builds?fields=id,,version"}) {
    INFO(path);
    const auto reply = world.get(path);
    CHECK(reply.status == 400);
    CHECK(reply.json["errors"][0]["parameter"] == "fields");
  }
}

TEST_CASE("An ETag is known for longer than its answer is kept") {
  World world;
  Cache cache(world.folder.path / "nightjar.sqlite");
  cache.charge_to(world.server.ledger());
  const auto keep = [&](const std::string& path, std::size_t bytes) {
    const auto ticket = cache.ticket(request_of(path));
    REQUIRE(cache.join(ticket, [](const Cache::Answer&) {}));
    web::Response response;
    response.body.assign(bytes, ' ');
    response.headers.emplace_back("ETag", "\"" + path + "\"");
    cache.put(ticket, std::move(response));
    return ticket;
  };
  const auto small = keep("/small", 5u << 20);
  const auto large = keep("/large", 5u << 20);
  CHECK(cache.find(small) == nullptr);
  CHECK(cache.etag(small) == "\"/small\"");
  CHECK(cache.etag(large) == "\"/large\"");
  world.on_writer([&] { world.db.impl().execute("CREATE TABLE changed (id INTEGER)"); });
  CHECK(cache.etag(cache.ticket(request_of("/small"))).empty());
}

TEST_CASE("Answers of kilobytes are compressed for who takes gzip, and have an ETag of their own") {
  World world;
  (void)fill(world);
  const auto ask = [&](const std::string& encoding) {
    return world.send("GET", "/api/v1/jobs", "", "", {{"Accept-Encoding", encoding}});
  };
  const auto whole = ask("identity"), packed = ask("br, gzip;q=0.5");
  REQUIRE(whole.text.size() > 1024);
  CHECK_FALSE(whole.headers.contains("content-encoding"));
  CHECK(packed.headers.at("content-encoding") == "gzip");
  CHECK(packed.text == whole.text);  // which the client has unpacked
  CHECK(packed.headers.at("etag") != whole.headers.at("etag"));
  CHECK_FALSE(ask("gzip;q=0").headers.contains("content-encoding"));
  const auto again =
      world.send("GET", "/api/v1/jobs", "", "",
                 {{"Accept-Encoding", "gzip"}, {"If-None-Match", packed.headers.at("etag")}});
  CHECK(again.status == 304);
}
