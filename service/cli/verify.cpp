#include "service/cli/verify.hpp"

#include <algorithm>
#include <cstdio>

#include "bisect/evidence/statement.hpp"
#include "bisect/evidence/verify.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/model_results.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/terminal.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_problem.hpp"

namespace nightjar::cli {
namespace {
using evidence::Finding;
using evidence::Verification;
using nlohmann::json;

constexpr const char* derived_fields =
    "commits, probability, ratio, workload, builds and state follow from verdicts and sessions";
constexpr const char* sealed_fields =
    "no field was edited since the service wrote it; an editor could seal it again, so which "
    "commit "
    "each build is, times, settings, earlier levels and machine are only as good as their source";
constexpr const char* not_sealed =
    "not bound: an earlier version wrote it without a seal, so nothing vouches for which commit "
    "each build is, times, settings, earlier levels and machine";

void print_json(const json& regression, const Verification& verified) {
  json list = json::array();
  for (const Finding& finding : verified.verdicts)
    list.push_back({{"stage", finding.stage},
                    {"verdict", finding.verdict},
                    {"agrees", finding.agrees},
                    {"why", finding.why}});
  const json out{{"agrees", verified.agrees()},
                 {regression.contains("causes") ? "fix" : "regression", regression},
                 {"verdicts", std::move(list)},
                 {"contradictions", verified.contradictions},
                 {"seal", {{"present", verified.seal.present}, {"edited", verified.seal.edited}}}};
  put_text(stdout, out.dump(2) + "\n");
}

// A word of the bundle, in quotes if it is none. An honest one is shorter.
std::string word(const std::string& text) {
  const std::string line = shortened(text, 60);
  return line.find(' ') == std::string::npos ? line : "'" + line + "'";
}

// A sentence, which may repeat parts of the bundle.
void print_line(const std::string& what, const std::string& said, bool agrees,
                const std::string& why) {
  say(stdout, "%-12s  %-15s  %s%s%s\n", word(what).c_str(), word(said).c_str(),
      agrees ? "agrees" : "DIFFERS", why.empty() ? "" : ": ", shortened(why, 400).c_str());
}

bool is_of_contributors(const Verification& verified) {
  return std::any_of(verified.verdicts.begin(), verified.verdicts.end(), [](const Finding& one) {
    return one.stage == "bisection" && one.verdict == "several_small";
  });
}

// What made it better, as the bundle of a fix says it.
void print_causes(const json& causes) {
  if (causes.empty()) say(stdout, "commit        none is named\n");
  for (const json& cause : causes) {
    for (const json& commit : cause.at("commits"))
      say(stdout, "commit        %s made it better\n", word(commit.get<std::string>()).c_str());
    say(stdout, "              %sprobability %.4g, %.4g times as good (%.4g to %.4g)\n",
        cause.at("range").get<bool>() ? "one of these, with " : "",
        cause.at("probability").get<double>(), cause.at("ratio").get<double>(),
        cause.at("low").get<double>(), cause.at("high").get<double>());
  }
}

// What is accused, as the bundle says it.
void print_statement(const json& regression, const Verification& verified) {
  say(stdout, "workload      %s, %s\n",
      shortened(regression.at("workload").get<std::string>(), 200).c_str(),
      word(regression.at("metric").get<std::string>()).c_str());
  if (regression.contains("causes")) return print_causes(regression.at("causes"));
  const json& culprit = regression.at("culprit");
  if (culprit.is_null()) {
    say(stdout, "commit        none is accused\n");
    return;
  }
  const json& commits = culprit.at("commits");
  for (const json& commit : commits)
    say(stdout, "commit        %s\n", word(commit.get<std::string>()).c_str());
  const char* one_of = is_of_contributors(verified) ? "these together, with "
                       : commits.size() > 1         ? "one of these, with "
                                                    : "";
  say(stdout, "              %sprobability %.4g, ratio %.4g (%.4g to %.4g)\n", one_of,
      culprit.at("probability").get<double>(), culprit.at("ratio").get<double>(),
      culprit.at("low").get<double>(), culprit.at("high").get<double>());
}

void print_text(const json& regression, const Verification& verified) {
  print_statement(regression, verified);
  for (const Finding& finding : verified.verdicts)
    print_line(finding.stage, finding.verdict, finding.agrees, finding.why);
  const auto state = regression.at("state").get<std::string>();
  if (verified.contradictions.empty()) print_line("statement", state, true, derived_fields);
  for (const std::string& one : verified.contradictions) print_line("statement", state, false, one);
  for (const std::string& one : verified.seal.edited) print_line("seal", "broken", false, one);
  if (!verified.seal.edited.empty()) return;
  if (verified.seal.present)
    print_line("seal", "whole", true, sealed_fields);
  else
    say(stdout, "%-12s  %-15s  %s\n", "seal", "none", not_sealed);
}

}  // namespace

int verify(const VerifyOptions& options) {
  Verification verified;
  json bundle;
  try {
    bundle = parse_foreign_or_throw(read_text(options.bundle));
    verified = evidence::verify_bundle(bundle, digest_of);
    if (!verified.verdicts.empty()) {
      const json& regression = evidence::subject_of(bundle);
      options.json ? print_json(regression, verified) : print_text(regression, verified);
    }
  } catch (const json::exception& broken) {
    throw BadInput("cannot verify " + options.bundle.string() + ": " + problem_of(broken));
  }
  if (verified.verdicts.empty())
    throw BadInput("there is no verdict in " + options.bundle.string() +
                   " yet; ask again when the regression was screened");
  return verified.agrees() ? 0 : 1;
}

}  // namespace nightjar::cli
