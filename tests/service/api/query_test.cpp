// Filters, pages, what is refused, what is kept, and what operators see.
#include <map>
#include <string>

#include "storage/affected_classes.hpp"
#include "storage/connection.hpp"
#include "storage/locks.hpp"
#include "tests/service/api/day.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service::api;
using nlohmann::json;

TEST_CASE("Regressions are found by every filter") {
  World world;
  const Day day = fill(world);
  const auto count = [&](const std::string& query) {
    const auto reply = world.get("/api/v1/regressions?" + query);
    REQUIRE(reply.status == 200);
    return reply.json["items"].size();
  };
  CHECK(count("state=blamed") == 1);
  CHECK(count("state=suspected") == 0);
  CHECK(count("metric=latency") == 1);
  CHECK(count("metric=compile_time") == 0);
  CHECK(count("workload=python/*/eval/**") == 1);
  CHECK(count("workload=native/**") == 0);
  CHECK(count("since=2026-08-20T20:00:00Z") == 1);
  CHECK(count("since=2026-08-20T20:00:01Z") == 0);
  CHECK(count("commit=" + commit(2).str()) == 1);
  CHECK(count("commit=" + commit(1).str()) == 0);
  CHECK(count("machine=" + std::to_string(day.runner.machine.value)) == 1);
  CHECK(count("machine=99") == 0);
  CHECK(count("series=" + std::to_string(day.series.value)) == 1);
  CHECK(count("series=99") == 0);
  CHECK(count("state=blamed&metric=latency&limit=1") == 1);
  const auto item = world.get("/api/v1/regressions").json["items"][0];
  CHECK(item["series"][0]["workload"] == workload_text);
  CHECK(item["series"][0]["ratio"] == 1.2);
  CHECK(item["culprit"]["commits"][0] == commit(2).str());
  CHECK(item["bad"]["version"] == day.bad.version);
}

TEST_CASE("A regression tells which machine classes show it and which looked") {
  World world;
  const Day day = fill(world);
  MachineId other;
  world.on_writer([&] {
    storage::Transaction transaction(world.db);
    other = storage::intern_machine(transaction, {{}, web::sha256("m"), {{"gpu", "NVIDIA L4"}}}).id;
    AffectedClass looked{other, "NVIDIA L4", ClassState::not_seen, {}, 1.01, {}, {}};
    storage::set_classes_elsewhere(transaction, day.regression.id, {looked});
    transaction.commit();
  });
  const auto path = "/api/v1/regressions/" + std::to_string(day.regression.id.value);
  const json classes = world.get(path).json["classes"];
  CHECK(classes == json::parse(R"([
    {"machine": 1, "gpu": null, "state": "seen", "first_seen": 2, "ratio": 1.2, "low": 1.15,
     "high": 1.25},
    {"machine": 2, "gpu": "NVIDIA L4", "state": "not_seen", "first_seen": null, "ratio": 1.01,
     "low": null, "high": null}])"));
  const auto found = world.get("/api/v1/regressions?machine=" + std::to_string(other.value)).json;
  CHECK(found["items"].empty());
}

TEST_CASE("Suites are found by every filter, with their means and models") {
  World world;
  const Day day = fill(world);
  const auto count = [&](const std::string& query) {
    const auto reply = world.get("/api/v1/suites?" + query);
    REQUIRE(reply.status == 200);
    return reply.json["items"].size();
  };
  const auto first = std::to_string(day.first_night.id.value);
  CHECK(count("night=" + first) == 1);
  CHECK(count("night=99") == 0);
  CHECK(count("machine=" + std::to_string(day.runner.machine.value)) == 1);
  CHECK(count("machine=99") == 0);
  CHECK(count("since=2026-08-20T20:00:00Z") == 1);
  CHECK(count("since=2026-08-20T20:00:01Z") == 0);
  CHECK(count("suite=python&task=eval&device=cpu&precision=fp32&backend=inductor") == 1);
  for (const char* part : {"suite", "task", "device", "precision", "backend"})
    CHECK(count(std::string(part) + "=other") == 0);
  CHECK(count("verdict=worse") == 1);
  CHECK(count("verdict=better") == 0);
  for (const char* query : {"suite=a/b", "suite=", "verdict=bad", "night=x", "since=now"})
    CHECK(world.get(std::string("/api/v1/suites?") + query).status == 400);

  const json suite = world.get("/api/v1/suites").json["items"][0];
  CHECK(suite["pass_rate"] == .5);
  CHECK(suite["build"]["version"] == day.good.version);
  CHECK(suite["gpu_compression"].is_null());
  CHECK(suite["speedup"]["verdict"] == "worse");
  CHECK(suite["speedup"]["compared"] == 1);
  CHECK(suite["speedup"]["low"] == .92);
  CHECK(world.get("/api/v1/suites/" + suite["id"].dump()).json == suite);
  CHECK(world.get("/api/v1/suites/99").status == 404);

  const json models = world.get("/api/v1/members?summary=" + suite["id"].dump()).json["items"];
  REQUIRE(models.size() == 1);
  CHECK(models[0]["workload"] == workload_text);
  CHECK(models[0]["accuracy"] == "pass");
  CHECK(models[0]["speedup"] == 1.4);
  CHECK(models[0]["compile_time"].is_null());
  CHECK(models[0]["series"] == day.series.value);
  CHECK(world.get("/api/v1/members?night=" + first).json["items"] == models);
  CHECK(world.get("/api/v1/members?workload=native/**").json["items"].empty());
  CHECK(world.get("/api/v1/members?night=99").json["items"].empty());
}

