#include "tests/simulation/simulation.hpp"

#include <algorithm>
#include <memory>
#include <unistd.h>
#include <utility>

#include "storage/base/files.hpp"
#include "storage/builds.hpp"
#include "storage/restore.hpp"
#include "storage/trouble.hpp"
#include "tests/simulation/lies.hpp"
#include "tests/simulation/watch.hpp"
#include "tests/support/manual_clock.hpp"
#include "web/secret.hpp"

namespace nightjar::simulation {
namespace {
using namespace std::chrono_literals;

constexpr int healthy_nights = 3;  // after the faults
constexpr std::chrono::seconds one_day = 24h;
// Between two troubles of one runner. A night's measuring takes a few hours.
constexpr auto longest_trouble = 2400s;
constexpr std::chrono::seconds shortest_tick = 60s, longest_tick = 3600s;
constexpr auto next_tick = 5s;  // the daemon's, which has no longer ones
constexpr const char* soundness = "the database stays sound";

// In memory where that is possible: what is tested is not the disk's speed.
class Folder {
 public:
  Folder() {
    const char* memory = "/dev/shm";
    const auto base = ::access(memory, W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    path = base / ("nightjar-simulation-" + web::random_token().substr(0, 16));
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

// The file of an empty database of this schema. It is made once, for migrations take longer than a
// simulated day.
const std::string& fresh_database() {
  static const std::string bytes = [] {
    const Folder folder;
    const auto path = folder.path / "fresh.sqlite";
    storage::Database::open_writer(path);
    return read_file(path).value();
  }();
  return bytes;
}

service::Config make_config(const std::filesystem::path& folder, const Plan& plan) {
  service::Config config;
  config.service.data = folder;
  config.service.port = 0;
  config.tokens.push_back({"runners", web::Role::runner, web::sha256("runner").str()});
  config.repository.url = "https://example.org/pytorch";
  config.night.workloads = {"python/**"};
  config.night.session_workloads = 2;
  config.night.on_new_build = !plan.scheduled;
  if (plan.scheduled) config.night.at = "09:30";
  config.calibration.share = 0;
  config.night.profiles = 0;
  config.report.profile_runs = 1;
  config.report.fixes = 1;
  config.report.digest.on = all_of<service::Weekday>();
  config.report.digest.at = 12h;
  config.report.digest.quiet = true;
  config.queue.lease = 600s;
  config.queue.runner_silent = 3600s;
  config.queue.patience = 6h;
  return config;
}

class Simulation {
 public:
  explicit Simulation(const Plan& plan)
      : plan_(plan),
        config_(make_config(folder_.path, plan)),
        steady_(*parse_rfc3339("2026-08-03T08:00:00Z")),
        clock_(steady_),
        timeline_(steady_),
        truth_(plan),
        tracker_(plan.seed),
        artifacts_(folder_.path / "artifacts", 1ull << 30, clock_),
        watch_(plan, truth_, tracker_),
        random_(plan.seed, 40),
        network_(timeline_, plan.seed, [this](const Message& message) { return deliver(message); }),
        around_{timeline_, network_, truth_, [this](const Agent& agent) {
                  if (!clock_followed_) watch_.forget_times();
                  watch_.heard(agent, timeline_.now(),
                               config_.queue.runner_silent - Network::longest_patience);
                }} {
    write_durably(database_file(), fresh_database());
    if (plan.disk_fails()) disk_ = std::make_unique<FaultyDisk>(database_file(), plan.seed);
    std::uint64_t number = 0;
    for (const PlannedRunner& planned : plan.runners) {
      ++number;
      agents_.push_back(
          std::make_unique<Agent>(planned, planned.name, plan.seed + number * 7919, around_));
    }
    if (plan.has(Fault::twin))
      twin_ = std::make_unique<Agent>(plan.runners.back(), "twin", plan.seed + 104729, around_);
  }

  Outcome run() {
    try {
      play();
    } catch (const Violation& violation) {
      outcome_.violation = violation;
    } catch (const std::exception& error) {
      outcome_.violation = Violation{"what fails is answered for", error.what()};
    }
    return outcome_;
  }

 private:
  std::filesystem::path database_file() const { return folder_.path / "nightjar.sqlite"; }

  void play() {
    begin_service();
    for (const auto& agent : agents_) agent->start();
    night(plan_.commits.front());
    begin_faults();
    for (int i = 1; i <= plan_.nights(); ++i) night(plan_.commits[static_cast<std::size_t>(i)]);
    end_faults();
    // A schedule may skip the first of them: its date was had already, by a clock that ran ahead.
    for (int i = 0; i < healthy_nights + plan_.scheduled; ++i) night(2);
    watch_.check_liveness(service_->db());
    outcome_.fixes = watch_.named_gains(service_->db());
    watch_.check_period(service_->db(), config_, clock_.now() - 2 * longest_tick);
  }

  // A nightly, and a day in which all that follows from it may happen.
  void night(int commits) {
    truth_.next_day(commits, to_date(timeline_.now()), artifacts_, clock_.now());
    // Much is decided when a night begins.
    if (faulty_ && service_ && plan_.has(Fault::kill) && random_.chance(.5))
      service_->die_after(random_.between(0, 5));
    if (service_) {
      discover();
      tick_soon();
      bury();
    }
    timeline_.run_until(timeline_.now() + one_day);
    if (service_) check([&] { watch_.check_safety(service_->db()); });
    ++outcome_.days;
  }

  // Looks at the rows, which no fault keeps from it.
  template <class Look>
  void check(Look look) {
    const FaultyDisk::Pause pause(disk_.get());
    look();
  }

  // ---- the service

  void begin_service() {
    if (!open_service()) return begin_service_after(shortest_tick);
    if (service_->is_dead()) return bury();
    check([&] { watch_.began(service_->db(), database_, std::exchange(lost_power_, false)); });
    if (!std::exchange(clock_followed_, true)) watch_.forget_times();
    discover();
    tick_soon();
    bury();
  }

  // False if its disk was in the way: whoever starts the service tries again.
  bool open_service() {
    try {
      service_ = std::make_unique<Service>(config_, clock_, truth_.graph(), tracker_, artifacts_,
                                           disk_.get());
    } catch (const storage::Damaged& error) {
      throw Violation{soundness, error.what()};
    } catch (const storage::Error&) {
      if (!disk_) throw;
      restore_power();
    }
    return service_ != nullptr;
  }

  void begin_service_after(std::chrono::seconds away) {
    timeline_.after(away, [this] {
      if (!service_) begin_service();
    });
  }

  void end_service(std::chrono::seconds away) {
    service_.reset();
    restore_power();
    begin_service_after(away);
  }

  void restore_power() {
    if (!disk_ || !disk_->is_cut()) return;
    disk_->restore_power();
    lost_power_ = true;
  }

  void bury() {
    if (!service_ || !service_->is_dead()) return;
    ++outcome_.deaths;
    end_service(random_.seconds(1s, 600s));
  }

  void discover() { discovered_ = service_->discover(truth_.wheels()); }

  void tick_soon() { tick_after(1s, shortest_tick); }

  // At most one tick is waited for; `rest`: how long after it the next one comes.
  void tick_after(std::chrono::seconds wait, std::chrono::seconds rest) {
    timeline_.after(wait, [this, rest, turn = ++turn_] {
      if (turn == turn_ && service_) tick(rest);
    });
  }

  void tick(std::chrono::seconds rest) {
    if (!discovered_) discover();
    service_->follow_clock();  // or runners would not seem to live that do
    if (service_->is_dead()) return bury();
    check([&] { watch_.before_tick(service_->engine()); });
    const bool changed = service_->tick();
    if (service_->is_dead()) return bury();
    check([&] { after_tick(changed); });
    if (!service_->follows_clock())
      tick_after(next_tick, shortest_tick);
    else if (service_->is_woken())
      tick_soon();
    else
      tick_after(rest, std::min<std::chrono::seconds>(2 * rest, longest_tick));
  }

  void after_tick(bool changed) {
    const auto trouble = storage::trouble_of(service_->db());
    if (trouble && trouble->damaged) throw Violation{soundness, trouble->what};
    if (service_->follows_clock()) {
      clock_followed_ = true;
      watch_.check_leases(service_->db(), clock_.now(), config_.queue.lease);
    }
    if (!changed) return;
    watch_.check_safety(service_->db());
    for (const auto& agent : agents_) agent->wake();
  }

  Answer deliver(const Message& message) {
    if (!service_) return {};
    const bool woken_before = service_->is_woken();
    std::int64_t sessions = 0;
    if (!message.lie.empty()) check([&] { sessions = Watch::sessions_in(service_->db()); });
    Answer answer = service_->post(message.path, message.body, message.token);
    trace(answer.status);
    if (service_->is_dead()) {
      watch_.answered(message.path, {}, database_, timeline_.now());
      bury();
      return {};
    }
    check([&] { take(message, answer, sessions); });
    if (!woken_before && service_->is_woken()) tick_soon();
    return answer;
  }

  // `sessions`: stored before, of a message that lies.
  void take(const Message& message, Answer& answer, std::int64_t sessions) {
    watch_.answered(message.path, answer, database_, timeline_.now());
    if (!message.lie.empty()) {
      const bool is_stored = answer.status == 200 && answer.json.value("accepted", "") == "stored";
      if (message.is_of_run && is_stored) {
        watch_.failed_run(service_->db(), message);
        return stored(*message.held);
      }
      // A restored copy may have the claim that an old result belongs to.
      if (!message.held || message.held->database == database_)
        Watch::lied(service_->db(), message.lie, answer, sessions, disk_ != nullptr);
      return;
    }
    if (message.held && answer.status == 200) {
      if (message.path.ends_with("/fail"))
        watch_.put_off(service_->db(), *message.held, agents_);
      else if (answer.json.at("accepted") == "stored")
        stored(*message.held);
    }
    if (message.path.ends_with("/claim") && answer.status == 200)
      answer.held = claimed(answer.json);
  }

  void trace(std::uint64_t what) {
    constexpr std::uint64_t prime = 1099511628211u;  // of FNV-1a
    for (const std::uint64_t value : {static_cast<std::uint64_t>(to_us(timeline_.now())), what})
      outcome_.trace = (outcome_.trace ^ value) * prime;
  }

  void stored(const Held& held) {
    ++outcome_.sessions;
    watch_.stored(service_->db(), database_, held);
  }

  // The builds' commits are read from rows, where an agent would fetch the wheels.
  std::shared_ptr<Held> claimed(const nlohmann::json& claim) {
    auto held = std::make_shared<Held>();
    held->job.value = claim.at("id").get<std::int64_t>();
    held->attempt = claim.at("attempt").get<int>();
    held->nonce = claim.at("nonce").get<std::string>();
    held->spec = claim.at("spec").get<JobSpec>();
    held->database = database_;
    held->at = timeline_.now();
    watch_.claimed(service_->db(), *held, timeline_.now(), config_.queue.lease);
    for (const EnvironmentSpec& environment : held->spec.environments) {
      const auto build = storage::find_build(service_->db(), environment.build).value();
      const auto wheel = build.base ? storage::find_build(service_->db(), *build.base) : build;
      held->builds.push_back(environment.version);
      held->positions.of_environments.push_back(
          {truth_.position(*build.commit), truth_.nightly(wheel.value())});
      watch_.measures(*wheel);
    }
    return held;
  }

  // ---- faults

  void begin_faults() {
    faulty_ = true;
    network_.set_faults(plan_.faults);
    tracker_.set_failing(plan_.has(Fault::tracker));
    for (const auto& agent : agents_) {
      agent->set_stolen(plan_.has(Fault::stolen));
      trouble_later(*agent);
      if (plan_.has(Fault::skew)) skew_later(*agent);
    }
    for (const Fault fault : {Fault::disk, Fault::full, Fault::power})
      if (plan_.has(fault)) break_disk_later(fault);
    if (plan_.has(Fault::clock)) clock_later();
    if (plan_.has(Fault::lies)) lie_later();
    if (plan_.has(Fault::kill)) kill_later();
    if (plan_.has(Fault::restore)) restore_later();
    if (twin_) twin_later();
  }

  void end_faults() {
    faulty_ = false;
    network_.set_faults({});
    tracker_.set_failing(false);
    if (disk_) disk_->heal();
    if (clock_.ahead().count() != 0 && (plan_.scheduled || random_.chance(.5))) set_clock(0s);
    if (twin_) twin_->crash();
    for (const auto& agent : agents_) {
      agent->set_stolen(false);
      agent->set_sick(false);
      if (!gone_.contains(agent.get())) agent->start();
    }
    if (!service_) begin_service();
    service_->die_after(1 << 30);
  }

  void while_faulty(std::chrono::seconds wait, std::function<void()> act) {
    timeline_.after(wait, [this, act] {
      if (faulty_) act();
    });
  }

  void trouble_later(Agent& agent) {
    while_faulty(random_.wait(longest_trouble), [this, &agent] {
      trouble(agent);
      trouble_later(agent);
    });
  }

  void trouble(Agent& agent) {
    static const std::vector<Fault> kinds = {Fault::crash, Fault::preempt, Fault::sick, Fault::gone,
                                             Fault::upgrade};
    const Fault fault = kinds[static_cast<std::size_t>(random_.between(0, 4))];
    const auto away = random_.seconds(60s, 3h);
    if (!plan_.has(fault) || gone_.contains(&agent)) return;
    if (fault == Fault::sick) {
      agent.set_sick(true);
      return while_faulty(2 * away, [&agent] { agent.set_sick(false); });
    }
    if (fault == Fault::gone && !agent.may_leave()) return;
    if (fault == Fault::preempt)
      agent.preempt();
    else
      agent.crash();
    if (fault == Fault::gone) {
      gone_.insert(&agent);
      return;
    }
    if (fault == Fault::upgrade) agent.upgrade_kernel();
    while_faulty(away, [&agent] { agent.start(); });
  }

  void kill_later() {
    while_faulty(random_.wait(2 * longest_trouble), [this] {
      if (service_) service_->die_after(random_.between(0, 20));
      kill_later();
    });
  }

  // The n-th of what a transaction or a few do. A disk that is full has room again after a while.
  void break_disk_later(Fault fault) {
    while_faulty(random_.wait(2 * longest_trouble), [this, fault] {
      const auto first = random_.between(0, 200);
      if (fault == Fault::disk) disk_->fail(first, random_.between(1, 8));
      if (fault == Fault::power) disk_->cut_power(first);
      if (fault == Fault::full) {
        disk_->fill(first);
        while_faulty(random_.seconds(60s, 3h), [this] { disk_->make_room(); });
      }
      break_disk_later(fault);
    });
  }

  void clock_later() {
    while_faulty(random_.wait(4 * longest_trouble), [this] {
      if (random_.chance(.5))
        set_clock(random_.seconds(-one_day, one_day));
      else
        set_clock(clock_.ahead() + random_.seconds(-longest_tick, longest_tick));
      clock_later();
    });
  }

  // The daemon looks at its clock every few seconds.
  void set_clock(std::chrono::microseconds ahead) {
    clock_.set_ahead(ahead);
    clock_followed_ = false;
    if (service_) tick(shortest_tick);
  }

  void skew_later(Agent& agent) {
    while_faulty(random_.wait(4 * longest_trouble), [this, &agent] {
      agent.set_clock_ahead(random_.seconds(-one_day, one_day));
      skew_later(agent);
    });
  }

  void lie_later() {
    while_faulty(random_.wait(longest_trouble / 4), [this] {
      const auto any = [this]() -> const Agent& {
        return *agents_[static_cast<std::size_t>(
            random_.between(0, static_cast<int>(agents_.size()) - 1))];
      };
      const Agent &liar = any(), &other = any();
      if (auto lie = make_lie(liar, other, truth_, timeline_.now(), random_))
        network_.post(*std::move(lie), [](const Answer&) {});
      lie_later();
    });
  }

  void restore_later() {
    while_faulty(random_.seconds(600s, 40h), [this] {
      if (!service_) return;
      const auto copy = folder_.path / "copy.sqlite";
      try {
        service_->db().backup(copy);
      } catch (const storage::Error&) {
        if (!disk_) throw;
        return bury();
      }
      while_faulty(random_.seconds(600s, 3h),
                   [this, copy, made = timeline_.now()] { restore(copy, made); });
    });
  }

  void restore(const std::filesystem::path& copy, Time made) {
    const FaultyDisk::Pause pause(disk_.get());
    service_.reset();
    storage::restore(copy, database_file(), clock_.now());
    if (disk_) disk_->forget_unsynced();
    ++database_;
    watch_.restored(made);
    end_service(random_.seconds(1s, 600s));
  }

  void twin_later() {
    while_faulty(random_.wait(2 * longest_trouble), [this] {
      twin_->start();
      while_faulty(random_.seconds(600s, 4h), [this] {
        twin_->crash();
        twin_later();
      });
    });
  }

  const Plan& plan_;
  Folder folder_;
  std::unique_ptr<FaultyDisk> disk_;  // nullptr: it does not fail
  service::Config config_;
  ManualClock steady_;
  WallClock clock_;
  Timeline timeline_;
  Truth truth_;
  Tracker tracker_;
  service::Artifacts artifacts_;
  Watch watch_;
  Random random_;
  Network network_;
  Surroundings around_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::unique_ptr<Agent> twin_;
  std::unique_ptr<Service> service_;
  std::set<const Agent*> gone_;
  Outcome outcome_;
  int database_ = 0;
  int turn_ = 0;  // of ticks that were waited for
  bool faulty_ = false, discovered_ = true, lost_power_ = false;
  bool clock_followed_ = true;  // by the service, since it was set last
};

}  // namespace

Outcome simulate(const Plan& plan) {
  return Simulation(plan).run();
}

}  // namespace nightjar::simulation
