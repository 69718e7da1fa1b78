#include "service/daemon.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <csignal>
#include <cstdio>
#include <utility>

#include "bisect/git/repository.hpp"
#include "service/api/api.hpp"
#include "service/api/tokens.hpp"
#include "service/builds/artifacts.hpp"
#include "service/builds/build_source.hpp"
#include "service/builds/ci/ci_plan.hpp"
#include "service/builds/ci/ci_rung.hpp"
#include "service/builds/discovery.hpp"
#include "service/builds/native_state.hpp"
#include "service/builds/package_mixes.hpp"
#include "service/builds/provenance.hpp"
#include "service/builds/source_rung.hpp"
#include "service/clock_steps.hpp"
#include "service/engine/engine.hpp"
#include "service/engine/obstacles.hpp"
#include "service/report/dry_run_tracker.hpp"
#include "service/report/github_tracker.hpp"
#include "service/report/outbox.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"
#include "storage/base/redaction.hpp"
#include "storage/builds.hpp"
#include "storage/ci_lookups.hpp"
#include "storage/jobs.hpp"
#include "storage/model/json.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/provenance.hpp"
#include "storage/regressions.hpp"
#include "storage/trouble.hpp"
#include "web/credentials.hpp"
#include "web/secret.hpp"
#include "web/server/server.hpp"

namespace nightjar::service {
namespace asio = boost::asio;
namespace {

constexpr std::chrono::seconds progress_every{10};  // a line in the log
constexpr std::chrono::milliseconds tick_time{50};  // then requests get their turn
constexpr int most_parts = 40;  // of a tick's work, until the timer comes again or all ends

std::unique_ptr<IssueTracker> make_tracker(const Config& config, const Clock& clock) {
  if (config.report.tracker != "github")
    return std::make_unique<DryRunTracker>(config.report.directory);
  GithubConfig github;
  github.api = config.report.api;
  github.repository = config.report.repository;
  github.token_file = config.report.token_file;
  if (!config.report.labels.empty()) github.label = config.report.labels.front();
  return std::make_unique<GithubTracker>(std::move(github), clock);
}

std::filesystem::path copy_of_repository(const Config& config) {
  return config.service.data / "repository.git";
}

// What the markers of issues are made with; one for each database, drawn at its first start.
std::string issue_secret(storage::Database& db) {
  constexpr std::string_view name = "issue secret";
  const auto known = storage::get_note(db, name);
  const std::string secret = known ? *known : web::random_token();
  keep_secret(secret);
  if (!known)
    storage::write(db, [&](storage::Transaction& transaction) {
      storage::set_note(transaction, name, secret);
    });
  return secret;
}

git::RepositoryOptions repository_options(const Config& config) {
  git::RepositoryOptions options;
  options.url = config.repository.url;
  options.login = git_login(config.repository);
  options.path = copy_of_repository(config);
  options.branches = {config.repository.main, config.repository.nightly};
  options.limits = {config.repository.fetch_timeout, config.repository.fetch_stall_timeout};
  options.most_bytes = config.repository.most_bytes;
  options.progress = [said =
                          std::chrono::steady_clock::time_point()](std::string_view line) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (line.find('%') == line.npos) return;
    if (now - said < progress_every) return;
    said = now;
    log::info("fetching progress=\"{}\"", line);
  };
  return options;
}

// Reads the commit graph and keeps what it hashed: one for each thread.
NativeStateOf native_state_by(const git::CommitGraph& graph, const Project& project) {
  return [states = std::make_shared<NativeStates>(graph, project)](const CommitSha& commit) {
    const auto state = states->of(commit);
    return state ? std::optional(state->native) : std::nullopt;
  };
}

std::uint64_t artifact_bytes(const Config& config) {
  std::uint64_t bytes = 0;
  for (const Config::Source* source : sources_of(config)) bytes += source->artifact_bytes;
  return bytes;
}

Config with_local_token(Config config, const std::string& token) {
  config.tokens.push_back({"local-runner", web::Role::runner, web::sha256(token).str()});
  return config;
}

}  // namespace

