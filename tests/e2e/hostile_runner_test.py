"""What one token of the role runner can reach: nothing but its own claims, little of the memory,
and nobody else's time."""
import contextlib
import http.client
import json
import random
import statistics
import threading

import pytest

from hostile_runner import MEBIBYTE, Claiming, HostileRunner, bodies, run, session
from limits_test import memory_bytes


@pytest.fixture
def served(world):
    made = world(queue={"lease": 300})
    made.repo.grow(3)
    made.publish_nightly("2026-08-20")
    made.start_daemon()
    made.wait("the build to be there", lambda: made.items("builds"))
    return made


def idle_bytes(world):
    for path in ("/", "/openapi.json", "/metrics", "/api/v1/regressions"):
        world.request("GET", path)
    return memory_bytes(world.processes["nightjard"], "VmRSS")


def peak_from_now(world):
    process = world.processes["nightjard"]
    with open(f"/proc/{process.pid}/clear_refs", "w") as high_water_mark:
        high_water_mark.write("5")
    return lambda: memory_bytes(process, "VmHWM")


def large_result(job, size):
    """The body of an honest session with so many samples that it has about `size` bytes."""
    numbers = random.Random(7)
    order = job["spec"]["order"]
    each = size // len(order) // 20
    runs = []
    for number in range(len(order)):
        samples = ",".join(f"{.01 + .001 * numbers.random():.17f}" for _ in range(each))
        one = run(number)
        one["samples"] = {"latency": "@"}
        runs.append(json.dumps(one).replace('"@"', f"[{samples}]"))
    frame = json.dumps({"attempt": job["attempt"], "nonce": job["nonce"],
                        "result": session("@")})
    return frame.replace('"@"', "[" + ",".join(runs) + "]").encode()


@pytest.mark.first
def test_bodies_for_jobs_that_do_not_exist_are_refused_by_their_heads(served):
    hostile = HostileRunner(served, "hostile")
    idle, peak = idle_bytes(served), peak_from_now(served)
    size = 120 * MEBIBYTE
    connections = [hostile.begin_body(f"/api/v1/agent/jobs/{number}/result", size)
                   for number in range(1000, 1024)]
    with bodies(connections, size):
        answers = [connection.getresponse() for connection in connections]
        assert {answer.status for answer in answers} == {404}
        assert {answer.getheader("Connection") for answer in answers} == {"close"}
    print(f"idle {idle / MEBIBYTE:.1f} MiB, peak {peak() / MEBIBYTE:.1f} MiB")
    assert peak() <= 2 * idle


@pytest.mark.timing
@pytest.mark.release
def test_a_result_of_125_mebibytes_stops_nobody_and_its_memory_is_given_back(served):
    hostile, honest = HostileRunner(served, "hostile"), HostileRunner(served, "honest")
    job = hostile.claim_a_job()
    body = large_result(job, 125 * MEBIBYTE)
    assert 100 * MEBIBYTE < len(body) < 128 * MEBIBYTE
    idle, peak = idle_bytes(served), peak_from_now(served)
    with Claiming(honest) as claiming:
        status, answer = hostile.send_result(job, body)
    assert (status, answer) == (200, {"accepted": "stored"})
    after = memory_bytes(served.processes["nightjard"], "VmRSS")
    print(f"idle {idle / MEBIBYTE:.1f} MiB, peak {peak() / MEBIBYTE:.1f} MiB, after "
          f"{after / MEBIBYTE:.1f} MiB, slowest of {len(claiming.seconds)} claims "
          f"{max(claiming.seconds):.2f} s")
    assert peak() <= idle + 400 * MEBIBYTE
    assert after <= 3 * idle
    assert max(claiming.seconds) < 5