TEST_CASE("A run tells its accuracy in dynamo's word, or none") {
  World world;
  (void)fill(world);
  world.on_writer([&] {
    world.db.impl().execute("UPDATE run SET accuracy = 'eager_two_runs_differ' WHERE id = 2");
  });
  CHECK(world.get("/api/v1/runs/2").json["accuracy"] == "eager_two_runs_differ");
  CHECK(world.get("/api/v1/runs/3").json["accuracy"].is_null());
}

TEST_CASE("Jobs tell their variant, and are listed by variant and by machine class") {
  World world;
  const Day day = fill(world);
  world.on_writer([&] {
    world.db.impl().execute("UPDATE job SET variant = 'cu126' WHERE id = 2");
    world.db.impl().execute("UPDATE job SET variant = NULL WHERE id = 1");
  });
  const auto all = world.get("/api/v1/jobs?limit=500").json["items"];
  const auto cuda = world.get("/api/v1/jobs?variant=cu126").json["items"];
  const auto cpu = world.get("/api/v1/jobs?variant=cpu&limit=500").json["items"];
  REQUIRE(cuda.size() == 1);
  CHECK(cuda[0]["id"] == 2);
  CHECK(cuda[0]["variant"] == "cu126");
  CHECK(cpu.size() == all.size() - 2);
  CHECK(world.get("/api/v1/jobs/1").json["variant"].is_null());
  CHECK(world.get("/api/v1/jobs?variant=a%20b").status == 400);
  const std::string machine = std::to_string(day.runner.machine.value);
  CHECK(world.get("/api/v1/jobs?limit=500&machine=" + machine).json["items"] == all);
  CHECK(world.get("/api/v1/jobs?machine=99").json["items"].empty());
}

TEST_CASE("A session tells what its machine was, and what an update had changed") {
  World world;
  Day day = fill(world);
  std::map<std::string, std::string> facts{{"cpu_model", "x"}};
  const auto claimed_with = [&](const std::string& kernel) {
    facts["kernel"] = kernel;
    return world.on_writer([&] {
      storage::Transaction transaction(world.db);
      const MachineClass machine =
          storage::intern_machine(transaction, {{}, web::sha256(class_text(facts)), facts});
      day.runner.machine = machine.id;
      day.runner.facts = storage::intern_facts(transaction, machine, evening);
      day.runner = storage::register_runner(transaction, day.runner);
      const Job asked = queue(world, day, day.night, job_spec(day, JobKind::screen, {day.good}),
                              "on " + kernel + " with " + std::to_string(facts.size()) + " facts");
      const auto job =
          storage::claim_job(transaction, day.runner, evening, evening + std::chrono::hours(1));
      REQUIRE(job);
      REQUIRE(job->id == asked.id);
      transaction.commit();
      return job->id;
    });
  };
  const std::string before = std::to_string(claimed_with("6.1").value);
  const std::string after = std::to_string(claimed_with("6.8").value);
  const auto first = world.get("/api/v1/jobs/" + before).json;
  const auto second = world.get("/api/v1/jobs/" + after).json;
  CHECK(first["facts"]["facts"]["kernel"] == "6.1");
  CHECK(first["facts_changed"].is_null());
  CHECK(second["facts"]["facts"]["kernel"] == "6.8");
  CHECK(second["facts"]["first_seen"].is_string());
  CHECK(second["facts_changed"] == "kernel 6.1 → 6.8");
  CHECK(second["machine_facts"] == second["facts"]["id"]);
  const std::string id = std::to_string(second["machine_facts"].get<int>());
  const auto listed = world.get("/api/v1/jobs?facts=" + id).json["items"];
  REQUIRE(listed.size() == 1);
  CHECK(std::to_string(listed[0]["id"].get<int>()) == after);
  const auto never = world.get("/api/v1/jobs?state=queued").json["items"].at(0);
  CHECK(never["machine_facts"].is_null());
  CHECK(
      world.get("/api/v1/jobs/" + std::to_string(never["id"].get<int>())).json["facts"].is_null());
  const auto history = world.get("/api/v1/runners").json["items"][0]["machine"]["history"];
  CHECK(history.back()["id"] == second["machine_facts"]);
  facts["microcode"] = "0x1b";  // is read for the first time
  const auto third = world.get("/api/v1/jobs/" + std::to_string(claimed_with("6.8").value)).json;
  CHECK(third["machine_facts"] != second["machine_facts"]);
  CHECK(third["facts_changed"].is_null());
}