std::filesystem::path database_file(const Config& config) {
  return config.service.data / "nightjar.sqlite";
}

FileLock lock_data(const Config& config) {
  FileLock lock = lock_folder(config.service.data, "nightjard.lock",
                              "stop that one, or let [service] data name another folder");
  // An earlier version, or whoever copied them, may have left them open.
  const std::string database = database_file(config).string();
  for (const std::string& path :
       {config.service.data.string(), database, database + "-wal", database + "-shm"})
    if (!close_to_others(path))
      log::warn("others may read path={}; only its owner can change that", path);
  return lock;
}

struct Daemon::Impl {
  explicit Impl(Config given)
      : local_token(web::random_token()),
        config(with_local_token(std::move(given), local_token)),
        lock(lock_data(config)),
        db(storage::Database::open_writer(database_file(config))),
        artifacts(config.service.data / "artifacts", artifact_bytes(config), clock),
        graph(repository_options(config)),
        tracker(make_tracker(config, clock)),
        places(make_places()),
        sender(*tracker, config.report.labels, clock, issue_secret(db), config.chat,
               config.exported),
        context{db,
                graph,
                artifacts,
                config,
                clock,
                [this](std::string_view event, const std::string& json) {
                  events.publish(event, json);
                }},
        tick_timer(io),
        poll_timer(io),
        signals(io, SIGTERM, SIGINT),
        api(config, clock, db, database_file(config), graph, artifacts, events, io.get_executor(),
            writer.get_executor(), readers.get_executor(), intake.get_executor(),
            [this] { wake(); }),
        tokens(config, clock),
        server(io, api::server_config(config, tokens)) {
    context.importing = &api.importing;
    api::add_routes(server, api, tokens);
    guarded("look at the queue", [this] { storage::write(db, storage::forget_unclaimable); });
  }

  // A configured source, and what finds its builds.
  struct Place {
    const Config::Source* configured;
    std::unique_ptr<BuildSource> source;
    std::unique_ptr<Discovery> discovery;
    std::unique_ptr<ci::CiRung> ci;
  };

  std::vector<Place> make_places() {
    std::vector<Place> made;
    for (const Config::Source* one : sources_of(config)) {
      Place& place = made.emplace_back();
      place.configured = one;
      place.source = make_source(*one, config.project.package, stopping.get_token());
      place.discovery = std::make_unique<Discovery>(*place.source, graph, artifacts, config, clock,
                                                    one, stopping.get_token());
      place.ci = std::make_unique<ci::CiRung>(config, *one, graph, artifacts,
                                              native_state_by(graph, config.project), clock,
                                              stopping.get_token());
    }
    return made;
  }

  // A variant that is no longer configured is looked for at the first source.
  Place& place_of(const std::string& variant) {
    for (Place& place : places)
      if (place.configured->variant == variant) return place;
    return places.front();
  }

  // ---- writer thread

  // Runs a step. If it fails, logs that once; the next tick tries again, and the daemon goes on.
  // False if it failed.
  template <class Act>
  bool guarded(const char* what, Act act) {
    try {
      act();
      context.complaints.works(what);
      return true;
    } catch (const std::exception& error) {
      context.complaints.fails(what, error.what());
      return false;
    }
  }

  void on_tick() {
    waking = false;
    if (!is_damaged()) {
      // Leases must not end because somebody set the clock.
      const bool follows = guarded("clock", [this] { follow_clock(); });
      if (follows) {
        const Ticked ticked = tick(context, surveyed, tick_time);
        if (ticked.changed) log::debug("tick changed rows");
        if (ticked.is_part && ++parts < most_parts) wake();
      }
      guarded("pin artifacts", [this] { pin_artifacts(context); });
      guarded("write again", [this] { write_again(); });
    }
    guarded("look after the repository", [this] { look_after_repository(); });
    guarded("look around", [this] { look_around(); });
    api.heartbeat.beat(std::chrono::steady_clock::now());
    if (is_damaged()) return;
    api.claims.notify();
    guarded("send", [this] { send_next(); });
    guarded("look at CI", [this] { look_at_ci(); });
    guarded("look at packages", [this] { look_at_packages(); });
    guarded("prove", [this] { prove_next(); });
    guarded("look at wheels", [this] { look_at_wheels(); });
    guarded("night waits", [this] {
      const bool asked = night_waits();
      if (asked && !asked_before) look();
      asked_before = asked;
    });
  }

