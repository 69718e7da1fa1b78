// Verdicts as records, and by a webhook. tests/e2e/export_test.py has the bucket.
#include "service/report/exporter.hpp"

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/web/served.hpp"
#include "web/secret.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nightjar::test::ScratchFolder;
using nightjar::test::write_file;

namespace {

CommitSha sha_of(char digit) {
  return *CommitSha::parse(std::string(40, digit));
}

ReportInput exported_finding() {
  ReportInput issue;
  issue.regression = 7;
  issue.series = {{"python/dlrm/train/cuda/bf16/b64/inductor", "latency", .2, .25, 1.25, 1.2, 1.3},
                  {"no name", "latency", 1, 2, 2, 2, 2}};
  issue.machine = {{"gpu", "H100"}, {"cpu_model", "EPYC"}, {"cpu_count", "26"}};
  issue.good.version = "2.15.0.dev20260819+rocm7.0";
  issue.bad = {"2.15.0.dev20260820+rocm7.0", sha_of('b'), {}, "", ""};
  issue.rule = "the posterior is certain";
  return issue;
}

ExportConfig exported_to(const ScratchFolder& folder) {
  ExportConfig config;
  config.url_file = folder / "url";
  config.secret_file = folder / "secret";
  config.repository = "pytorch/pytorch";
  return config;
}

}  // namespace

TEST_CASE("A verdict is a record for each series, at the commit that it names") {
  const Time now = *parse_rfc3339("2026-08-20T10:00:00.5Z");
  ReportInput issue = exported_finding();
  const ExportConfig config = exported_to(ScratchFolder());
  const auto record_with = [&] {
    return nlohmann::json::parse(verdict_records(issue, config, now));  // one line, no more
  };
  const auto unattributed = record_with();
  CHECK(unattributed.at("head_sha") == sha_of('b').str());
  CHECK(unattributed.at("metric").at("extra_info").at("found") == "unattributed");
  issue.culprit = ReportCulprit{{{sha_of('c'), "", "", {}}, {sha_of('d'), "", "", {}}}, .97};
  const auto record = record_with();
  CHECK(record.at("timestamp") == 1787220000);
  CHECK(record.at("schema_version") == "v3");
  CHECK((record.at("repo") == "pytorch/pytorch" && record.at("head_branch") == "main"));
  CHECK((record.at("job_id") == 7 && record.at("run_attempt") == 1));
  CHECK(record.at("head_sha") == sha_of('d').str());
  CHECK(record.at("metric").at("benchmark_values") == nlohmann::json{.25});
  CHECK(record.at("metric").at("target_value") == .2);
  const auto& more = record.at("metric").at("extra_info");
  CHECK(more.at("commits") == sha_of('c').str() + " " + sha_of('d').str());
  CHECK((more.at("ratio") == "1.25" && more.at("ratio_low") == "1.2" && more.at("unit") == "s"));
  CHECK(more.at("probability") == "0.97");
  CHECK(record.at("benchmark").at("name") == "nightjar_verdict");
  CHECK(record.at("benchmark").at("mode") == "training");
  CHECK(record.at("runners").at(0).at("name") == "rocm");
  CHECK(record.at("runners").at(0).at("type") == "H100");
}

TEST_CASE("A verdict that is taken back is the same records, which say so") {
  const ExportConfig config = exported_to(ScratchFolder());
  const std::string told = verdict_records(exported_finding(), config, Time{});
  const auto back = [&](const std::string& records) {
    return taken_back(records, "it was \"meant\"", *parse_rfc3339("2026-08-21T10:00:00Z"));
  };
  auto expected = nlohmann::json::parse(told);
  expected["timestamp"] = expected["workflow_id"] = 1787306400;
  expected["metric"]["extra_info"]["verdict"] = "taken back";
  expected["metric"]["extra_info"]["why"] = "it was \"meant\"";
  CHECK(nlohmann::json::parse(back(told)) == expected);
  CHECK(back(told + told) == back(told) + back(told));
}

TEST_CASE("A webhook gets the records compressed and signed, and a bucket needs a login") {
  const ScratchFolder folder;
  ExportConfig config = exported_to(folder);
  web::Served site;
  web::Request got;
  site.server->add(web::route(web::Method::post, "/told-to-nobody-at-all",
                              [&](const web::Request& request, web::Respond respond) {
                                got = request;
                                respond(web::json_response("{}"));
                              }));
  site.start();
  write_file(folder / "secret", "signs\n");
  write_file(folder / "url", "http://127.0.0.1:" + std::to_string(site.server->port()) +
                                 "/told-to-nobody-at-all\n");
  OutboxMessage message;
  message.key = "verdict:f1";
  message.kind = OutboxKind::verdict;
  message.body = std::string(5000, 'x') + "\n";
  CHECK(std::holds_alternative<std::monostate>(export_verdict(config, message)));
  CHECK(got.header("x-nightjar-delivery") == "verdict:f1");
  CHECK(got.header("content-encoding") == "gzip");
  CHECK((got.body.starts_with("\x1f\x8b") && got.body.size() < 200));
  CHECK(web::signature_matches("signs", got.body, got.header("x-hub-signature-256").value_or("")));
  CHECK(object_name(config, message) == "v3/pytorch/pytorch/main/nightjar/f1.json");
  message.key = taken_back_key(message.key);
  CHECK(object_name(config, message) == "v3/pytorch/pytorch/main/nightjar/f1.json");

  config.login_file = folder / "login";
  for (const char* wrong : {"KEY", ":secret", "KEY:", "KEY::session"}) {
    write_file(config.login_file, std::string(wrong) + "\n");
    CHECK_THROWS_WITH(check_export_login(config), Contains("must be KEY:SECRET"));
  }
  write_file(config.login_file, "KEY:a/secret:a:session\n");
  CHECK_NOTHROW(check_export_login(config));
}

TEST_CASE("A verdict for an export that is configured no more waits for a person") {
  const auto outcome = export_verdict({}, {});
  REQUIRE(std::holds_alternative<Permanent>(outcome));
  CHECK_THAT(std::get<Permanent>(outcome).what, Contains("[export]"));
}
