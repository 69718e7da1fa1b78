"""Workflow runs as GitHub answers them, for GET /repos/{owner}/{repo}/actions/runs."""

TIME = "2026-08-20T08:00:00Z"


def _repository(base, name):
    """A minimal repository, by GitHub's description."""
    owner, repo = name.split("/")
    api = f"{base}/repos/{name}"
    user = f"{base}/users/{owner}"
    links = [
        "archive",
        "assignees",
        "blobs",
        "branches",
        "collaborators",
        "comments",
        "commits",
        "compare",
        "contents",
        "contributors",
        "deployments",
        "downloads",
        "events",
        "forks",
        "git_commits",
        "git_refs",
        "git_tags",
        "hooks",
        "issue_comment",
        "issue_events",
        "issues",
        "keys",
        "labels",
        "languages",
        "merges",
        "milestones",
        "notifications",
        "pulls",
        "releases",
        "stargazers",
        "statuses",
        "subscribers",
        "subscription",
        "tags",
        "teams",
        "trees",
    ]
    return {
        "id": 65600975,
        "node_id": "R_1",
        "name": repo,
        "full_name": name,
        "private": False,
        "fork": False,
        "description": None,
        "url": api,
        "html_url": f"https://github.com/{name}",
        "owner": {
            "login": owner,
            "id": 1,
            "node_id": "U_1",
            "gravatar_id": "",
            "url": user,
            "type": "Organization",
            "avatar_url": "https://avatars.githubusercontent.com/u/1",
            "site_admin": False,
            "html_url": f"https://github.com/{owner}",
            **{
                f"{what}_url": f"{user}/{what}"
                for what in (
                    "followers",
                    "following",
                    "gists",
                    "starred",
                    "subscriptions",
                    "organizations",
                    "repos",
                    "events",
                    "received_events",
                )
            },
        },
        **{f"{what}_url": f"{api}/{what}" for what in links},
    }


def run_json(base, repository, run):
    """`run`: {"id", "head_sha", "event"?, "status"?, "head_repository"?}"""
    api = f"{base}/repos/{repository}"
    url = f"{api}/actions/runs/{run['id']}"
    finished = run.get("status", "completed") == "completed"
    return {
        "id": run["id"],
        "name": run.get("name", "pull"),
        "node_id": f"W_{run['id']}",
        "check_suite_id": run["id"] + 1,
        "check_suite_node_id": f"C_{run['id']}",
        "head_branch": run.get("head_branch", "main"),
        "head_sha": run["head_sha"],
        "path": ".github/workflows/pull.yml",
        "run_number": 7,
        "run_attempt": 1,
        "event": run.get("event", "push"),
        "status": run.get("status", "completed"),
        "conclusion": "success" if finished else None,
        "workflow_id": 11,
        "url": url,
        "html_url": f"https://github.com/{repository}/actions/runs/{run['id']}",
        "pull_requests": [],
        "created_at": TIME,
        "updated_at": TIME,
        "run_started_at": TIME,
        "jobs_url": url + "/jobs",
        "logs_url": url + "/logs",
        "check_suite_url": f"{api}/check-suites/{run['id'] + 1}",
        "artifacts_url": url + "/artifacts",
        "cancel_url": url + "/cancel",
        "rerun_url": url + "/rerun",
        "workflow_url": f"{api}/actions/workflows/11",
        "display_title": "Change something",
        "head_commit": {
            "id": run["head_sha"],
            "tree_id": run["head_sha"],
            "message": "Change something",
            "timestamp": TIME,
            "author": {"name": "A", "email": "a@example.org"},
            "committer": {"name": "A", "email": "a@example.org"},
        },
        "repository": _repository(base, repository),
        "head_repository": _repository(base, run.get("head_repository", repository)),
    }