  void follow_clock() {
    const auto step = clock_follower.follow(db, clock.now(), std::chrono::steady_clock::now());
    if (step)
      log::warn("the clock was set seconds={}",
                std::chrono::duration_cast<std::chrono::seconds>(*step).count());
  }

  bool is_damaged() const {
    const auto trouble = storage::trouble_of(db);
    return trouble && trouble->damaged;
  }

  // After a failed write a small one is tried, so that it shows when the disk has room again.
  void write_again() {
    const auto trouble = storage::trouble_of(db);
    if (!trouble) api.complaints.works("requests");
    if (!trouble || trouble->damaged) return;
    storage::Transaction transaction(db);
    storage::set_note(transaction, "write-again", to_rfc3339(clock.now()));
    transaction.commit();
  }

  // What stops nights is logged when it begins and when it is over.
  void look_around() {
    const std::string database = api::database_check(api);
    around.database = database == "ok" ? "" : database;
    // Without the number of bytes that are left: it changes all the time.
    around.disk = api::disk_check(api) == "ok" ? ""
                                               : "there is too little space in " +
                                                     config.service.data.string() + "; free some";
    around.failing = context.complaints.current();
    std::optional<NightFacts> facts;
    if (around.database.empty()) facts = night_facts(context);
    const auto now = find_obstacles(around, facts, config), before = api.obstacles.get();
    for (const Obstacle& one : now)
      if (std::find(before.begin(), before.end(), one) == before.end())
        log::warn("{} kind={} reason=\"{}\"",
                  one.kind == ObstacleKind::report ? "a report is not filed" : "no night can start",
                  name_of(one.kind), one.reason);
    if (now.empty() && !before.empty()) log::info("nights can start again");
    api.obstacles.set(now);
  }

  // Discovery fetches when the next build is listed. Searches cannot wait until then.
  void look_after_repository() {
    if (is_damaged() || fetching) return;
    if (!has_lost_history(context)) return around.history.clear();
    const auto now = std::chrono::steady_clock::now();
    if (around.history.empty()) fetch_next = now;
    around.history = "the copy of the repository in " + copy_of_repository(config).string() +
                     " was lost; it is fetched again, and searches wait for it" +
                     (fetch_failure.empty() ? "" : ". The last try failed: " + fetch_failure);
    if (now < fetch_next) return;
    fetch_next = now + config.source.poll;
    fetching = true;
    asio::post(worker, [this] {
      std::string failure;
      try {
        graph.fetch();
      } catch (const std::exception& error) {
        failure = error.what();
      }
      asio::post(writer, [this, failure] {
        fetching = false;
        fetch_failure = failure;
        if (failure.empty()) log::info("the repository's copy is here again");
        wake();
      });
    });
  }

  // A night that waits wants the source read now, not at the next poll.
  bool night_waits() {
    for (const Night& night : storage::open_nights(db))
      if (night.state == NightState::waiting) return true;
    return false;
  }

  void look() {
    if (looking) return;
    std::vector<Known> known;
    for (const Place& place : places) known.push_back(place.discovery->known(db));
    auto lost = missing_wheels(context);
    looking = true;
    asio::post(worker, [this, known = std::move(known), lost = std::move(lost)] {
      for (const Build& build : lost) restore(build);
      std::vector<Survey> surveys;
      for (std::size_t i = 0; i < places.size(); ++i)
        surveys.push_back(places[i].discovery->survey(known[i]));
      asio::post(writer, [this, surveys = std::move(surveys)] { take(surveys); });
    });
  }

