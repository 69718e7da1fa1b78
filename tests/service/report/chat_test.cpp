// Chat messages against a receiver on loopback that checks each signature.
#include "service/report/chat.hpp"

#include <catch2/catch.hpp>

#include "service/report/outbox_sender.hpp"
#include "tests/service/report/scripted_tracker.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/source_tree.hpp"
#include "tests/web/served.hpp"
#include "web/secret.hpp"

using namespace nightjar;
using namespace nightjar::service;
using namespace std::chrono_literals;
using Catch::Contains;
using nightjar::test::ScratchFolder;
using nightjar::test::write_file;

namespace {

const std::string chat_secret = "a secret of the chat";
const std::string chat_path = "/services/T1/B2/told-to-nobody-at-all";

OutboxMessage chat_finding() {
  OutboxMessage message;
  message.key = "chat:f1";
  message.regression = RegressionId{7};
  message.kind = OutboxKind::chat;
  message.title = "dlrm & <!channel> @here: latency +25 %";
  message.body = "https://nightjar.test/#/regressions/7";
  message.created_at = *parse_rfc3339("2026-08-20T10:00:00Z");
  return message;
}

struct ChatReceiver {
  ScratchFolder folder;
  web::Served site;
  unsigned status = 200;
  std::string said = "ok";
  std::vector<std::string> accepted;  // deliveries
  bool is_signed = true;
  ManualClock clock{*parse_rfc3339("2026-08-20T10:00:00Z")};
  ScriptedTracker tracker;

  ChatReceiver() {
    site.server->add(web::route(
        web::Method::post, chat_path,
        [this](const web::Request& request, web::Respond respond) { respond(take(request)); }));
    site.start();
    point_at(site.server->port());
    write_file(folder / "secret", chat_secret + "\n");
  }
  void point_at(std::uint16_t port) {
    write_file(folder / "url", "http://127.0.0.1:" + std::to_string(port) + chat_path + "\n");
  }
  web::Response take(const web::Request& request) {
    is_signed &= web::signature_matches(chat_secret, request.body,
                                        request.header("x-hub-signature-256").value_or(""));
    if (status == 200) accepted.push_back(request.header("x-nightjar-delivery").value_or(""));
    auto response = web::json_response(said);
    response.status = status;
    if (status == 429) response.headers.emplace_back("Retry-After", "77");
    return response;
  }
  Sent send() {
    OutboxSender sender(tracker, {}, clock, "",
                        {folder / "url", folder / "secret", ChatFormat::slack});
    return sender.send(chat_finding(), std::nullopt);
  }
};

}  // namespace

TEST_CASE("A finding is written as each chat reads it, and nobody is called by its title") {
  const OutboxMessage message = chat_finding();
  CHECK(chat_body(ChatFormat::slack, message) ==
        R"({"text":"dlrm &amp; &lt;!channel&gt; @here: latency +25 %\n)"
        R"(<https://nightjar.test/#/regressions/7>"})");
  const std::string mattermost = chat_body(ChatFormat::mattermost, message);
  CHECK_THAT(mattermost, Contains(R"({"text":"dlrm)") && !Contains("@here") &&
                             Contains(R"(\n<https://nightjar.test/#/regressions/7>"})"));
  CHECK(chat_body(ChatFormat::json, message) ==
        R"({"key":"chat:f1","regression":7,"reported_at":"2026-08-20T10:00:00Z",)"
        R"("title":"dlrm & <!channel> @here: latency +25 %",)"
        R"("url":"https://nightjar.test/#/regressions/7"})");
}

TEST_CASE_METHOD(ChatReceiver, "A finding is posted once, signed, without the tracker") {
  CHECK(send().state == OutboxState::sent);
  CHECK(accepted == std::vector<std::string>{"chat:f1"});
  CHECK(is_signed);
  CHECK(tracker.issues.empty());
}

TEST_CASE_METHOD(ChatReceiver,
                 "What a chat may take later is tried again, what it refuses is not") {
  struct Row {
    unsigned status;
    OutboxState state;
    std::chrono::seconds wait;
  };
  const auto row = GENERATE(values<Row>({{500, OutboxState::pending, 15s},
                                         {429, OutboxState::pending, 77s},
                                         {302, OutboxState::failed, 0s},
                                         {404, OutboxState::failed, 0s}}));
  status = row.status;
  said = "no hook " + chat_path;
  const Sent sent = send();
  CHECK(sent.state == row.state);
  CHECK(sent.not_before.value_or(clock.now()) == clock.now() + row.wait);
  CHECK_THAT(sent.error, Contains("the chat answered " + std::to_string(row.status)) &&
                             !Contains("told-to-nobody") && !Contains(chat_secret));
  CHECK(accepted.empty());
}

TEST_CASE_METHOD(ChatReceiver,
                 "A chat that is away is asked again, and its address is told nobody") {
  SECTION("it does not answer") {
    point_at(1);
  }
  SECTION("its file is gone") {
    std::filesystem::remove(folder / "url");
  }
  SECTION("its file holds no address") {
    write_file(folder / "url", "told-to-nobody\n");
  }
  const Sent sent = send();
  CHECK(sent.state == OutboxState::pending);
  CHECK_THAT(sent.error, !Contains("told-to-nobody") && !Contains("T1/B2"));
  CHECK_FALSE(sent.error.empty());
}

TEST_CASE_METHOD(ChatReceiver,
                 "A message for a chat that is configured no more waits for a person") {
  OutboxSender sender(tracker, {}, clock);
  const Sent sent = sender.send(chat_finding(), std::nullopt);
  CHECK(sent.state == OutboxState::failed);
  CHECK_THAT(sent.error, Contains("[chat] url_file"));
}