TEST_CASE("A night's sessions tell when their results came and why one does not count") {
  World world;
  const Day day = fill(world);
  const std::string path = "/api/v1/jobs?night=" + std::to_string(day.night.id.value);
  const auto of_night = world.get(path).json["items"];
  REQUIRE_FALSE(of_night.empty());
  CHECK(world.get("/api/v1/jobs?night=99").json["items"].empty());
  CHECK(world.get("/api/v1/jobs?night=none").status == 400);
  for (const auto& job : of_night) {
    CHECK(job["night"] == day.night.id.value);
    CHECK(job["stored_at"].is_null() == (job["state"] != "done"));
    CHECK(job["void"].is_null());
  }
  world.on_writer([&] {
    world.db.impl().execute("UPDATE session_check SET usable = 0, reason = 'it was hot'");
  });
  const auto later = world.get(path + "&limit=60").json["items"];
  CHECK(std::any_of(later.begin(), later.end(),
                    [](const json& job) { return job["void"] == "it was hot"; }));
}

TEST_CASE("Years of a series can be asked for at once") {
  World world;
  (void)fill(world);
  CHECK(world.get("/api/v1/series/1/points?limit=5000").status == 200);
  CHECK(world.get("/api/v1/series/1/points?limit=100001").status == 400);
  CHECK(world.get("/api/v1/series?limit=501").status == 400);
}

TEST_CASE("A bisection shows each commit's runs and level") {
  World world;
  const Day day = fill(world);
  const auto search =
      world.get("/api/v1/bisections/" + std::to_string(day.bisection.id.value)).json;
  REQUIRE(search["commits"].size() == 3);
  CHECK(search["commits"][0]["runs"] == 3);
  CHECK(search["commits"][0]["level"].get<double>() == Approx(0.992 * 1.001));
  CHECK(search["commits"][1]["untestable"] == "does not import");
  CHECK(search["commits"][1]["level"].is_null());
  CHECK(search["commits"][2]["level"].get<double>() == Approx(1.2).epsilon(.01));
  CHECK(search["commits"][0]["change"].is_null());  // it is what the others are held against
  CHECK(search["commits"][1]["change"].is_null());
  const auto change = search["commits"][2]["change"];
  CHECK(change["ratio"].get<double>() == Approx(1.2));
  CHECK(change["low"].get<double>() == Approx(1.2).epsilon(.01));
  CHECK(change["low"] < change["ratio"]);
  CHECK(change["high"] > change["ratio"]);
  CHECK(search["commits"][1]["subject"] == "Make it faster (#5)");
  CHECK(search["commits"][1]["author"] == "Ada Author");
  CHECK(search["commits"][0]["subject"].is_null());
  CHECK(search["runs"] == 6);
  CHECK(search["own_runs"] == 6);
  CHECK(search["sessions"][0]["jobs"][0]["state"] == "done");
  CHECK(search["posterior"][0]["probability"] == .9);
}

TEST_CASE("A commit is shown with its name, its builds and what searches measured of it") {
  World world;
  const Day day = fill(world);
  const auto culprit = world.get("/api/v1/commits/" + commit(2).str()).json;
  CHECK(culprit["sha"] == commit(2).str());
  CHECK(culprit["subject"].is_null());  // the copy of the repository lacks it
  CHECK(culprit["builds"][0]["version"] == day.bad.version);
  REQUIRE(culprit["measured"].size() == 1);
  const auto measured = culprit["measured"][0];
  CHECK(measured["bisection"] == day.bisection.id.value);
  CHECK(measured["index"] == 2);
  CHECK(measured["runs"] == 3);
  CHECK(measured["change"]["ratio"].get<double>() == Approx(1.2));
  const auto named = world.get("/api/v1/commits/" + day.named.str()).json;
  CHECK(named["subject"] == "Make it faster (#5)");
  CHECK(named["author"] == "Ada Author");
  CHECK(named["measured"][0]["untestable"] == "does not import");
  CHECK(named["builds"].empty());
  CHECK(world.get("/api/v1/commits/" + commit(77).str()).status == 404);
  CHECK(world.get("/api/v1/commits/short").status == 404);
}