  void take(const std::vector<Survey>& surveys) {
    looking = false;
    guarded("take builds", [&] {
      std::vector<std::string> problems;
      std::string failures;
      bool more = false;
      for (const Survey& survey : surveys) {
        problems.insert(problems.end(), survey.problems.begin(), survey.problems.end());
        if (!survey.source_failure.empty())
          failures += (failures.empty() ? "" : "; ") + survey.source_failure;
        if (!survey.repository_failure.empty()) around.repository = survey.repository_failure;
        more |= survey.more;
      }
      if (std::all_of(surveys.begin(), surveys.end(),
                      [](const Survey& one) { return one.repository_failure.empty(); }))
        around.repository.clear();
      report_problems(problems);
      around.source = failures;
      for (std::size_t i = 0; i < surveys.size(); ++i) {
        const Changes changes = places[i].discovery->apply(db, surveys[i]);
        for (const Build& build : changes.found) announce(build);
        if (changes.settled) announce(*changes.settled);
      }
      // Proving may take several looks: nights are given builds when nothing waits any more.
      if (!more) surveyed = around.surveyed = true;
      if (more) look();
    });
    wake();
  }

  // One commit's wheel at a time, so that nightlies are looked for in between.
  void look_at_ci() {
    if (looking_at_ci || !surveyed) return;
    const bool is_mirrored = clock.now() >= mirror_next;
    if (is_mirrored) mirror_next = clock.now() + config.source.poll;
    std::vector<std::string> variants;
    for (const Place& place : places) {
      const Config::Source& source = *place.configured;
      if (source.ci.environments.empty()) continue;
      variants.push_back(source.variant);
      ci::plan_for_searches(db, graph, config, source, native_state, clock);
      if (is_mirrored) ci::plan_for_mirror(db, graph, config, source, native_state, clock);
    }
    if (variants.empty()) return;
    const auto next = storage::next_ci_lookup(db, variants, clock.now());
    if (!next) return;
    looking_at_ci = true;
    asio::post(worker, [this, wanted = *next] {
      auto finding = place_of(wanted.variant).ci->look(wanted);
      asio::post(writer, [this, finding = std::move(finding)] { take_ci(finding); });
    });
  }

  void take_ci(const ci::Finding& finding) {
    looking_at_ci = false;
    guarded("take a wheel of CI", [&] {
      const auto build = storage::write(
          db, [&](storage::Transaction& transaction) { return ci::apply(transaction, finding); });
      const CiLookup& lookup = finding.lookup;
      log::info("ci wheel commit={} state={} bytes={} reason=\"{}\"", lookup.commit.brief(),
                name_of(lookup.state), lookup.bytes, lookup.reason);
      if (build) announce(*build);
      wake();  // not after a failure: the next tick is soon enough
    });
  }

  // What a search among packages asks of the indexes, one question at a time.
  void look_at_packages() {
    if (looking_at_packages || config.environment.indexes.empty()) return;
    const auto next = next_package_task(db, clock.now());
    if (!next) return;
    looking_at_packages = true;
    asio::post(worker, [this, task = *next] {
      auto finding = service::look(task, config.environment, stopping.get_token());
      asio::post(writer, [this, finding = std::move(finding)] { take_packages(finding); });
    });
  }

  void take_packages(const PackageFinding& finding) {
    looking_at_packages = false;
    guarded("take packages", [&] {
      storage::write(
          db, [&](storage::Transaction& transaction) { apply(transaction, finding, clock.now()); });
      if (!finding.failure.empty())
        log::warn("packages not resolved search={} reason=\"{}\"", finding.task.search.value,
                  finding.failure);
      wake();
    });
  }

  // Once, not at each poll; and once when all is well again.
  void report_problems(const std::vector<std::string>& problems) {
    if (problems == problems_before) return;
    for (const std::string& problem : problems) log::warn("source problem={}", problem);
    if (problems.empty()) log::info("source problem=none any more");
    problems_before = problems;
  }

