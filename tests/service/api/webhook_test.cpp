#include <openssl/hmac.h>

#include "tests/service/api/day.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

namespace {

std::string signature(const std::string& body, const std::string& secret = "hush") {
  unsigned char out[32];
  unsigned length = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(body.data()), body.size(), out, &length);
  std::string text = "sha256=";
  char digits[3];
  for (const unsigned char byte : out) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

struct Hook {
  World world;
  int deliveries = 0;

  Reply deliver(const std::string& event, const json& payload, std::string id = "") {
    return deliver_text(event, payload.dump(), std::move(id));
  }
  Reply deliver_text(const std::string& event, const std::string& body, std::string id = "") {
    if (id.empty()) id = "delivery-" + std::to_string(++deliveries);
    return world.send("POST", "/webhooks/github", "", body,
                      {{"X-GitHub-Event", event},
                       {"X-GitHub-Delivery", id},
                       {"X-Hub-Signature-256", signature(body)}});
  }
  std::size_t nights() { return world.get("/api/v1/nights").json["items"].size(); }
};

json push(const std::string& ref = "refs/heads/nightly",
          const std::string& repository = "Octo/PyTorch") {
  return {{"ref", ref}, {"deleted", false}, {"repository", {{"full_name", repository}}}};
}

json workflow_run(const std::string& action, const std::string& branch) {
  return {{"action", action},
          {"workflow_run", {{"head_branch", branch}}},
          {"repository", {{"full_name", "octo/pytorch"}}}};
}

}  // namespace

TEST_CASE("A push to the nightly branch starts one night, with its origin on record") {
  Hook hook;
  const int wakes = hook.world.wakes;
  const auto reply = hook.deliver("push", push(), "d-1");
  CHECK(reply.status == 202);
  CHECK(reply.json["action"] == "night_started");
  CHECK(hook.world.wakes == wakes + 1);
  const auto night = hook.world.get("/api/v1/nights/" + reply.json["night"].dump()).json;
  CHECK(night["trigger"] == "webhook");
  CHECK(night["state"] == "waiting");
  const auto audit = hook.world.send("GET", "/api/v1/audit", "admin").json["items"][0];
  CHECK(audit["actor"] == "webhook:d-1");
  CHECK(audit["subject"] == "night/" + reply.json["night"].dump());
}

TEST_CASE("A delivery is used once") {
  Hook hook;
  CHECK(hook.deliver("push", push(), "d-1").json["action"] == "night_started");
  const auto replay = hook.deliver("push", push(), "d-1");
  CHECK(replay.status == 202);
  CHECK(replay.json["action"] == "ignored");
  CHECK(hook.nights() == 1);
  auto next = push();
  next["after"] = "1";
  CHECK(hook.deliver("push", next, "d-2").json["action"] == "night_started");
}

TEST_CASE("A delivery that was seen is of no use under another id") {
  Hook hook;
  CHECK(hook.deliver("push", push(), "d-1").json["action"] == "night_started");
  CHECK(hook.deliver("push", push(), "d-2").json["action"] == "ignored");
  CHECK(hook.nights() == 1);
}

TEST_CASE("A workflow run starts a night when it has completed on the nightly branch") {
  Hook hook;
  CHECK(hook.deliver("workflow_run", workflow_run("requested", "nightly")).json["action"] ==
        "ignored");
  CHECK(hook.deliver("workflow_run", workflow_run("completed", "feature")).json["action"] ==
        "ignored");
  CHECK(hook.nights() == 0);
  CHECK(hook.deliver("workflow_run", workflow_run("completed", "nightly")).json["action"] ==
        "night_started");
}

TEST_CASE("A ping is answered, and what does not concern us is accepted and ignored") {
  Hook hook;
  CHECK(hook.deliver("ping", json::object()).status == 200);
  const auto ignored = [&](const std::string& event, const json& payload) {
    const auto reply = hook.deliver(event, payload);
    return reply.status == 202 && reply.json["action"] == "ignored";
  };
  CHECK(ignored("issues", json::object()));
  CHECK(ignored("push", push("refs/heads/main")));
  CHECK(ignored("push", push("refs/tags/nightly")));
  CHECK(ignored("push", push("refs/heads/nightly", "someone/else")));
  auto deleted = push();
  deleted["deleted"] = true;
  CHECK(ignored("push", deleted));
  CHECK(ignored("push", json::object()));
  CHECK(hook.nights() == 0);
}

TEST_CASE("Without the right signature nothing is believed") {
  Hook hook;
  const auto body = push().dump();
  const auto send = [&](std::vector<std::pair<std::string, std::string>> headers) {
    headers.emplace_back("X-GitHub-Event", "push");
    headers.emplace_back("X-GitHub-Delivery", "d");
    return hook.world.send("POST", "/webhooks/github", "admin", body, std::move(headers)).status;
  };
  CHECK(send({}) == 401);
  CHECK(send({{"X-Hub-Signature-256", signature(body, "other")}}) == 401);
  CHECK(send({{"X-Hub-Signature-256", signature(body + " ")}}) == 401);
  CHECK(send({{"X-Hub-Signature", signature(body)}}) == 401);
  hook.world.on_writer([&] { hook.world.context.webhook_secret.clear(); });
  CHECK(send({{"X-Hub-Signature-256", signature(body, "")}}) == 401);
  CHECK(hook.nights() == 0);
}

TEST_CASE("The body of a delivery without a signature is not even read") {
  Hook hook;
  web::RawClient client(hook.world.server.port());
  client.write(
      "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: push\r\n"
      "Content-Length: 3000000\r\n\r\n");
  CHECK(client.read().status == 401);
}

TEST_CASE("A payload that cannot be read is refused, one that is too large is 413") {
  Hook hook;
  CHECK(hook.deliver_text("push", "payload=%7B%7D").status == 400);
  CHECK(hook.deliver_text("push", "[]").status == 400);
  CHECK(hook.deliver_text("ping", "[]").status == 400);
  CHECK(hook.deliver_text("", push().dump()).status == 400);
  CHECK(hook.world.send("POST", "/webhooks/github", "", std::string(25'000'000, 'x')).status ==
        413);
  CHECK(hook.nights() == 0);
}