TEST_CASE("A commit is named by its first digits, wherever one is asked for") {
  World world;
  const Day day = fill(world);
  const std::string brief = commit(2).str().substr(0, 7);
  CHECK(world.get("/api/v1/commits/" + brief).json["sha"] == commit(2).str());
  CHECK(world.get("/api/v1/regressions?commit=" + brief).json["items"].size() == 1);
  for (const char* list : {"improvements", "repairs"})
    CHECK(world.get(std::string("/api/v1/") + list + "?commit=" + brief).status == 200);
  // One that has no build is known by the copy of the repository.
  const std::string named = day.named.str();
  CHECK(world.get("/api/v1/commits/" + named.substr(0, 12)).json["sha"] == named);
  CHECK(world.get("/api/v1/commits/000000000").status == 404);
  for (const char* list : {"regressions", "improvements", "repairs"}) {
    const auto unknown = world.get(std::string("/api/v1/") + list + "?commit=000000000");
    CHECK(unknown.status == 404);
    CHECK(unknown.json["errors"][0]["parameter"] == "commit");
  }
  CHECK(world.get("/api/v1/regressions?commit=zz").status == 400);
}

TEST_CASE("A name that several things begin with is refused, and tells which") {
  World world;
  fill(world);
  const auto builds = world.get("/api/v1/compare?good=2.15.0.dev1&bad=2.15.0.dev");
  CHECK(builds.status == 400);
  CHECK(builds.headers.at("content-type") == "application/problem+json");
  CHECK(builds.json["title"] == "Ambiguous build");
  CHECK(builds.json["errors"][0]["parameter"] == "bad");
  const std::string detail = builds.json["detail"];
  CHECK_THAT(detail, Catch::Contains("2.15.0.dev1+cpu (1), 2.15.0.dev2+cpu (2)"));
  world.on_writer([&] {
    for (const char* last : {"1", "2"}) {
      Build build;
      build.kind = BuildKind::overlay;
      build.version = std::string("twin") + last;
      build.url = build.version;
      build.commit = CommitSha::parse("abcdef" + std::string(33, '0') + last);
      storage::add_build(storage::Autocommit(world.db), build);
    }
  });
  const auto commits = world.get("/api/v1/commits/abcdef");
  CHECK(commits.status == 400);
  CHECK(commits.json["title"] == "Ambiguous commit");
  const std::string why = commits.json["detail"];
  CHECK_THAT(why, Catch::Contains("abcdef000000, abcdef000000"));
}

TEST_CASE("A build is named by its id, its version, or how that or its commit begins") {
  World world;
  const Day day = fill(world);
  const auto id_of = [&](const std::string& name) {
    return world.get("/api/v1/builds/" + name).json["id"];
  };
  for (const std::string& name : {std::to_string(day.bad.id.value), day.bad.version,
                                  std::string("2.15.0.dev2"), commit(2).str().substr(0, 9)})
    CHECK(id_of(name) == day.bad.id.value);
  const auto compared = world.get("/api/v1/compare?good=2.15.0.dev1&bad=2.15.0.dev2").json;
  CHECK(compared["bad"]["id"] == day.bad.id.value);
  CHECK(world.get("/api/v1/runs?build=2.15.0.dev2").json["items"] ==
        world.get("/api/v1/runs?build=2").json["items"]);
  CHECK(world.get("/api/v1/nights?build=2.15.0.dev2").json["items"].size() == 1);
  CHECK(world.get("/api/v1/difference?reference=2.15.0.dev1&build=2.15.0.dev2").status == 200);
  CHECK(world.get("/api/v1/builds/3.0").status == 404);
  CHECK(world.get("/api/v1/builds/99999").status == 404);
  for (const char* path : {"nights?build=3.0", "runs?build=0", "compare?good=0&bad=1",
                           "compare/groups?good=1&bad=3.0", "difference?reference=0&build=1"}) {
    INFO(path);
    const auto unknown = world.get(std::string("/api/v1/") + path);
    CHECK(unknown.status == 404);
    CHECK(unknown.json["title"] == "Not found");
    CHECK_FALSE(unknown.json["errors"][0]["parameter"].is_null());
  }
  CHECK(world.get("/api/v1/nights?build=a%7Eb").status == 400);
}

