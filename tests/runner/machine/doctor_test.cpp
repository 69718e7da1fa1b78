#include "runner/machine/doctor.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"

using namespace nightjar;
using namespace nightjar::runner;

namespace {

// A machine with nothing to mend.
Health healthy() {
  Health health;
  health.facts = {{"governor", "performance"}, {"turbo", "off"},     {"smt", "off"},
                  {"cpu_count", "8"},          {"hypervisor", "no"}, {"thp", "madvise"},
                  {"numa_nodes", "2"}};
  health.ccache = true;
  health.clock_source = "tsc";
  health.address_layout = "2";
  health.free_memory_bytes = health.free_disk_bytes = 64LL << 30;
  health.python_headers = "/usr/include/python3.11";
  GpuState gpu;
  gpu.name = "H100";
  gpu.pci_bus = "00000000:3B:00.0";
  gpu.persistence = true;
  gpu.ecc_errors = 0;
  gpu.pcie_traffic = gpu.nvlink_traffic = 1e6;
  gpu.temperature_celsius = 50;
  gpu.clock_events = {ClockEvent::applications_clocks_setting};
  health.state.gpus = {gpu};
  return health;
}

struct Harm {
  const char* words;  // of the finding that the change brings about
  void (*spoil)(Health&);
  FindingClass kind = FindingClass::harmful;
};

GpuState& gpu_of(Health& health) {
  return health.state.gpus[0];
}

const Harm all_harms[] = {
    {"CPU governor is 'powersave'", [](Health& h) { h.facts["governor"] = "powersave"; }},
    {"turbo is on", [](Health& h) { h.facts["turbo"] = "on"; }},
    {"SMT is on", [](Health& h) { h.facts["smt"] = "on"; }},
    {"CPUs that may be used: 1", [](Health& h) { h.facts["cpu_count"] = "1"; }},
    {"virtual machine: yes", [](Health& h) { h.facts["hypervisor"] = "yes"; },
     FindingClass::not_mendable},
    {"CPU quota: 1.50 CPUs, stopped 7 times so far",
     [](Health& h) { h.cpu_quota = 1.5, h.times_throttled = 7; }},
    {"runs cannot be pinned", [](Health& h) { h.may_pin = false; }},
    {"slowed down for heat 3 times", [](Health& h) { h.state.extra["cpu_throttle_count"] = "3"; },
     FindingClass::worth_knowing},
    {"CPU temperature: 91 °C",
     [](Health& h) { h.state.extra["temperature_millicelsius"] = "91000"; }},
    {"clock source: hpet", [](Health& h) { h.clock_source = "hpet"; }},
    {"address layout is fixed", [](Health& h) { h.address_layout = "0"; }},
    {"load is 7.0", [](Health& h) { h.state.load1 = 7; }},
    {"stolen by the host: 5.0 %", [](Health& h) { h.state.steal_share = .05; },
     FindingClass::not_mendable},
    {"compilers running: cc1plus ×2, ld",
     [](Health& h) { h.compilers = {"cc1plus", "ld", "cc1plus"}; }},
    {"job of ours on this machine: 42 (measures job 3)",
     [](Health& h) { h.lock_holder = "42 (measures job 3)"; }, FindingClass::worth_knowing},
    {"transparent huge pages: always", [](Health& h) { h.facts["thp"] = "always"; }},
    {"NUMA balancing is on", [](Health& h) { h.numa_balancing = true; }},
    {"swap in use: 0.50 GiB", [](Health& h) { h.swap_used_bytes = 512 << 20; }},
    {"free memory: 1.0 GiB", [](Health& h) { h.free_memory_bytes = 1 << 30; }},
    {"free disk for", [](Health& h) { h.free_disk_bytes = 1 << 30; }},
    {"missing tools: cmake, ninja", [](Health& h) { h.missing_tools = {"ninja", "cmake"}; }},
    {"ccache: not there", [](Health& h) { h.ccache = false; }, FindingClass::worth_knowing},
    {"Python's headers: not there", [](Health& h) { h.python_headers = ""; }},
    {"H100): persistence mode is off", [](Health& h) { gpu_of(h).persistence = false; }},
    {"H100): clocks are not known to be fixed", [](Health& h) { gpu_of(h).clock_events.clear(); }},
    {"clocks held down: sw_power_cap",
     [](Health& h) { gpu_of(h).clock_events.push_back(ClockEvent::sw_power_cap); }},
    {"other processes: python3 7", [](Health& h) { gpu_of(h).others = {{7, "python3", {}}}; }},
    {"H100): other containers compute on it, in time slices",
     [](Health& h) { gpu_of(h).others = {{9, "", {}}}; }},
    {"H100): it is cut into parts", [](Health& h) { gpu_of(h).mig = true; }},
    {"H100): a hypervisor shares it in time slices", [](Health& h) { gpu_of(h).sliced = true; },
     FindingClass::not_mendable},
    {"H100): traffic over PCIe while nothing of ours runs: 2500 MB/s",
     [](Health& h) { gpu_of(h).pcie_traffic = 2.5e9; }},
    {"H100): traffic over NVLink while nothing of ours runs: 900 MB/s",
     [](Health& h) { gpu_of(h).nvlink_traffic = 9e8; }},
    {"uncorrected memory errors: 2", [](Health& h) { gpu_of(h).ecc_errors = 2; }},
    {"temperature: 84 °C", [](Health& h) { gpu_of(h).temperature_celsius = 84; }},
    {"GPU: the NVIDIA driver's library says: Driver Not Loaded",
     [](Health& h) { h.no_gpu = "the NVIDIA driver's library says: Driver Not Loaded"; }},
};

}  // namespace

