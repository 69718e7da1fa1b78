#include <catch2/catch.hpp>

#include "tests/web/served.hpp"

using namespace nightjar::web;

TEST_CASE("A body whose end could be read in two ways is refused, and the connection closed") {
  Served served;
  served.server->add(route(Method::post, "/echo", echoes()));
  served.server->add(route(Method::get, "/secret", says("smuggled")));
  served.start();
  const std::string chunk = "2\r\nok\r\n0\r\n\r\n",
                    second = "GET /secret HTTP/1.1\r\nHost: x\r\n\r\n";
  struct Row {
    const char* name;
    std::string version, framing;
    unsigned status;
  };
  for (const auto& [name, version, framing, wanted] : std::vector<Row>{
           {"chunked", "1.1", "Transfer-Encoding: chunked\r\n", 200},
           {"chunked in capitals", "1.1", "Transfer-Encoding: Chunked\r\n", 200},
           {"unknown", "1.1", "Transfer-Encoding: chunk\r\n", 400},
           {"identity", "1.1", "Transfer-Encoding: identity\r\n", 400},
           {"empty", "1.1", "Transfer-Encoding:\r\n", 400},
           {"not final", "1.1", "Transfer-Encoding: chunked, gzip\r\n", 400},
           {"twice in one", "1.1", "Transfer-Encoding: chunked, chunked\r\n", 501},
           {"two codings", "1.1", "Transfer-Encoding: gzip, chunked\r\n", 501},
           {"two fields", "1.1", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 400},
           {"with a length", "1.1", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", 400},
           {"after a length", "1.1", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", 400},
           {"unknown with a length", "1.1", "Content-Length: 4\r\nTransfer-Encoding: x\r\n", 400},
           {"in HTTP/1.0", "1.0", "Transfer-Encoding: chunked\r\n", 400},
           {"two lengths", "1.1", "Content-Length: 12\r\nContent-Length: 12\r\n", 400},
           {"lengths that differ", "1.1", "Content-Length: 12\r\nContent-Length: 1\r\n", 400},
           {"a list of lengths", "1.1", "Content-Length: 12, 12\r\n", 400},
           {"a sign", "1.1", "Content-Length: +12\r\n", 400},
           {"a space before the colon", "1.1", "Transfer-Encoding : chunked\r\n", 400}}) {
    CAPTURE(name);
    RawClient client(served.server->port());
    client.write("POST /echo HTTP/" + version + "\r\nHost: x\r\n" + framing + "\r\n" + chunk +
                 second);
    const auto response = client.read();
    CHECK(response.status == wanted);
    if (wanted == 200) {
      CHECK(response.body == "ok");
      CHECK(client.read().body == "smuggled");  // it was asked for
    } else {
      CHECK(response.has("Connection: close\r\n"));
      CHECK(client.read_past("smuggled").find("smuggled") == std::string::npos);
    }
  }
}