TEST_CASE("Regressions are found by the author of a culprit's commit") {
  World world;
  const Day day = fill(world);
  CHECK(world.get("/api/v1/regressions?author=Ada%20Author").json["items"].empty());
  world.on_writer([&] {
    Regression blamed = day.regression;
    blamed.culprit = Culprit{{day.named}, .995, 1.2, 1.15, 1.25};
    storage::update_regression(storage::Autocommit(world.db), blamed);
  });
  CHECK(world.get("/api/v1/regressions?author=Ada%20Author").json["items"].size() == 1);
  CHECK(world.get("/api/v1/regressions?author=Ada").json["items"].empty());
  CHECK(world.get("/api/v1/regressions?author=").status == 400);
}

TEST_CASE("A regression counts from its confirmation on, unless it was dismissed") {
  World world;
  const Day day = fill(world);
  const auto count = [&](const char* query) {
    return world.get(std::string("/api/v1/regressions?counted=") + query).json["items"].size();
  };
  CHECK(world.get("/api/v1/regressions").json["items"][0]["counted"] == true);
  CHECK(count("true") == 1);
  CHECK(count("false") == 0);
  const auto path = "/api/v1/regressions/" + std::to_string(day.regression.id.value);
  REQUIRE(world.post(path + "/dismiss", {{"reason", "noise"}}, "admin").status == 200);
  CHECK(world.get(path).json["counted"] == false);
  CHECK(count("true") == 0);
  CHECK(count("false") == 1);
  CHECK(world.get("/api/v1/regressions?counted=yes").status == 400);
}

TEST_CASE("Regressions are found by who goes on with them") {
  World world;
  const Day day = fill(world);
  const auto count = [&](const char* query) {
    return world.get(std::string("/api/v1/regressions?") + query).json["items"].size();
  };
  CHECK(world.get("/api/v1/regressions").json["items"][0]["progress"] == "waiting");
  CHECK(count("progress=waiting") == 1);
  CHECK(count("progress=running") == 0);
  CHECK(count("progress=waiting&counted=false") == 0);
  const auto path = "/api/v1/regressions/" + std::to_string(day.regression.id.value);
  REQUIRE(world.post(path + "/dismiss", {{"reason", "noise"}}, "admin").status == 200);
  CHECK(count("progress=over&counted=false") == 1);
  CHECK(world.get("/api/v1/regressions?progress=soon").status == 400);
}

TEST_CASE("The size of a regression is the search's once there is one, else the confirmation's") {
  World world;
  const Day day = fill(world);
  const auto path = "/api/v1/regressions/" + std::to_string(day.regression.id.value);
  const auto effect_with = [&](std::optional<Culprit> culprit) {
    world.on_writer([&] {
      Regression regression = day.regression;
      regression.culprit = std::move(culprit);
      storage::update_regression(storage::Autocommit(world.db), regression);
    });
    return world.get(path).json["effect"];
  };
  CHECK(effect_with(Culprit{{commit(2)}, .995, 1.3, 1.25, 1.35}) ==
        json{{"source", "search"}, {"ratio", 1.3}, {"low", 1.25}, {"high", 1.35}});
  CHECK(effect_with({}) ==
        json{{"source", "confirmation"}, {"ratio", 1.2}, {"low", 1.15}, {"high", 1.25}});
}

TEST_CASE("A client is told what is watched, and what its token may do") {
  World world;
  const auto role_of = [&](const std::string& token) {
    return world.send("GET", "/api/v1/about", token).json["role"];
  };
  CHECK(role_of("") == "none");
  CHECK(role_of("read") == "read");
  CHECK(role_of("admin") == "admin");
  CHECK(world.send("GET", "/api/v1/about", "wrong").status == 401);
  const json about = world.get("/api/v1/about").json;
  CHECK(about["project"] == "pytorch");
  CHECK(about["is_pytorch"] == true);
}

TEST_CASE("A culprit's commits are named where regressions are read") {
  World world;
  const Day day = fill(world);
  const auto details =
      world.get("/api/v1/regressions").json["items"][0]["culprit"]["commit_details"];
  REQUIRE(details.size() == 1);
  CHECK(details[0]["sha"] == commit(2).str());
  CHECK(details[0]["author"].is_null());
}

TEST_CASE("Two builds are compared over the series that both have") {
  World world;
  const Day day = fill(world);
  const auto target = "/api/v1/compare?good=" + std::to_string(day.good.id.value) + "&bad=";
  const auto compared = world.get(target + std::to_string(day.bad.id.value)).json;
  REQUIRE(compared["items"].size() == 2);  // latency and failures
  CHECK(compared["items"][0]["ratio"].get<double>() == Approx(1.2).epsilon(.01));
  CHECK(compared["items"][0]["source"] == "screen");
  CHECK(compared["bad"]["id"] == day.bad.id.value);
  CHECK(world.get(target + "77").status == 404);
  CHECK(world.get("/api/v1/compare?good=1").status == 400);
}

