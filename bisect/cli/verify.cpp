#include "bisect/cli/verify.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bisect/cli/failure.hpp"
#include "bisect/evidence/verify.hpp"

namespace nightjar::cli {
namespace {
using evidence::Finding;
using nlohmann::json;

json read_bundle(const std::filesystem::path& path) {
  if (path == "-") return json::parse(std::cin);
  std::ifstream file(path);
  if (!file) throw BadInput("cannot read the bundle " + path.string());
  return json::parse(file);
}

void print_json(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const Finding& finding : findings)
    list.push_back({{"stage", finding.stage},
                    {"verdict", finding.verdict},
                    {"agrees", finding.agrees},
                    {"why", finding.why}});
  std::printf("%s\n", json{{"verdicts", list}}.dump(2).c_str());
}

void print_text(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    std::printf("%-12s  %-14s  %s%s%s\n", finding.stage.c_str(), finding.verdict.c_str(),
                finding.agrees ? "agrees" : "DIFFERS", finding.why.empty() ? "" : ": ",
                finding.why.c_str());
}

}  // namespace

int verify(const VerifyOptions& options) {
  std::vector<Finding> findings;
  try {
    findings = evidence::verify_bundle(read_bundle(options.bundle));
  } catch (const json::exception& broken) {
    throw BadInput("cannot verify " + options.bundle.string() + ": " + broken.what());
  }
  if (findings.empty())
    throw BadInput("there is no verdict in " + options.bundle.string() +
                   " yet; ask again when the regression was screened");
  options.json ? print_json(findings) : print_text(findings);
  return std::all_of(findings.begin(), findings.end(), [](const Finding& f) { return f.agrees; }) ? 0 : 1;
}

}  // namespace nightjar::cli
