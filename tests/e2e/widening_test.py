"""A search that named nobody is taken up again by an admin, over real processes."""
import json

from loop_test import ALPHA, finish, first_night
from verify_test import verify
from world import step


def ask(world, regression, token="admin", **wanted):
    status, text = world.request("POST", f"/api/v1/regressions/{regression}/widen",
                                 {"reason": "slow before, too", **wanted}, token)
    return status, json.loads(text)


def test_a_search_that_named_nobody_is_widened_by_an_admin(world):
    w = world(search={"threshold": "100%"})  # confirmed at 7 %, worth blaming at 100 %
    first_night(w, step(ALPHA, 14, latency=1.25))
    w.repo.grow(6)
    older = w.publish_nightly("2026-08-20")
    w.wait("the second night", lambda: w.night_done(2))
    w.repo.grow(14)
    w.publish_nightly("2026-08-21")
    finish(w, nights=3)
    [regression] = w.items("regressions")
    assert regression["state"] == "inconclusive" and regression["good"]["version"] == older
    number = regression["id"]
    before = w.get(f"/api/v1/bisections/{regression['bisection']}")

    assert ask(w, number, token="read")[0] == 403
    status, problem = ask(w, number)
    assert status == 409 and "below the threshold of 100 %" in problem["detail"]
    status, problem = ask(w, number, nightlies=2)
    assert status == 422 and problem["errors"][0]["pointer"] == "#/nightlies"
    assert w.get(f"/api/v1/regressions/{number}")["state"] == "inconclusive"

    status, widened = ask(w, number, nightlies=1, threshold=.07)
    assert status == 200 and widened["state"] == "bisecting"
    finish(w, nights=3)
    after = w.get(f"/api/v1/bisections/{regression['bisection']}")
    assert after["state"] == "culprit" and after["good"]["date"] == "2026-08-19"
    assert after["commit_count"] == before["commit_count"] + 6
    assert after["runs"] > before["runs"]
    [widening] = after["widened"]
    assert widening["outcome"] == "inconclusive" and widening["runs"] == before["runs"]
    assert widening["good"]["version"] == older and widening["posterior"] == before["posterior"]
    ended = w.get(f"/api/v1/regressions/{number}")
    assert ended["state"] == "reported"
    assert ended["culprit"]["commits"] == [w.repo.commits[14]]
    bundle = w.get(f"/api/v1/regressions/{number}/evidence")
    done = verify(bundle, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(v["agrees"] for v in json.loads(done.stdout)["verdicts"])
    bundle["changes"][-2]["evidence"].pop("good_end")
    done = verify(bundle)
    assert done.returncode == 1 and "does not begin at the good build's commit" in done.stdout