TEST_CASE("Lists are filtered by what workloads are grouped by") {
  World world;
  const Day day = fill(world);  // all of it is of python/resnet18/eval/cpu/fp32/b4/eager
  world.on_writer([&] { add_profiles(world, day); });
  for (const std::string list : {"workloads", "series", "regressions", "bisections", "improvements",
                                 "members", "profiles"}) {
    const auto count = [&](const std::string& query) {
      const auto reply = world.get("/api/v1/" + list + "?" + query);
      REQUIRE(reply.status == 200);
      return reply.json["items"].size();
    };
    INFO(list);
    const auto all = count("");
    CHECK(all > 0);
    CHECK(count("domain=vision&suite=python&model=resnet18&device=cpu&backend=eager") == all);
    CHECK(count("workload=python/*/eval/**") == all);
    for (const char* query : {"domain=language", "suite=native", "model=bert", "device=cuda",
                              "backend=inductor", "size=small", "workload=native/**"})
      CHECK(count(query) == 0);
    for (const char* query : {"domain=sports", "size=large", "suite=a/b", "workload="})
      CHECK(world.get("/api/v1/" + list + "?" + query).status == 400);
  }
  CHECK(world.get("/api/v1/series?variant=cpu").json["items"].size() == 2);
  CHECK(world.get("/api/v1/series?variant=cu126").json["items"].empty());
}

TEST_CASE("An improvement that brings a regression's level of before back is its repair") {
  World world;
  const Day day = fill(world);
  world.on_writer([&] {
    const auto add = [&](int number, double before, double after) {
      const Build build = add_nightly(world, number, "2026-08-2" + std::to_string(number));
      const Night night = add_night(world, build, NightState::done);
      storage::add_improvement(storage::Autocommit(world.db),
                               {0, night.id, day.series, build.id, before, after, evening});
    };
    add(3, 1.2, 1.12);  // half of the way
    add(4, 1.12, 1.001);
    add(5, 1.001, .8);  // further than it had been
  });
  const auto items = world.get("/api/v1/improvements").json["items"];
  REQUIRE(items.size() == 4);  // the newest first
  CHECK(items[0]["repairs"].is_null());
  CHECK(items[1]["repairs"] == day.regression.id.value);
  CHECK(items[2]["repairs"].is_null());
  CHECK(items[3]["repairs"].is_null());  // in the night that found the regression
}

TEST_CASE("An improvement says which way its metric is better") {
  World world;
  fill(world);
  for (const auto& [metric, direction] :
       std::map<std::string, std::string>{{"latency", "lower_is_better"},
                                          {"speedup", "higher_is_better"},
                                          {"compression_ratio", "higher_is_better"},
                                          {"imported_rate", "higher_is_better"}}) {
    INFO(metric);
    const std::string change = "UPDATE series SET metric = '" + metric +
                               "' WHERE id = (SELECT series FROM improvement LIMIT 1)";
    world.on_writer([&] { world.db.impl().execute(change.c_str()); });
    const auto items = world.get("/api/v1/improvements").json["items"];
    CHECK(items[0]["metric"] == metric);
    CHECK(items[0]["direction"] == direction);
  }
}

TEST_CASE("Pages go on where the last one ended") {
  World world;
  world.on_writer([&] {
    for (int i = 1; i <= 5; ++i) add_nightly(world, i, "2026-08-2" + std::to_string(i));
    for (int i = 1; i <= 5; ++i)
      storage::intern_workload(
          storage::Autocommit(world.db),
          *WorkloadName::parse("python/m" + std::to_string(i) + "/eval/cpu/fp32/b1/eager"), 1);
  });
  for (const std::string list : {"builds", "workloads"}) {
    std::vector<std::int64_t> seen;
    std::string cursor;
    do {
      const auto page = world.get("/api/v1/" + list + "?limit=2" + cursor).json;
      for (const auto& item : page["items"]) seen.push_back(item["id"]);
      cursor =
          page["next_cursor"].is_null() ? "" : "&cursor=" + page["next_cursor"].get<std::string>();
    } while (!cursor.empty());
    CHECK(seen == std::vector<std::int64_t>{5, 4, 3, 2, 1});
  }
}

