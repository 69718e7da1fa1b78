#include "storage/base/redaction.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("A name and a password in an address stay out of what is said") {
  CHECK(Redaction()("cannot fetch https://me:secret@host/a.git: 'https://me@host/a.git/'") ==
        "cannot fetch https://host/a.git: 'https://host/a.git/'");
  CHECK(Redaction()("ssh://git@host/a and git@host:a") == "ssh://host/a and git@host:a");
  CHECK(Redaction()("https://me:p@ss@host/@scope") == "https://host/@scope");
  CHECK(Redaction()("://@://://a@") == "://://://");
  CHECK(Redaction()(std::string(1 << 20, 'x') + "https://a@b").ends_with("https://b"));
}

TEST_CASE("A secret is hidden in every form in which the other side can repeat it") {
  const Redaction hide = Redaction::of_url("https://me:s3cr%2Ft@host/a.git");
  CHECK(hide("you sent s3cr%2Ft") == "you sent ***");
  CHECK(hide("you sent s3cr/t, s3cr/t") == "you sent ***, ***");
  CHECK(hide("Authorization: Basic bWU6czN"
             "jci90") == "Authorization: Basic ***");
  CHECK(hide("fetching https://me:other@host") == "fetching https://host");
  const Redaction token = Redaction::of_url("https://t0k3n@host/a.git");
  CHECK(token("you sent t0k3n or dDBrM246") == "you sent *** or ***");
  CHECK(Redaction("me", "s3cr/t")("s3cr/t, bWU6czN"
                                  "jci90") == "***, ***");
}

TEST_CASE("What is no secret is left as it is") {
  for (const char* url :
       {"ssh://git@host/a", "https://host/a@b", "/srv/a:b@c", "https://me:x@host"})
    CHECK(Redaction::of_url(url)("git of me, x and host") == "git of me, x and host");
}
