#include "service/builds/lock.hpp"

#include <catch2/catch.hpp>

#include "storage/base/digest.hpp"
#include "tests/support/source_tree.hpp"
#include "tests/web/bad_peer.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

namespace {

LockText locked(const std::vector<LockedPackage>& packages) {
  LockText content{{"https://index.example/simple"}, {}};
  for (const LockedPackage& one : packages)
    content.packages.push_back({one, {*Sha256::parse(std::string(64, '0'))}});
  return content;
}

// What comes of resolving with this index.
enum class Outcome { resolved, unresolvable, later };

Outcome resolve_at(const web::BadPeer& index, std::chrono::seconds patience) {
  Config::Environment config;
  config.indexes = {index.url() + "/simple"};
  config.uv = (nightjar::test::source_tree() / ".cache/tools/bin/uv").string();
  config.timeout = patience;
  try {
    resolve({*Requirement::parse("no-such-package")}, {}, config);
    return Outcome::resolved;
  } catch (const Unresolvable& error) {
    UNSCOPED_INFO(error.what());
    return Outcome::unresolvable;
  } catch (const std::runtime_error& error) {
    UNSCOPED_INFO(error.what());
    return Outcome::later;
  }
}

std::string answer(const std::string& status, const std::string& type, int size_bytes) {
  return "HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(size_bytes) + "\r\n\r\n";
}

}  // namespace

TEST_CASE("a lock has each package with its version, and is named by its text") {
  const std::vector<LockedPackage> packages{{"numpy", "2.1.0"}, {"sympy", "1.13.3"}};
  const Lock lock = lock_of(locked(packages));
  CHECK(lock.packages == packages);
  CHECK(lock.sha256 == digest_of(lock.text));
}

TEST_CASE("what differs between two locks is said by package") {
  const auto changes = changes_between(lock_of(locked({{"numpy", "2.1.0"}, {"sympy", "1.13.3"}})),
                                       lock_of(locked({{"mpmath", "1.3.0"}, {"sympy", "1.14.0"}})));
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].name == "mpmath");
  CHECK(changes[0].before.empty());
  CHECK(changes[1].after.empty());
  CHECK(changes[2].before == "1.13.3");
  CHECK(changes[2].after == "1.14.0");
}

TEST_CASE("without uv it is said what to install") {
  Config::Environment config;
  config.indexes = {"http://127.0.0.1:9/simple"};
  config.uv = "no-such-uv";
  CHECK_THROWS_WITH(resolve({*Requirement::parse("sympy")}, {}, config),
                    Contains("there is no program 'no-such-uv'; install uv"));
}

TEST_CASE("an index that stalls, drips, closes by half or resets says nothing of a wheel") {
  using web::Manner;
  const auto manner = GENERATE(Manner::stalls, Manner::drips, Manner::half_closes, Manner::resets);
  CAPTURE(static_cast<int>(manner));
  const web::BadPeer index(manner, answer("200 OK", "text/html", 100'000));
  const auto begin = std::chrono::steady_clock::now();
  const bool closes = manner == Manner::half_closes || manner == Manner::resets;
  const std::chrono::seconds patience(closes ? 30 : 2);  // uv tries four times
  CHECK(resolve_at(index, patience) == Outcome::later);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
}

TEST_CASE("only an index that was read says that no version satisfies a wheel") {
  const auto outcome = [](const std::string& head) {
    const web::BadPeer index(web::Manner::stalls, head);
    return resolve_at(index, std::chrono::seconds(120));
  };
  CHECK(outcome(answer("200 OK", "text/html", 4)) == Outcome::unresolvable);
  CHECK(outcome(answer("404 Not Found", "text/html", 4)) == Outcome::unresolvable);
  CHECK(outcome(answer("401 Unauthorized", "text/html", 4)) == Outcome::later);
  CHECK(outcome(answer("403 Forbidden", "text/html", 4)) == Outcome::later);
  CHECK(outcome(answer("200 OK", "application/octet-stream", 4)) == Outcome::later);
}
