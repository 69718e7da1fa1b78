#include "service/builds/ci/ci_rung.hpp"

#include <algorithm>
#include <stdexcept>

#include "service/builds/ci/conclusion.hpp"
#include "service/builds/ci/remote_zip.hpp"
#include "service/builds/ci/trouble.hpp"
#include "service/builds/needs.hpp"
#include "service/builds/wheel.hpp"
#include "service/builds/wheel_name.hpp"
#include "web/text.hpp"

namespace nightjar::service::ci {

namespace {

// Between the URL of an archive and the name of its member.
constexpr std::string_view member_mark = "!/";

// "https://…/artifacts.zip!/dist/torch-….whl"; '+' is encoded as in every URL of a wheel.
std::string wheel_url(const std::string& zip_url, const std::string& member) {
  std::string url = zip_url + std::string(member_mark);
  for (const char c : member) url += c == '+' ? "%2B" : std::string(1, c);
  return url;
}

// Removes a download that was not taken over.
struct Download {
  std::filesystem::path path;
  ~Download() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

// Nobody's secret is read for a place that is not asked.
std::string token_of(const Config::Ci& ci) {
  return ci.environments.empty() ? "" : read_secret(github_token_variable, ci.token_file);
}

ZipLimits limits_of(const Config::Ci& ci) {
  ZipLimits limits;
  limits.member_bytes = ci.wheel_bytes;
  return limits;
}

}  // namespace

struct CiRung::Look {
  CiLookup lookup;
  Sight sight = {};
  std::optional<Build> build = {};