TEST_CASE("What harms is one line, for the note on a session that was measured all the same") {
  Health health = healthy();
  CHECK(harms_text(examine(health)).empty());
  health.facts["governor"] = "powersave";
  health.state.load1 = 100;
  health.ccache = false;  // worth knowing, no harm
  CHECK(harms_text(examine(health)) == "CPU governor is 'powersave'; load is 100.0");
}

TEST_CASE("Each harm is found, alone, with its class and what to do") {
  for (const Harm& harm : all_harms) {
    INFO(harm.words);
    Health health = healthy();
    harm.spoil(health);
    const std::vector<Finding> all = examine(health);
    std::vector<Finding> bad;
    for (const Finding& finding : all)
      if (finding.kind != FindingClass::fine) bad.push_back(finding);
    REQUIRE(bad.size() == 1);
    CHECK(bad[0].kind == harm.kind);
    CHECK(bad[0].what.find(harm.words) != std::string::npos);
    CHECK(bad[0].remedy.size() > 10);
    CHECK(any_harmful(all) == (harm.kind == FindingClass::harmful));
  }
}

TEST_CASE("Every word of the kernel's for SMT and turbo makes a sentence") {
  const auto says = [](const char* fact, const char* word) {
    Health health = healthy();
    health.facts[fact] = word;
    const std::vector<Finding> all = examine(health);
    const std::string begin = std::string(fact) == "smt" ? "SMT" : "turbo";
    const auto found =
        std::ranges::find_if(all, [&](const Finding& f) { return f.what.starts_with(begin); });
    REQUIRE(found != all.end());
    CHECK((found->kind == FindingClass::harmful) == (std::string(word) == "on"));
    return found->what;
  };
  CHECK(says("smt", "on") == "SMT is on");
  CHECK(says("smt", "off") == "SMT is off");
  CHECK(says("smt", "forceoff") == "SMT is off until the next boot");
  CHECK(says("smt", "notsupported") == "SMT is not supported");
  CHECK(says("smt", "notimplemented") == "SMT is not implemented");
  CHECK(says("smt", "none") == "SMT: not under this system's control");
  CHECK(says("turbo", "off") == "turbo is off");
  CHECK(says("turbo", "none") == "turbo: not under this system's control");
}

TEST_CASE("On a virtual machine what the host decides cannot be mended, and the doctor succeeds") {
  Health health = healthy();
  health.facts["hypervisor"] = "yes";
  health.facts["turbo"] = health.facts["smt"] = "on";
  health.clock_source = "hpet";
  health.state.steal_share = .05;
  const std::vector<Finding> findings = examine(health);
  CHECK_FALSE(any_harmful(findings));
  CHECK(std::count_if(findings.begin(), findings.end(), [](const Finding& one) {
          return one.kind == FindingClass::not_mendable;
        }) == 5);
  health.facts["thp"] = "always";
  CHECK(any_harmful(examine(health)));
}

TEST_CASE("A machine with nothing to mend, or without any GPU, is fine") {
  CHECK_FALSE(any_harmful(examine(healthy())));
  Health without = healthy();
  without.state.gpus.clear();
  without.no_gpu = "no NVIDIA device";
  CHECK_FALSE(any_harmful(examine(without)));
  CHECK(findings_text(examine(without)).find("fine   GPU: no NVIDIA device\n") !=
        std::string::npos);
}

TEST_CASE("Findings are told in lines and in JSON") {
  const std::vector<Finding> findings{
      {FindingClass::fine, "clock source: tsc", ""},
      {FindingClass::harmful, "SMT is on", "turn it off"},
      {FindingClass::not_mendable, "virtual machine: yes", "expect noise"},
      {FindingClass::worth_knowing, "ccache: not there", "install it"}};
  CHECK(findings_text(findings) ==
        "fine   clock source: tsc\nharms  SMT is on\n       mend: turn it off\n"
        "as is  virtual machine: yes\n       not to be mended here: expect noise\n"
        "know   ccache: not there\n       install it\n"
        "1 to mend, 1 that cannot be mended here, 1 worth knowing\n");
  const auto json = nlohmann::json::parse(findings_json(findings));
  CHECK(json.at("harmful") == true);
  CHECK(json.at("items")[0].at("remedy").is_null());
  CHECK(json.at("items")[1].at("remedy") == "turn it off");
  std::vector<std::string> classes;
  for (const auto& item : json.at("items")) {
    classes.push_back(item.at("class"));
    CHECK(item.at("harmful") == (classes.back() == "harmful"));
  }
  CHECK(classes == std::vector<std::string>{"fine", "harmful", "not_mendable", "worth_knowing"});
}

TEST_CASE("This machine can be looked at") {
  const Health health = observe_machine("/tmp/no/such/cache", "python3");
  CHECK(health.facts.contains("cpu_count"));
  CHECK(health.free_memory_bytes > 0);
  CHECK(health.free_disk_bytes > 0);
  CHECK_FALSE(examine(health).empty());
}