TEST_CASE("A query that cannot be understood is refused by name") {
  World world;
  const auto refused = [&](const std::string& target, const std::string& name) {
    const auto reply = world.get("/api/v1/" + target);
    return reply.status == 400 && reply.headers.at("content-type") == "application/problem+json" &&
           reply.json["detail"].get<std::string>().find("'" + name + "'") != std::string::npos;
  };
  CHECK(refused("builds?colour=red", "colour"));
  CHECK(refused("builds?limit=0", "limit"));
  CHECK(refused("builds?limit=501", "limit"));
  CHECK(refused("builds?cursor=x", "cursor"));
  CHECK(refused("regressions?state=odd", "state"));
  CHECK(refused("regressions?metric=beauty", "metric"));
  CHECK(refused("regressions?since=yesterday", "since"));
  CHECK(refused("regressions?commit=abc", "commit"));
  CHECK(refused("regressions?machine=alpha", "machine"));
  CHECK(refused("regressions?series=0", "series"));
  CHECK(refused("jobs?state=idle", "state"));
  CHECK(refused("runs?build=-1", "build"));
  CHECK(world.get("/api/v1/builds/1").status == 404);
  CHECK(world.get("/api/v1/builds/x").status == 404);
  CHECK(world.get("/api/v1/nothing").status == 404);
}

TEST_CASE("What was read stays fresh, and is not sent twice") {
  World world;
  const auto before = world.get("/api/v1/builds");
  CHECK(before.json["items"].empty());
  const auto tag = before.headers.at("etag");
  const auto unchanged = world.send("GET", "/api/v1/builds", "", "", {{"If-None-Match", tag}});
  CHECK(unchanged.status == 304);
  CHECK(unchanged.text.empty());
  world.on_writer([&] { add_nightly(world, 1, "2026-08-20"); });
  const auto after = world.send("GET", "/api/v1/builds", "", "", {{"If-None-Match", tag}});
  CHECK(after.status == 200);
  CHECK(after.json["items"].size() == 1);
}

TEST_CASE("Only an admin starts a night, and says why if he likes") {
  World world;
  CHECK(world.send("POST", "/api/v1/nights", "runner").status == 403);
  const auto started = world.send("POST", "/api/v1/nights", "admin", R"({"reason": "curious"})");
  CHECK(started.status == 202);
  CHECK(world.wakes == 1);
  const auto night = world.get(started.headers.at("location")).json;
  CHECK(night["trigger"] == "api");
  CHECK(night["reason"] == "curious");
  const auto again = world.send("POST", "/api/v1/nights", "admin");
  CHECK(again.status == 200);  // the first one has not begun
  CHECK(again.json == started.json);
  CHECK(world.send("POST", "/api/v1/nights", "admin", R"({"build": 1})").status == 400);
  CHECK(world.send("POST", "/api/v1/nights", "admin", "[]").status == 400);
  CHECK(world.send("GET", "/api/v1/audit", "admin").json["items"].size() == 1);
}

TEST_CASE("Readiness names what stands in the way") {
  World world;
  CHECK(world.get("/readyz").json["status"] == "ready");
  world.on_writer([&] {
    world.context.heartbeat.beat(std::chrono::steady_clock::now() - std::chrono::hours(1));
    world.context.min_free_bytes = ~0ull;
  });
  const auto reply = world.get("/readyz");
  CHECK(reply.status == 503);
  CHECK(reply.headers.at("content-type") == "application/problem+json");
  CHECK(reply.json["status"] == 503);
  CHECK(reply.json["ready"] == false);
  CHECK_THAT(reply.json["detail"].get<std::string>(), Catch::Contains("has not ticked for 36"));
  CHECK(reply.json["checks"]["writer"] == "ok");
  CHECK_THAT(reply.json["checks"]["engine"].get<std::string>(),
             Catch::StartsWith("has not ticked for 36"));
  CHECK(reply.json["checks"]["disk"] != "ok");
}

TEST_CASE("A database that cannot be written is not ready, until it can be written again") {
  World world;
  CHECK(world.get("/readyz").json["checks"]["database"] == "ok");
  world.on_writer([&] {
    world.db.impl().execute("PRAGMA max_page_count = 10");
    try {
      storage::set_note(storage::Autocommit(world.db), "large", std::string(1'000'000, 'x'));
    } catch (const storage::Error&) {
    }
  });
  const auto full = world.get("/readyz");
  CHECK(full.status == 503);
  CHECK_THAT(full.json["detail"].get<std::string>(), Catch::Contains("free disk space"));
  world.on_writer([&] {
    world.db.impl().execute("PRAGMA max_page_count = 1000000");
    storage::set_note(storage::Autocommit(world.db), "large", "no more");
  });
  CHECK(world.get("/readyz").status == 200);
}

TEST_CASE("Damage that only a reader meets makes the service not ready") {
  World world;
  fill(world);
  world.on_writer([&] { world.db.impl().execute("PRAGMA wal_checkpoint(TRUNCATE)"); });
  {
    const auto path = world.folder.path / "nightjar.sqlite";
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(std::filesystem::file_size(path) - 4096, 'x');
  }
  CHECK(world.get("/api/v1/builds").status == 500);
  const auto reply = world.get("/readyz");
  CHECK(reply.status == 503);
  CHECK_THAT(reply.json["checks"]["database"].get<std::string>(), Catch::Contains("--restore"));
}

