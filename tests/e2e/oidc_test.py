"""A runner of a CI job enrols by a token that the job's issuer signed: no secret is stored."""
import json

from world import BIN, script

AUDIENCE = "https://nightjar.test"


def test_a_jobs_runner_enrols_without_a_secret_and_works(world, issuer):
    w = world()
    w.config.write_text(w.config.read_text() + issuer.trusted(AUDIENCE))
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    path = w.folder / "script.json"
    path.write_text(json.dumps(script()))
    w.environment = issuer.environment()
    w.start("pod", BIN / "nightjar-runner", "--service", w.url, "--name", "pod", "--cache",
            w.folder / "cache", "--scripted", path, "--oidc", "github", "--audience", AUDIENCE)
    w.wait("the night", lambda: w.night_done(1))
    token, = w.items("tokens")
    assert token["runner"] == "pod" and token["ends_at"]
    assert w.items("enrolments")[0]["actor"].startswith(f"oidc:{issuer.url} repo:octo/pytorch")
    said = (w.folder / "pod.log").read_text() + (w.folder / "nightjard.log").read_text()
    assert "job-secret" not in said and "eyJ" not in said
