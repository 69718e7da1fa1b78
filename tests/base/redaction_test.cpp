#include "storage/base/redaction.hpp"

#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "storage/base/foreign_text.hpp"

using namespace nightjar;

TEST_CASE("A name and a password in an address stay out of what is said") {
  CHECK(
      without_credentials("cannot fetch https://me:secret@host/a.git: 'https://me@host/a.git/'") ==
      "cannot fetch https://host/a.git: 'https://host/a.git/'");
  CHECK(without_credentials("ssh://git@host/a and git@host:a") == "ssh://host/a and git@host:a");
  CHECK(without_credentials("https://me:p@ss@host/@scope") == "https://host/@scope");
  CHECK(without_credentials("://@://://a@") == "://://://");
  CHECK(without_credentials(std::string(1 << 20, 'x') + "https://a@b").ends_with("https://b"));
}

TEST_CASE("A secret is hidden in every form in which the other side can repeat it") {
  keep_login("me", "s3cr/t?>~w\"rd");
  for (const char* form : {"s3cr/t?>~w\"rd", "s3cr%2Ft%3f%3E~w%22rd", R"(s3cr\/t?>~w\"rd)",
                           "bWU6czN"
                           "jci90Pz5+dyJyZA==",
                           "bWU6czN"
                           "jci90Pz5-dyJyZA",
                           "czN"
                           "jci90Pz5+dyJyZA"}) {
    CHECK_THAT(one_line("you sent " + std::string(form) + ", " + form),
               Catch::StartsWith("you sent ***") && Catch::Contains(", ***") &&
                   !Catch::Contains("rd") && !Catch::Contains("JyZA"));
  }
  CHECK(shortened("s3cr/t?>~w\"rd", 2) == "*…");
  CHECK(one_line("s3cr/t?>~w\"r") == "s3cr/t?>~w\"r");
  keep_secret("s3cr/t?>~w\"rd-and-more");
  CHECK(one_line("s3cr/t?>~w\"rd-and-more.") == "***.");
}

TEST_CASE("The login in an address is kept out of what is said") {
  keep_login_in("http://proxy-user:p%40ssw0rd@proxy:3128/");
  keep_login_in("t0k3n-0f-a-proxy@proxy");
  keep_login_in("https://host/a@b");
  CHECK(one_line("p@ssw0rd, p%40ssw0rd, t0k3n-0f-a-proxy, proxy-user at proxy") ==
        "***, ***, ***, proxy-user at proxy");
}

TEST_CASE("What is too short to be a secret is left as it is") {
  keep_secret("pytorch");
  keep_login("x", "torch");
  CHECK(one_line("pytorch, torch and x") == "pytorch, torch and x");
  CHECK(one_line("eDp0b3JjaA==") == "***==");
}

TEST_CASE("Secrets are told and hidden by any thread") {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      const std::string mine = "secret of thread " + std::to_string(i);
      keep_secret(mine);
      for (int again = 0; again < 1000; ++again)
        if (one_line("<" + mine + ">") != "<***>") std::abort();
    });
  for (std::thread& thread : threads) thread.join();
}
