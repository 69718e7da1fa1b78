// What a week came to, how a build differs from a reference, and both as web pages.
#include "service/report/digest.hpp"

#include <catch2/catch.hpp>

#include "service/report/html.hpp"
#include "tests/service/report/examples.hpp"

using namespace nightjar;
using namespace nightjar::service;

namespace {

ReportSeries series(const std::string& model, const std::string& metric, double before,
                    double after) {
  const double ratio = after / before;
  return {"python/" + model + "/eval/cpu/fp32/b1/eager",
          metric,
          before,
          after,
          ratio,
          ratio * .99,
          ratio * 1.01};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string repository_url = "https://github.com/pytorch/pytorch";

// Its nights and sessions; nothing was found yet.
DigestInput one_week() {
  DigestInput input;
  input.repository = repository_url;
  input.pages = "https://nightjar.example.org";
  input.from = "2026-08-13";
  input.to = "2026-08-20";
  input.nights = 7;
  input.sessions = 40;
  input.void_sessions = 3;
  return input;
}

DigestFinding one_finding(const std::string& subject) {
  DigestFinding finding;
  finding.regression = 14;
  finding.lead = series("resnet", "latency", .004, .005);
  finding.state = "reported";
  finding.culprit = {examples::sha('c'), subject, "Eve", {}};
  finding.issue = repository_url + "/issues/99";
  return finding;
}

DigestFix one_commit() {
  DigestFix fix;
  fix.commits = {{examples::sha('a'), "Skip the second copy (#4711)", "Ada", {}}};
  fix.version = "2.15.0.dev20260820+cpu";
  fix.series = {series("bert", "latency", 1, .8), series("bert", "latency", 1, .9),
                series("dlrm", "latency", 1, .95)};
  fix.regressions = {12};
  return fix;
}

}  // namespace

TEST_CASE("a digest says what its nights cost, and for each finding that they named") {
  DigestInput week = one_week();
  CHECK_FALSE(has(render_digest(week), "minutes"));
  week.with_gpu = {411.6, 3};
  week.without_gpu = {90, 0};
  const std::string text = render_digest(week);
  CHECK(
      has(text, "\n- sessions took 412 GPU-minutes, 137 for each finding whose commit is named\n"));
  CHECK(has(text,
            "\n- sessions took 90 minutes on machines without a GPU, and no commit was named\n"));
}

TEST_CASE("A fix is told by who made how many workloads how much faster") {
  DigestFix fix = one_commit();
  CHECK(fix_headline(fix, repository_url) == "[#4711](" + repository_url +
                                                 "/pull/4711) made 2 workloads faster, by 5.0 % to "
                                                 "20 %");
  fix.series.resize(1);
  CHECK(has(fix_headline(fix, repository_url), " made 1 workload faster, by 20 %"));
  fix.series = {series("bert", "peak_cpu_memory", 4, 3)};
  CHECK(has(fix_headline(fix, repository_url), " improved peak CPU memory of 1 workload, by 25 %"));
  fix.series.push_back(series("bert", "latency", 1, .9));
  CHECK(has(fix_headline(fix, repository_url), " made 1 workload better, by 10 % to 25 %"));
  fix.commits.push_back({examples::sha('b'), "Other", "Bob", {}});
  CHECK(fix_headline(fix, repository_url).starts_with("One of 2 commits made"));
  fix.commits.clear();
  CHECK(fix_headline(fix, repository_url)
            .starts_with("With `2.15.0.dev20260820+cpu` something made"));
}

TEST_CASE("A digest names findings, fixes, what is open and how the nights went") {
  DigestInput input = one_week();
  input.nights_without_build = 1;
  DigestFinding finding = one_finding("Check bounds @everyone (#5)");
  finding.more_series = 2;
  input.findings = {finding};
  input.fixes = {one_commit()};
  input.open = {{"reported", 4}};
  input.not_shown = {{"machine class 3 (H100)", "latency", .11}};
  const std::string text = render_digest(input);
  CHECK(
      text.starts_with("# Nightjar from 2026-08-13 to 2026-08-20\n\n**1 new finding, 3 series "
                       "that got better** in 7 nights.\n"));
  CHECK(has(text,
            "| [regression 14](https://nightjar.example.org/#/regressions/14) | "
            "`python/resnet/eval/cpu/fp32/b1/eager` and 2 more | latency | +25 % |"));
  CHECK(has(text, "[#99](" + repository_url + "/issues/99)"));
  CHECK_FALSE(has(text, "@everyone"));  // nobody is called by a commit's text
  CHECK(has(text, "\n### [#4711]"));
  CHECK(has(text, "It repaired [regression 12]"));
  CHECK(has(text, "- reported: 4\n"));
  CHECK(has(text, "- 7 nights, 1 of them without a new build\n- 40 sessions, 3 of them void"));
  CHECK(has(text,
            "- latency on machine class 3 (H100): smallest change seen with probability .9 here: "
            "11 %\n"));

  const std::string quiet = render_digest({});
  CHECK(has(quiet, "## Got worse\n\nNothing was found.\n"));
  CHECK(has(quiet, "## Got better\n\nNothing did.\n"));
  CHECK(has(quiet, "Nothing is open.\n"));
}

namespace {

// Every part of it has an entry. Texts of commits and workloads try to do mischief.
DigestInput busy_week() {
  DigestInput input = one_week();
  const DigestFinding finding = one_finding("Check bounds | @everyone (#5)");
  DigestFinding range = finding;
  range.regression = 15;
  range.lead = series("dlrm", "peak_cpu_memory", 3e8, 3.9e8);
  range.culprit.reset();
  range.issue.clear();
  input.findings = {finding, range};
  DigestFix unnamed = one_commit();
  unnamed.regressions.clear();
  unnamed.commits.push_back({examples::sha('b'), "Fuse the loops (#4712)", "Bob", {}});
  input.fixes = {one_commit(), unnamed};
  input.open = {{"reported", 4}, {"bisecting", 1}};
  return input;
}

DigestReference reference_build() {
  DifferenceInput difference;
  difference.repository = repository_url;
  difference.reference.version = "2.14.0+cpu";
  difference.build.version = "2.15.0.dev20260820+cpu";
  difference.rows = {{series("resnet", "latency", .004, .005), "vision"},
                     {series("bert", "latency", 1, .8), "language"}};
  return {"2.14.0+cpu", difference};
}

}  // namespace

TEST_CASE("A digest with its difference reads as its golden file") {
  const auto issue = render_digest_issue(busy_week(), reference_build());
  const auto text = issue.title + "\n\n" + issue.body;
  CHECK(text == examples::golden("digest.md", text));
}

TEST_CASE("A fix's issue reads as its golden file") {
  const auto issue = render_fix_issue(one_commit(), repository_url);
  CHECK(issue.title == "#4711 made 2 workloads faster, by 5.0 % to 20 %");
  const auto text = issue.title + "\n\n" + issue.body;
  CHECK(text == examples::golden("fix.md", text));
}

TEST_CASE("A fix's title names no commit where there are several, and one by its hash") {
  DigestFix fix = one_commit();
  fix.commits[0].subject = "Skip the second copy";
  CHECK(render_fix_issue(fix, repository_url).title.starts_with("aaaaaaaaaaaa made 2 workloads"));
  fix.commits.push_back({examples::sha('b'), "Other (#7)", "Bob", {}});
  CHECK(render_fix_issue(fix, repository_url).title.starts_with("One of 2 commits made 2"));
}

TEST_CASE("A digest that would be too long loses rows, says so, and keeps every part") {
  DigestInput input = busy_week();
  const DigestFinding finding = input.findings[0];
  const DigestFix fix = input.fixes[0];
  for (int i = 0; i < 400; ++i) input.findings.push_back(finding);
  for (int i = 0; i < 100; ++i) input.fixes.push_back(fix);
  DigestReference reference = reference_build();
  for (int i = 0; i < 1000; ++i)
    reference.difference->rows.push_back(
        {series("model" + std::to_string(i % 50), "latency", 1, 1.1 + i * .001), "other"});
  CHECK(render_digest(input).size() > issue_body_limit);
  const auto issue = render_digest_issue(input, reference);
  CHECK(issue.body.size() <= comment_limit);
  CHECK(issue.title ==
        "Nightjar from 2026-08-13 to 2026-08-20: 402 new findings, 306 series that got better");
  for (const char* part : {" more findings are not listed.", " more fixes of fewer series are",
                           "\n## Not settled\n", "\n## Nights\n", "\n## Worse\n", "\n## Better\n"})
    CHECK(has(issue.body, part));
}

TEST_CASE("A time is quiet if something was measured and nothing got worse or better") {
  DigestInput input;
  CHECK_FALSE(is_quiet(input));  // silence would say that all is well
  CHECK(has(render_digest(input), "Nothing was measured"));
  input.sessions = 2;
  input.open = {{"reported", 4}};
  CHECK(is_quiet(input));
  CHECK_FALSE(has(render_digest(input), "Nothing was measured"));
  input.void_sessions = 2;
  CHECK_FALSE(is_quiet(input));
  input.void_sessions = 1;
  input.fixes = {one_commit()};
  CHECK_FALSE(is_quiet(input));
}

TEST_CASE("A difference lists what is beyond noise by size, and no mean hides a row") {
  DifferenceInput input;
  input.reference.version = "2.14.0+cpu";
  input.build.version = "2.15.0.dev20260820+cpu";
  input.rows = {{series("small", "latency", 1, 1.05), "vision"},
                {series("large", "latency", 1, 1.5), "vision"},
                {series("better", "latency", 1, .6), "vision"},
                {series("same", "latency", 1, 1.005), "language"},
                {series("rate", "throughput", 10, 12), "language", false}};
  ReportSeries noisy = series("noisy", "latency", 1, 1.2);
  noisy.low = .9;
  input.rows.push_back({noisy, "language"});
  const std::string text = render_difference(input);
  CHECK(has(text,
            "**2 series are worse and 2 better** by at least 3.0 % and beyond noise. 2 other "
            "series are alike."));
  const auto worse = text.find("## Worse"), large = text.find("large"), small = text.find("small");
  CHECK(worse < large);
  CHECK(large < small);
  CHECK_FALSE(has(text, "noisy"));
  CHECK(has(text, "| vision | -1.9 % | 3 | 2 | 1 |"));
}

TEST_CASE("A report becomes a web page with nothing but its own markup") {
  const std::string page = html_page("A <title>",
                                     "# One & two\n\n**Bold** and `a|<b>` [here](https://x.org/?a=1"
                                     "&b=2) [not](javascript:alert(1)) \\*as\\_written\\*\n\n"
                                     "- first\n- second\n\n| name | number |\n|---|---:|\n"
                                     "| a \\| b | 1 |\n\nafter <script>alert(1)</script>\n");
  CHECK(has(page, "<title>A &lt;title&gt;</title>"));
  CHECK(has(page, "<h1>One &amp; two</h1>"));
  CHECK(has(page,
            "<p><strong>Bold</strong> and <code>a|&lt;b&gt;</code> "
            "<a href=\"https://x.org/?a=1&amp;b=2\">here</a> [not](javascript:alert(1)) "
            "*as_written*\n</p>"));
  CHECK(has(page, "<ul><li>first</li>\n<li>second</li>\n</ul>"));
  CHECK(has(page,
            "<table><thead><tr><th>name</th><th class=\"right\">number</th></tr>\n"
            "</thead><tbody>\n<tr><td>a | b</td><td class=\"right\">1</td></tr>\n"
            "</tbody></table>"));
  CHECK(has(page, "after &lt;script&gt;alert(1)&lt;/script&gt;"));
  CHECK_FALSE(has(page, "<script"));
}