TEST_CASE("What stops nights is listed while the service is ready, and counted") {
  World world;
  CHECK(world.get("/readyz").json["obstacles"].empty());
  world.context.obstacles.set(
      {{nightjar::service::ObstacleKind::repository, "cannot fetch https://example.org"}});
  const auto reply = world.get("/readyz");
  CHECK(reply.status == 200);
  CHECK(reply.json["ready"] == true);
  REQUIRE(reply.json["obstacles"].size() == 1);
  CHECK(reply.json["obstacles"][0]["kind"] == "repository");
  CHECK(reply.json["obstacles"][0]["reason"] == "cannot fetch https://example.org");
  const auto text = world.get("/metrics").text;
  CHECK_THAT(text, Catch::Contains("nightjar_obstacles{kind=\"repository\"} 1\n"));
  CHECK_THAT(text, Catch::Contains("nightjar_obstacles{kind=\"runner\"} 0\n"));
}

TEST_CASE("A report that the tracker refused is sent again when an admin says so, and only then") {
  World world;
  fill(world);
  const std::string retry = "/api/v1/reports/1/retry";
  CHECK(world.post(retry, {}, "admin").status == 409);  // it is pending
  refuse_report(world, nightjar::OutboxId{1});
  CHECK_THAT(world.get("/metrics").text,
             Catch::Contains("nightjar_outbox_messages{state=\"failed\"} 1\n"));
  CHECK(world.post(retry, {}, "read").status == 403);
  const auto reply = world.post(retry, {}, "admin");
  REQUIRE(reply.status == 200);
  CHECK(reply.json["state"] == "pending");
  CHECK(reply.json["not_before"] == nullptr);
  CHECK(world.send("GET", "/api/v1/audit", "admin").json["items"].at(0)["action"] ==
        "retry-report");
  CHECK(world.post("/api/v1/reports/99/retry", {}, "admin").status == 404);
}

TEST_CASE("Metrics count jobs, regressions and requests") {
  World world;
  fill(world);
  const auto text = world.get("/metrics").text;
  for (const auto* line :
       {"nightjar_jobs{state=\"queued\"} 1\n", "nightjar_jobs{state=\"leased\"} 4\n",
        "nightjar_jobs{state=\"done\"} 3\n", "nightjar_regressions{state=\"blamed\"} 1\n",
        "nightjar_outbox_pending 1\n", "nightjar_nights_total 2\n", "nightjar_nights_open 1\n",
        "nightjar_http_requests_total 1\n", "nightjar_engine_tick_age_seconds "}) {
    INFO(text);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("The page is served with what it loads") {
  World world;
  const auto page = world.get("/");
  CHECK(page.status == 200);
  CHECK(page.headers.at("content-type") == "text/html; charset=utf-8");
  CHECK(page.headers.count("content-security-policy") == 1);
  CHECK(world.get("/index.html").text == page.text);
}

TEST_CASE("The demand for runners is told for each label") {
  World world;
  const Day day = fill(world);
  world.on_writer([&] {
    Runner runner = day.runner;
    runner.labels = {{"pool", "a=b"}};
    storage::register_runner(storage::Autocommit(world.db), runner);
  });
  const auto demand = [&](const std::string& query) {
    const auto reply = world.get("/api/v1/demand" + query);
    REQUIRE(reply.status == 200);
    return reply.json;
  };
  const auto all = demand("");
  CHECK(all["held"] == day.leased.size());
  CHECK(all["queued"] == 1);
  CHECK(all["wanted"] == day.leased.size() + 1);
  CHECK(demand("?label=pool%3Da%3Db")["wanted"] == all["wanted"]);
  const auto none = demand("?label=pool%3D_nobody");
  CHECK(none["runners"] == 0);
  CHECK(none["queued"] == 0);
  CHECK(none["held"] == 0);
  CHECK(none["wanted"] == (none["nights"] > 0 ? 1 : 0));
  for (const char* bad : {"?label=pool", "?label=%3Da", "?pool=a"})
    CHECK(world.get(std::string("/api/v1/demand") + bad).status == 400);
}

TEST_CASE("A lock of an earlier version whose addresses have passwords is not shown") {
  World world;
  const auto sha256 = *Sha256::parse(std::string(64, 'e'));
  storage::add_lock(
      storage::Autocommit(world.db),
      {sha256, "--index-url https://user:hush@index.test/simple\n\nsympy==1.13.3\n", {}}, {});
  const auto reply = world.get("/api/v1/locks/" + sha256.str());
  CHECK(reply.status == 404);
  CHECK(reply.json.dump().find("hush") == std::string::npos);
}
