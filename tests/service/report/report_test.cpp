#include "service/report/report.hpp"

#include <catch2/catch.hpp>

#include "storage/model/metric.hpp"
#include "tests/service/report/examples.hpp"

using namespace nightjar;
using namespace nightjar::service;
using namespace nightjar::service::examples;

namespace {

std::string whole(const RenderedIssue& issue) {
  return issue.title + "\n\n" + issue.body;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// Makes `count` workloads of sixty models.
std::vector<ReportExtent::Other> worse_too(int count) {
  std::vector<ReportExtent::Other> list;
  for (int i = 0; i < count; ++i)
    list.push_back({"python/model" + std::to_string(i % 60) + "/eval/cpu/fp32/b" +
                        std::to_string(1 + i / 60) + "/eager",
                    MachineId{2}, 1.1});
  return list;
}

}  // namespace

TEST_CASE("An issue about one commit reads as its golden file") {
  const std::string text = whole(render_issue(redundant_check()));
  CHECK(text == golden("redundant_check.md", text));
}

TEST_CASE("An issue about adjacent commits in a changed environment reads as its golden file") {
  const std::string text = whole(render_issue(leak()));
  CHECK(text == golden("leak.md", text));
}

TEST_CASE("A leak says so in its title and first line, with bytes an iteration") {
  ReportInput input = leak();
  for (const std::string& text : {render_issue(input).title, first_line(render_issue(input).body)})
    CHECK(text.find("leak of 1.200 MiB/iteration, peak CPU memory +22 %") != std::string::npos);
  input.series.erase(input.series.begin());
  CHECK(render_issue(input).title.find("resnet18 train: leak of 1.200 MiB/iteration since") !=
        std::string::npos);
  input.leak.reset();
  CHECK(render_issue(input).title.find("leak of") == std::string::npos);
}

TEST_CASE("Machine classes are a table, those that show it first; one alone is none") {
  ReportInput input = redundant_check();
  const auto row_of = [](const std::string& body, const std::string& name) {
    const auto begin = body.find("| machine class " + name);
    REQUIRE(begin != std::string::npos);
    return body.substr(begin, body.find('\n', begin) - begin);
  };
  const std::string body = render_issue(input).body;
  CHECK(body.find("| machine class 4 ") < body.find("| machine class 3 "));
  CHECK(body.find("| machine class 3 ") < body.find("| machine class 2 "));
  CHECK(row_of(body, "1").find("| seen | +23 % | +21.0 % to +25.2 % | 2026-08-20 |") !=
        std::string::npos);
  CHECK(row_of(body, "4").find("| NVIDIA L4 | seen | +18 % | – | 2026-08-22 |") !=
        std::string::npos);
  CHECK(row_of(body, "3").find("| looked for and not seen | +0.4 % | – | – |") !=
        std::string::npos);
  CHECK(row_of(body, "2").find("| NVIDIA A100 | not looked for | – | – | – |") !=
        std::string::npos);
  input.series[0].metric = input.series[1].metric = "leaked_memory";
  CHECK(row_of(render_issue(input).body, "3").find("| looked for and not seen | – |") !=
        std::string::npos);
  input.classes.resize(1);
  CHECK(render_issue(input).body.find("## Machine classes") == std::string::npos);
}

TEST_CASE("The title says what, how much, since when and by which pull request") {
  CHECK(render_issue(redundant_check()).title ==
        "[nightjar] soft_actor_critic act and 1 more: latency +23 % since bbbbbbbbbbbb (#61056)");
  ReportInput alone = redundant_check();
  alone.series.pop_back();
  CHECK(render_issue(alone).title ==
        "[nightjar] soft_actor_critic act: latency +23 % since bbbbbbbbbbbb (#61056)");
  CHECK(render_issue(leak()).title ==
        "[nightjar] resnet18 train: leak of 1.200 MiB/iteration, peak CPU memory +22 % since "
        "cccccccccccc or one of the next 2");
}

TEST_CASE("The first line names commit, author, size and certainty") {
  const std::string line = first_line(render_issue(redundant_check()).body);
  for (const char* part : {"latency +23 %", "410.3 µs → 504.7 µs", "+20.9 % to +24.6 %", "Jane Doe",
                           "/commit/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "/pull/61056",
                           "99.6 %", "revert or repair"}) {
    INFO(part);
    CHECK(line.find(part) != std::string::npos);
  }
}

TEST_CASE("The size in title and first line is that of the step, once a search names one") {
  ReportInput input = redundant_check();
  input.culprit->ratio = 1.31;
  input.culprit->low = 1.29;
  input.culprit->high = 1.33;
  const RenderedIssue issue = render_issue(input);
  CHECK(issue.title.find("latency +31 % since") != std::string::npos);
  const std::string line = first_line(issue.body);
  CHECK(line.find("latency +31 %") != std::string::npos);
  CHECK(line.find("95 % interval of the step +29.0 % to +33.0 %") != std::string::npos);
  CHECK(line.find("+23 %") == std::string::npos);
  CHECK(issue.body.find("The size above is that of the step.") != std::string::npos);
}

TEST_CASE("Commits that cannot be told apart are blamed as a set") {
  const std::string body = render_issue(leak()).body;
  CHECK(first_line(body).find("one of these 3 adjacent commits") != std::string::npos);
  CHECK(body.find("all but the last were tried and have no run") != std::string::npos);
  CHECK(body.find("> 99.9 %") != std::string::npos);
}

TEST_CASE("An issue about a range reads as its golden file") {
  const std::string text = whole(render_issue(native_range()));
  CHECK(text == golden("native_range.md", text));
}

TEST_CASE("A range blames nobody, claims no certainty of a commit and says how to narrow it") {
  const RenderedIssue issue = render_issue(native_range());
  const std::string text = whole(issue);
  CHECK(issue.title ==
        "[nightjar] soft_actor_critic act and 1 more: latency +23 % within 5 commits, bbbbbbbbbbbb "
        "to eeeeeeeeeeee");
  CHECK(first_line(issue.body).find("Which one is not known") != std::string::npos);
  CHECK(first_line(issue.body).find("Nobody is blamed") != std::string::npos);
  CHECK(count(text, "Jane Doe") == 0);
  CHECK(count(text, "@pytorch") == 0);
  for (const char* word : {"revert", "Revert", "culprit)", " certain", "Culprit"}) {
    INFO(word);
    CHECK(count(text, word) == 0);
  }
  for (const char* part : {"within these 5 commits", "is of its native group 0123456789ab",
                           "To narrow it, make a wheel", "no build here: none of the 2 proved"}) {
    INFO(part);
    CHECK(count(text, part) > 0);
  }
  ReportInput tried = native_range();
  tried.range_may_narrow = false;
  const std::string other = whole(render_issue(tried));
  CHECK(count(other, "To narrow it") == 0);
  CHECK(count(other, "those in between were tried and have no run") == 1);
  ReportInput one = native_range();
  one.range->commits.erase(one.range->commits.begin() + 1, one.range->commits.end());
  CHECK(count(whole(render_issue(one)), "within this commit, ") > 0);
}

TEST_CASE("Without a culprit the issue blames nobody") {
  ReportInput input = redundant_check();
  input.culprit.reset();
  const RenderedIssue issue = render_issue(input);
  CHECK(issue.title.find("between 2.15.0.dev20260819+cpu and 2.15.0.dev20260820+cpu") !=
        std::string::npos);
  CHECK(first_line(issue.body).find("nobody is blamed; 44 commits lie between them") !=
        std::string::npos);
  CHECK(issue.body.find("## Culprit") == std::string::npos);
  CHECK(issue.body.find("Jane Doe") == std::string::npos);
}

TEST_CASE("A subject can neither mention anybody, refer to an issue, nor break a table") {
  const std::string body = render_issue(redundant_check()).body;
  CHECK(body.find("@soulitzer") == std::string::npos);
  CHECK(body.find("@pytorch") == std::string::npos);
  CHECK(body.find("#60001") == std::string::npos);
  CHECK(body.find("#12") == std::string::npos);
  CHECK(body.find("\\<script\\>") != std::string::npos);
  CHECK(body.find("Normal \\| again") != std::string::npos);
}

TEST_CASE("Unchanged environments are said to be so, unknown ones too") {
  ReportInput input = redundant_check();
  CHECK(render_issue(input).body.find("\nNone: both ends ran") != std::string::npos);
  input.differences.reset();
  CHECK(render_issue(input).body.find("\nNot known:") != std::string::npos);
  CHECK(render_issue(leak()).body.find("| numpy | not installed | 2.3.1 |") != std::string::npos);
}

TEST_CASE("A wheel that changed it by itself is told with what differs, and blames no commit") {
  ReportInput input = redundant_check();
  input.culprit.reset();
  input.rule = "the wheel changed it, and the source did not";
  Attribution& whose = input.attribution.emplace();
  whose.cause = Cause::wheel;
  whose.source = {1, .99, 1.01};
  whose.wheel = Part{1.23, 1.21, 1.25};
  input.wheel_differences = {"compilers of the new wheel only: GCC: (GNU) 14.2.0"};
  const RenderedIssue issue = render_issue(input);
  CHECK(count(issue.title, " with the wheel of ") == 1);
  CHECK(count(issue.body, "the wheel changed it, not a commit") == 1);
  CHECK(count(issue.body, "\n- Reason: the wheel changed it, and the source did not\n") == 1);
  CHECK(count(issue.body, "the builder's image, its compiler, its flags") == 1);
  CHECK(count(issue.body, "torch.__config__.show()") == 1);
  CHECK(count(issue.body, "The source changes it by +0.0 %") == 1);
  CHECK(count(issue.body, "\n- compilers of the new wheel only: GCC") == 1);
  CHECK(count(issue.body, "revert") == 0);
  input.package = "torch_scatter";
  CHECK(count(render_issue(input).body, "torch.__config__.show()") == 0);
  input.wheel_differences.clear();
  CHECK(count(render_issue(input).body, "The wheels tell no difference") == 1);
  input.culprit = redundant_check().culprit;
  input.attribution->cause = Cause::source;
  CHECK(count(render_issue(input).body, "## The source or the wheel?") == 1);
  CHECK(count(render_issue(input).body, "The wheels tell no difference") == 0);
}

TEST_CASE("An issue about another project's build says how to measure it beside a PyTorch") {
  ReportInput input = redundant_check();
  input.package = "torch_scatter";
  input.differences = std::vector<ReportDifference>{};
  const std::string body = render_issue(input).body;
  CHECK(count(body, "-m pip install --quiet --no-deps --force-reinstall ") == 2);
  CHECK(count(body, "--commands \"$COMMANDS\"") == 2);
  CHECK(count(body, "only torch_scatter itself differs") == 1);
  CHECK(count(body, "torch/*.py") == 0);  // files of PyTorch's repository
  input.bad.wheel.clear();
  CHECK(count(render_issue(input).body, "addresses are not known any more") == 1);
}

TEST_CASE("A leak's slope is shown as a difference, for its ratio has no meaning") {
  const std::string body = render_issue(leak()).body;
  CHECK(body.find("| leaked memory | 0.000 MiB/iteration | 1.200 MiB/iteration | "
                  "+1.200 MiB/iteration | – |") != std::string::npos);
}

TEST_CASE("Where no interval was estimated none is shown") {
  ReportInput input = redundant_check();
  input.series = {input.series[0]};
  input.series[0].low = input.series[0].high = input.series[0].ratio;
  input.culprit->low = input.culprit->high = input.culprit->ratio;
  const std::string body = render_issue(input).body;
  CHECK(first_line(body).find("(410.3 µs → 504.7 µs side by side) since") != std::string::npos);
  CHECK(body.find("| +23 % | – |") != std::string::npos);
}

TEST_CASE("A body over the limit loses the rows farthest from the culprit and says so") {
  ReportInput input = redundant_check();
  const ReportTested culprit = input.tested[3];
  input.tested.clear();
  for (int i = 0; i < 600; ++i) {
    std::string hex = std::to_string(100000 + i);
    ReportTested one{*CommitSha::parse(hex + std::string(34, '0')), std::string(90, 'x'), 3, 1.0,
                     ""};
    input.tested.push_back(i == 500 ? culprit : one);
  }
  const std::string body = render_issue(input).body;
  CHECK(body.size() <= issue_body_limit);
  CHECK(body.size() > issue_body_limit / 2);
  CHECK(body.find("**+23 %** (culprit)") != std::string::npos);
  CHECK(body.find("`100501000000`") != std::string::npos);
  CHECK(body.find("`100000000000`") == std::string::npos);
  CHECK(body.find("farther from the culprit, are left out") != std::string::npos);
  CHECK(body.find(marker_of(issue_key(input.fingerprint))) != std::string::npos);
}

TEST_CASE("A body with hundreds of everything still fits") {
  ReportInput input = leak();
  for (int i = 0; i < 400; ++i) {
    input.series.push_back(input.series[0]);
    input.culprit->commits.push_back(input.culprit->commits[0]);
    input.differences->push_back(
        {std::string(80, 'p'), std::string(80, '1'), std::string(80, '2')});
  }
  const std::string body = render_issue(input).body;
  CHECK(body.size() <= issue_body_limit);
  CHECK(count(body, "left out here") >= 2);
  CHECK(body.find(marker_of(issue_key(input.fingerprint))) != std::string::npos);
}

TEST_CASE("Series of a night that joined before the issue stand beside those of its own night") {
  ReportInput input = redundant_check();
  CHECK(render_issue(input).body.find("## Where else") == std::string::npos);
  input.beside = {{"latency", "2.15.0.dev20260820+cu130", worse_too(2), 3}};
  const std::string body = render_issue(input).body;
  CHECK(body.find("## Where else it was looked for\n\n- Worse too in latency with "
                  "`2.15.0.dev20260820+cu130`, and not measured side by side (2): "
                  "`python/model0/eval/cpu/fp32/b1/eager` +10 %, "
                  "`python/model1/eval/cpu/fp32/b1/eager` +10 %\n- Unclear, because the change is "
                  "below the threshold: 3\n") != std::string::npos);
  input.extent.worse = worse_too(1);
  CHECK(count(render_issue(input).body, "Worse too") == 2);
}

TEST_CASE("A long list of what got worse is folded up, and names every series") {
  ReportInput input = redundant_check();
  input.extent.worse = worse_too(120);
  const std::string body = render_issue(input).body;
  CHECK(body.find("(120): model0 (2), model1 (2), ") != std::string::npos);
  CHECK(body.find("<details><summary>Their names</summary>\n\n`python/model0/") !=
        std::string::npos);
  for (const ReportExtent::Other& one : input.extent.worse) {
    INFO(one.workload);
    CHECK(count(body, "`" + one.workload + "`") == 1);
  }
}

TEST_CASE("Affected series that find no room one by one are counted by model") {
  ReportInput input = redundant_check();
  const std::vector<ReportExtent::Other> many = worse_too(1500);
  for (const ReportExtent::Other& one : many) {
    ReportSeries& added = input.series.emplace_back(input.series[1]);
    added.workload = one.workload;
  }
  input.extent.worse = many;
  JoinedComment comment;
  comment.groups.resize(1);
  comment.groups[0].versions = {"2.15"};
  comment.groups[0].series = input.series;
  comment.groups[0].beside = {{"latency", "", many}};
  struct Text {
    std::string body;
    std::size_t limit;
  };
  for (const Text& text : {Text{render_issue(input).body, issue_body_limit},
                           Text{render_joined_comment(comment), comment_limit}}) {
    CHECK(text.body.size() <= text.limit);
    CHECK(text.body.size() > text.limit / 2);
    CHECK(text.body.find("(1500): model0 (25), ") != std::string::npos);
    const auto counted = text.body.find("more series find no room here, by model: model0 (");
    REQUIRE(counted != std::string::npos);
    const std::string line = text.body.substr(counted, text.body.find('\n', counted) - counted);
    for (int model = 0; model < 60; ++model)
      CHECK(line.find("model" + std::to_string(model) + " (") != std::string::npos);
  }
}

TEST_CASE("An issue without series is refused") {
  ReportInput input = redundant_check();
  input.series.clear();
  CHECK_THROWS_AS(render_issue(input), std::invalid_argument);
}

TEST_CASE("A later night's comment reads as its golden file") {
  const ReportInput input = redundant_check();
  const std::string text = render_night_comment({input.fingerprint,
                                                 "2.15.0.dev20260821+cpu",
                                                 sha('3'),
                                                 "2026-08-21",
                                                 {input.series[0]},
                                                 NightChange::grew,
                                                 3});
  CHECK(text == golden("night.md", text));
  CHECK(text.find(marker_of(night_key(input.fingerprint, "2.15.0.dev20260821+cpu"))) !=
        std::string::npos);
}

TEST_CASE("A comment about classes that join an issue about a failure reads as its golden file") {
  const auto failing = [](const std::string& model) {
    return "python/" + model + "/eval/cuda/fp32/b4/eager";
  };
  JoinedGroup group;
  group.findings = 3;
  group.versions = {"2.15.0.dev20260821+cu130"};
  for (const char* model : {"bert", "dlrm", "unet"})
    group.series.push_back({failing(model), std::string(failures_metric), 1, failed_value,
                            failed_value, 1, 2, "machine class 2"});
  group.series.back().machine = "machine class 3";
  ReportBeside& beside = group.beside.emplace_back();
  for (const char* model : {"gpt2", "vgg16"})
    beside.worse.push_back({failing(model), MachineId{2}, failed_value});
  beside.metric = failures_metric;
  const std::string text = render_joined_comment(
      {{group}, {"machine class 2 (EPYC 7763) with NVIDIA A100", "machine class 3 (Xeon)"}, ""});
  CHECK(text == golden("joined.md", text));
  for (const char* model : {"bert", "dlrm", "unet", "gpt2", "vgg16"})
    CHECK(count(text, "`" + failing(model) + "`") == 1);
}

TEST_CASE("A comment tells findings with different reasons one by one, as its golden file has it") {
  const ReportInput input = redundant_check();
  JoinedGroup two;
  two.unattributed = "the budget of minutes is spent: 10 minutes of measuring";
  two.findings = 2;
  two.versions = {"2.15.0.dev20260820+cpu", "2.15.0.dev20260821+cpu", "2.15.0.dev20260821+cu130"};
  two.date = "2026-08-21";
  two.series = input.series;
  two.beside = {{"latency", "2.15.0.dev20260820+cpu", worse_too(1), 0},
                {"peak_cpu_memory", "2.15.0.dev20260821+cpu", worse_too(2), 1}};
  JoinedGroup pinned;
  pinned.unattributed = "the packages changed it: jinja2 3.1.6 made it worse";
  pinned.versions = {"2.15.0.dev20260822+cpu", "2.15.0.dev20260822+cu130"};
  pinned.date = "2026-08-22";
  pinned.series = {input.series[0]};
  pinned.pins = {{commit('9', "Move the pin (#61101)", "Jane Doe"), "requirements.txt"}};
  const std::string text =
      render_joined_comment({{two, pinned}, {"machine class 4"}, input.repository});
  CHECK(text == golden("joined_unattributed.md", text));
  CHECK(count(text, "Where the pin moved") == 1);
  CHECK(count(text, "New machine class: machine class 4.") == 1);
}

TEST_CASE("A recovery's comment reads as its golden file") {
  const ReportInput input = redundant_check();
  const std::string text = render_recovered_comment(
      {input.fingerprint,
       3,
       "2.15.0.dev20260822+cpu",
       sha('4'),
       input.repository,
       {commit('9', "Check once (#61101)", "Jane Doe")},
       {{input.series[0].workload, "latency", 4.103e-4, 4.09e-4, .997, .985, 1.008}},
       0});
  CHECK(text == golden("recovered.md", text));
}

TEST_CASE("A recovery by one of several commits lists them") {
  const std::string text =
      render_recovered_comment({"00",
                                3,
                                "v",
                                std::nullopt,
                                "/srv/mirror",
                                {commit('8', "One", "A"), commit('9', "Two", "B")},
                                {},
                                .9971});
  CHECK(text.find("one of these 2 commits, which a search named with probability 99.7 %:") !=
        std::string::npos);
  CHECK(text.find("- `999999999999` “Two” by B") != std::string::npos);
}

TEST_CASE("Several small steps are contributors, and the first line says that none is large") {
  ReportInput input = redundant_check();
  const ReportCommit first = commit('b', "Check arguments (#61056)", "Jane Doe");
  const ReportCommit second = commit('d', "Copy the mask", "John Roe");
  input.contributors = {{{first}, .995, 1.041, 1.03, 1.052}, {{second}, .992, 1.039, 1.028, 1.05}};
  input.culprit->commits = {first, second};
  input.search_threshold = .08;
  const RenderedIssue issue = render_issue(input);
  CHECK(issue.title.ends_with("since bbbbbbbbbbbb and 1 more together"));
  const std::string line = first_line(issue.body);
  CHECK(line.find("no single commit reaches the threshold of 8 %, but these 2 together do") !=
        std::string::npos);
  CHECK(line.find("/commit/bbbb") != std::string::npos);
  CHECK(line.find("/commit/dddd") != std::string::npos);
  CHECK(line.find("cannot be told apart") == std::string::npos);
  CHECK(issue.body.find("## Contributors") != std::string::npos);
  CHECK(issue.body.find("John Roe") != std::string::npos);
}
