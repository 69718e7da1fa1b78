"""For schemathesis: lets no claim wait, and signs what goes to the webhook where its secret is
told."""

import hashlib
import hmac
import json
import os

import schemathesis

SECRET = os.environ.get("NIGHTJAR_WEBHOOK_SECRET", "").encode()


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw.get("operationId")
    body = case.body
    if operation == "claim_job" and isinstance(body, dict):
        wait = body.get("wait_seconds")
        if isinstance(wait, (int, float)) and not isinstance(wait, bool) and wait > 0:
            body["wait_seconds"] = 0
    if operation == "github_webhook" and SECRET:
        case.body = json.dumps(body).encode()
        case.headers["X-Hub-Signature-256"] = "sha256=" + hmac.new(SECRET, case.body,
                                                                   hashlib.sha256).hexdigest()