  void announce(const Build& build) {
    log::info("build version={} state={} reason={}", build.version, name_of(build.state),
              build.reason);
    events.publish("build", nlohmann::json{{"id", build.id.value},
                                           {"version", build.version},
                                           {"state", name_of(build.state)},
                                           {"reason", build.reason}}
                                .dump());
  }

  // Reads a wheel of some hundred megabytes, so another thread does it.
  void prove_next() {
    const auto asked = proving ? std::nullopt : next_to_prove(db);
    if (!asked) return;
    const auto wheel = artifacts.path(*asked->build.sha256);
    if (!wheel) {
      Build lost = asked->build;
      lost.state = BuildState::unproved;
      lost.reason = "its wheel is not here any more";
      return take_proved(lost);
    }
    proving = true;
    asio::post(worker, [this, asked = *asked, wheel = *wheel] {
      std::optional<Build> proved;
      std::string failure;
      try {
        if (!graph.find(asked.commit)) graph.fetch();
        proved = prove_from_source(asked, wheel, graph, config.project);
      } catch (const std::exception& error) {
        failure = error.what();
      }
      asio::post(writer, [this, proved = std::move(proved), failure] {
        proving = false;
        guarded("prove a wheel", [&] {
          if (!proved) throw std::runtime_error(failure);
          take_proved(*proved);
        });
      });
    });
  }

  void take_proved(const Build& build) {
    storage::write(
        db, [&](storage::Transaction& transaction) { storage::update_build(transaction, build); });
    announce(build);
    wake();
  }

  // How each wheel was made, one at a time: reading one takes seconds.
  void look_at_wheels() {
    if (looking_at_wheel) return;
    for (const Build& wheel : storage::builds_without_provenance(db)) {
      const auto file = artifacts.find(*wheel.sha256);
      if (!file) continue;  // it is read if it ever comes back
      looking_at_wheel = true;
      asio::post(worker, [this, wheel, file = *file] {
        auto found = read_provenance(wheel, file, graph, config.project);
        asio::post(writer, [this, found = std::move(found)] { take_provenance(found); });
      });
      return;
    }
  }

  void take_provenance(const Provenance& found) {
    looking_at_wheel = false;
    if (!artifacts.holds(found.wheel)) return;  // it was evicted while it was read
    guarded("take how a wheel was made", [&] {
      storage::write(db, [&](storage::Transaction& transaction) {
        storage::add_provenance(transaction, found);
      });
      if (!found.trouble.empty())
        log::warn("wheel not read sha256={} reason=\"{}\"", found.wheel.brief(), found.trouble);
      wake();
    });
  }

  void send_next() {
    if (sending) return;
    if (unrecorded) return record();
    const auto due = next_due(db, clock.now());
    if (!due) return;
    storage::write(db, [&](storage::Transaction& transaction) {
      note_attempt(transaction, due->message, sender, clock.now());
    });
    sending = true;
    asio::post(mailer, [this, due = *due] {
      Sent sent = sender.send(due.message, due.issue);
      asio::post(writer, [this, message = due.message, sent = std::move(sent)]() mutable {
        sending = false;
        unrecorded.emplace(std::move(message), std::move(sent));
        record();
      });
    });
  }

  // If the answer cannot be stored now, keeps it for a later tick. Nothing is sent again meanwhile.
  void record() {
    guarded("note what was sent", [this] {
      OutboxMessage stored;
      storage::write(db, [&](storage::Transaction& transaction) {
        stored = store(transaction, unrecorded->first, unrecorded->second);
      });
      unrecorded.reset();
      announce(stored);
      wake();
    });
  }

  void announce(const OutboxMessage& message) {
    if (message.state == OutboxState::failed)
      log::warn("{} refused a report report={} key={} error=\"{}\"", receiver_of(message),
                message.id.value, message.key, message.error);
    else
      log::info("outbox key={} state={} url={} error={}", message.key, name_of(message.state),
                message.url, message.error);
    events.publish("report", nlohmann::json{{"id", message.id.value},
                                            {"state", name_of(message.state)},
                                            {"url", message.url}}
                                 .dump());
  }

  // ---- discovery's thread