  void note(const std::string& line) { lookup.looked_at += line + "\n"; }
};

CiRung::CiRung(const Config& config, const Config::Source& source, git::CommitGraph& graph,
               Artifacts& artifacts, NativeStateOf native_state, const Clock& clock,
               std::stop_token stop)
    : config_(config),
      source_(source),
      graph_(graph),
      artifacts_(artifacts),
      native_state_(std::move(native_state)),
      clock_(clock),
      bucket_(client_, source.ci.bucket),
      runs_(client_, source.ci.api, source.ci.repository, token_of(source.ci), clock) {
  client_.stop_with(std::move(stop));
}

Finding CiRung::look(CiLookup wanted) {
  Look look{std::move(wanted)};
  look.lookup.looked_at_time = clock_.now();
  look.lookup.state = CiLookupState::wanted;  // what an earlier look found may be gone
  look.lookup.looked_at.clear();
  try {
    const std::vector<Candidate> candidates = list_candidates(look);
    const bool done =
        std::any_of(candidates.begin(), candidates.end(),
                    [&](const Candidate& candidate) { return try_candidate(candidate, look); });
    if (!done) look.lookup = after_full_look(std::move(look.lookup), look.sight, clock_.now());
  } catch (const Unanswered& none) {
    look.lookup = after_no_answer(std::move(look.lookup), none.what(), none.wait, clock_.now());
  } catch (const std::exception& error) {  // the disk, git's remote
    look.lookup = after_no_answer(std::move(look.lookup), error.what(), {}, clock_.now());
  }
  return {std::move(look.lookup), std::move(look.build)};
}

std::vector<Candidate> CiRung::list_candidates(Look& look) {
  const Config::Ci& ci = source_.ci;
  const CommitSha& commit = look.lookup.commit;
  auto known = graph_.find(commit);
  if (!known) {
    graph_.fetch();
    known = graph_.find(commit);
  }
  if (known)
    look.sight.commit_age =
        std::chrono::duration_cast<std::chrono::seconds>(clock_.now() - known->committed_at);
  const std::vector<WorkflowRun> runs = runs_.runs_of(commit);
  look.sight.runs = static_cast<int>(runs.size());
  look.note(ci.api.text() + "/repos/" + ci.repository + "/actions/runs?head_sha=" + commit.str() +
            ": " + std::to_string(runs.size()) + " runs");
  std::vector<Candidate> found;
  for (const WorkflowRun& run : runs) {
    if (!run.finished()) ++look.sight.unfinished_runs;
    const std::vector<ListedObject> listed = bucket_.list(prefix_of(ci.repository, run.id));
    const auto fitting = candidates(ci.repository, run.id, listed, ci.environments);
    found.insert(found.end(), fitting.begin(), fitting.end());
    look.note(ci.bucket.text() + "/" + prefix_of(ci.repository, run.id) + ": " +
              std::to_string(listed.size()) + " objects, " + std::to_string(fitting.size()) +
              " of the configured environments" + (run.finished() ? "" : "; the run goes on"));
  }
  return found;
}

// True if the look is over: the wheel is there.
bool CiRung::try_candidate(const Candidate& candidate, Look& look) {
  try {
    const RemoteObject object = bucket_.head(candidate.key);
    RemoteZip zip(client_, object, limits_of(source_.ci));
    const auto count = [&] {
      look.lookup.bytes += static_cast<std::int64_t>(zip.bytes_read());
      look.note(object.url + ": read " + std::to_string(zip.bytes_read()) + " of " +
                std::to_string(object.size_bytes) + " bytes");
    };
    try {
      const std::vector<ZipMember> wheels = zip.members(is_wheel);
      const MemberChoice choice =
          choose_member(wheels, {"torch", source_.python_tag, look.lookup.commit});
      if (!choice.member)
        look.sight.missing.push_back(candidate.key + ": " + choice.reason);
      else
        fetch(zip, object.url, *choice.member, look);
    } catch (...) {
      count();
      throw;
    }
    count();
  } catch (const Gone& gone) {
    look.sight.gone.push_back(gone.what());
  } catch (const Unusable& unusable) {
    look.sight.refused.push_back(candidate.key + ": " + unusable.what());
  } catch (const BadWheel& bad) {
    look.sight.refused.push_back(candidate.key + ": its wheel is unusable: " + bad.what());
  }
  return look.lookup.state == CiLookupState::found || look.lookup.state == CiLookupState::fetched;
}

void CiRung::fetch(RemoteZip& zip, const std::string& zip_url, const ZipMember& member,
                   Look& look) {
  const std::string url = wheel_url(zip_url, member.name);
  CiLookup& lookup = look.lookup;
  const auto settle = [&](CiLookupState state) {
    lookup.state = state;
    lookup.reason = url;
    lookup.failures = 0;
    lookup.retry_at.reset();
  };
  if (!lookup.fetch) return settle(CiLookupState::found);
  const Download download{artifacts_.temporary()};
  const WheelName name = *parse_wheel_name(file_name_of(url));
  Build build;
  build.kind = BuildKind::ci;
  build.version = name.version.text;
  build.variant = lookup.variant;
  build.url = url;
  build.found_at = clock_.now();
  build.sha256 = zip.fetch(member, download.path);
  const WheelFacts facts = read_wheel(download.path, config_.project.version_file, true);
  const auto verdict =
      prove_ci(build, lookup.commit, facts, graph_, config_.repository, native_state_);
  if (const auto* unproved = std::get_if<Unproved>(&verdict)) {
    if (unproved->state == BuildState::unusable) throw BadWheel(unproved->reason);
    throw Unusable(unproved->reason);
  }
  build.commit = std::get<Proved>(verdict).commit;
  build.nightly_commit = std::get<Proved>(verdict).git_version;
  build.needs = needs_of(download.path, name, facts);
  build.state = BuildState::proved;
  artifacts_.add(download.path);
  look.build = std::move(build);
  settle(CiLookupState::fetched);
}

void CiRung::restore(const Build& build) {
  if (!build.sha256 || artifacts_.path(*build.sha256)) return;
  const auto mark = build.url.find(member_mark);
  if (mark == std::string::npos)
    throw std::runtime_error(build.url + " names no member of an archive");
  const auto wanted = web::percent_decode(build.url.substr(mark + member_mark.size()));
  RemoteZip zip(client_, bucket_.head_at(build.url.substr(0, mark)), limits_of(source_.ci));
  const Download download{artifacts_.temporary()};
  for (const ZipMember& member : zip.members(is_wheel)) {
    if (member.name != wanted) continue;
    if (zip.fetch(member, download.path) != *build.sha256)
      throw std::runtime_error(build.url + " is not the same as when it was proved");
    artifacts_.add(download.path);
    return;
  }
  throw std::runtime_error(build.url + " is not in its archive any more");
}

}  // namespace nightjar::service::ci