def registering(world, ended, number):
    """A connection that registers as much as it may, again and again."""
    body = json.dumps({
        "name": f"crowd-{number}", "labels": {}, "version": "1", "instance": "one",
        "workloads": [f"python/m{number % 5}x{one}/eval/cpu/fp32/b1/eager@1"
                      for one in range(2000)],
        "facts": {"cpu_model": f"class {number % 5}"}})
    headers = {"Authorization": f"Bearer {world.tokens['runner']}",
               "Content-Type": "application/json"}
    with contextlib.closing(http.client.HTTPConnection(
            "127.0.0.1", int(world.port_file.read_text()), timeout=60)) as connection:
        while not ended.is_set():
            connection.request("POST", "/api/v1/agent/register", body, headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200


@pytest.mark.timing
@pytest.mark.release
def test_whatever_a_token_registers_others_claims_come_in_time(world):
    made = world()
    made.repo.grow(3)
    made.start_daemon()
    honest = HostileRunner(made, "honest", token="admin", labels={"variant": "none"})
    ended = threading.Event()
    crowd = [threading.Thread(target=registering, args=(made, ended, number))
             for number in range(32)]
    with Claiming(honest) as claiming:
        for one in crowd:
            one.start()
        made.publish_nightly("2026-08-20")
        # A night has sessions for all that was registered: 10,000 workloads, 8 in each.
        made.wait("the night to be planned", lambda: b'queued"} 1250' in
                  (made.get("/metrics", raw=True) or b""), 120)
        planned = len(claiming.seconds)
        made.wait("more claims", lambda: len(claiming.seconds) > planned + 50)
        ended.set()
        for one in crowd:
            one.join()
    print(f"median of {len(claiming.seconds)} claims {statistics.median(claiming.seconds):.3f} s, "
          f"slowest {max(claiming.seconds):.3f} s")
    assert max(claiming.seconds) < 1


@pytest.mark.first
def test_one_bad_run_costs_its_session_nothing_else(served):
    """A confined build's number, by way of an agent that passes everything on."""
    runner = HostileRunner(served, "lab")
    job = runner.claim_a_job()
    runs = [run(number) for number in range(len(job["spec"]["order"]))]
    runs[1]["warmup_iterations"] = 1e10
    runs[2]["samples"]["latency"][0] = -1
    assert runner.send_result(job, session(runs)) == (200, {"accepted": "stored"})
    stored = served.get(f"/api/v1/runs?job={job['id']}&limit=200")["items"]
    bad = [one["reason"] for one in stored if one["status"] == "failed"]
    assert len(stored) == len(runs) and len(bad) == 2
    assert any("warmup_iterations" in reason for reason in bad)
    assert any("a latency of -1" in reason for reason in bad)
    known = served.get(f"/api/v1/runners/{runner.runner}")
    assert known["trouble"] is None and known["quarantined_until"] is None


def test_words_that_are_not_ones_own_change_nothing(served):
    honest, hostile = HostileRunner(served, "honest"), HostileRunner(served, "hostile")
    job = honest.claim_a_job()
    runs = [run(number) for number in range(len(job["spec"]["order"]))]
    forged = {**job, "nonce": "0" * len(job["nonce"])}
    assert hostile.send_result(forged, session(runs)) == (200, {"accepted": "stale"})
    assert hostile.send_result(forged, session(runs), head=False) == (200, {"accepted": "stale"})
    for what in ("renew", "release", "fail"):
        body = {**hostile.of(forged), "reason": "no"}
        assert hostile.say(f"jobs/{job['id']}/{what}", body)[0] == 409
    assert hostile.say("jobs/77/result", {**hostile.of(job), "result": session(runs)})[0] == 404
    assert honest.send_result(job, session(runs)) == (200, {"accepted": "stored"})
    assert honest.send_result(job, session(runs)) == (200, {"accepted": "already_stored"})


def test_an_older_agents_result_is_taken_though_its_head_says_no_claim(served):
    runner = HostileRunner(served, "older")
    job = runner.claim_a_job()
    runs = [run(number) for number in range(len(job["spec"]["order"]))]
    assert runner.send_result(job, session(runs), head=False) == (200, {"accepted": "stored"})


def test_a_token_imports_nothing_unless_its_role_or_its_table_says_so(served):
    """The runner's table says `imports = true` here, and the builder's does not."""
    history = {"machine_class": "x", "nights": []}
    for role, status in (("builder", 403), ("read", 403), ("runner", 200), ("import", 200),
                         ("admin", 200)):
        answer = served.request("POST", "/api/v1/imports", history, token=role)
        assert answer[0] == status, answer
    assert b"role import" in served.request("POST", "/api/v1/imports", history, token="builder")[1]
    assert served.request("POST", "/api/v1/agent/claim", {}, token="import")[0] == 403