  void restore(const Build& build) {
    try {
      if (build.kind == BuildKind::nightly) place_of(build.variant).discovery->restore(build);
      if (build.kind == BuildKind::ci) place_of(build.variant).ci->restore(build);
    } catch (const std::exception& error) {
      log::error("wheel not restored version={} error={}", build.version, error.what());
    }
  }

  // ---- any thread

  void wake() {
    if (!waking.exchange(true)) asio::post(writer, [this] { on_tick(); });
  }

  // ---- I/O thread

  void tick_later() {
    tick_timer.expires_after(config.queue.tick);
    tick_timer.async_wait([this](boost::system::error_code error) {
      if (error) return;
      parts = 0;
      wake();
      tick_later();
    });
  }

  void poll_later() {
    asio::post(writer, [this] { guarded("look", [this] { look(); }); });
    poll_timer.expires_after(config.source.poll);
    poll_timer.async_wait([this](boost::system::error_code error) {
      if (!error) poll_later();
    });
  }

  void write_port_file() {
    if (config.service.port_file.empty()) return;
    try {
      write_durably(config.service.port_file, std::to_string(server.port()) + "\n");
    } catch (const std::system_error& error) {
      throw std::runtime_error("cannot write service.port_file " +
                               config.service.port_file.string() + ": " + error.code().message());
    }
  }

  void run() {
    signals.async_wait([this](boost::system::error_code error, int) {
      if (!error) stop();
    });
    write_port_file();  // who reads it may connect: the server has been listening since it was made
    server.start();
    log::info("listening address={} port={}", config.service.address, server.port());
    tick_later();
    poll_later();
    wake();
    io.run();
  }

  // However run() ended, nothing runs any more when the members go. What the other threads still do
  // is lost without harm: rows are all the state there is. The writer ends last, since the others
  // post to it.
  ~Impl() {
    stopping.request_stop();
    graph.stop();
    worker.stop();
    mailer.stop();
    worker.join();
    mailer.join();
    readers.join();
    intake.join();
    writer.join();
  }

  void stop() {
    log::info("stopping");
    tick_timer.cancel();
    poll_timer.cancel();
    server.stop();
    stopping.request_stop();
    graph.stop();
    worker.stop();
    mailer.stop();
  }

  std::string local_token;
  Config config;
  FileLock lock;
  SystemClock clock;
  storage::Database db;
  Artifacts artifacts;
  git::Repository graph;
  std::stop_source stopping;  // what waits for a host or for uv
  std::unique_ptr<IssueTracker> tracker;
  std::vector<Place> places;
  OutboxSender sender;
  web::EventStream events;
  EngineContext context;
  // Owned by the writer's thread.
  std::vector<std::string> problems_before;
  Time mirror_next{};
  std::chrono::steady_clock::time_point fetch_next{};
  std::string fetch_failure;
  std::optional<std::pair<OutboxMessage, Sent>> unrecorded;
  ClockFollower clock_follower{config.queue.lease};
  NativeStateOf native_state = native_state_by(graph, config.project);
  Surroundings around;
  bool surveyed = false, looking = false, looking_at_ci = false, looking_at_packages = false,
       looking_at_wheel = false, sending = false, proving = false, fetching = false,
       asked_before = false;
  std::atomic<bool> waking = false;
  std::atomic<int> parts = 0;  // of ticks that were cut short, since the timer came
  asio::io_context io{1};
  asio::steady_timer tick_timer, poll_timer;
  asio::signal_set signals;
  asio::thread_pool writer{1}, readers{2}, intake{1}, worker{1}, mailer{1};  // the writer goes last
  api::Context api;
  api::Tokens tokens;
  web::Server server;
};

Daemon::Daemon(Config config) : impl_(std::make_unique<Impl>(std::move(config))) {}
Daemon::~Daemon() = default;
std::uint16_t Daemon::port() const {
  return impl_->server.port();
}
std::string Daemon::local_runner_token() const {
  return impl_->local_token;
}
void Daemon::run() {
  impl_->run();
}

}  // namespace nightjar::service
