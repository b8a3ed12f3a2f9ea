"""The documentation of a product that does not exist, and what its users ask.

Quayside runs jobs on a fleet of workers. The pages vary as those of real products do: tutorials,
references, tables, release notes, a page in German; questions are spelt as people spell them.
"""

from __future__ import annotations

PAGES: dict[str, str] = {
    "index": """# Quayside documentation

Quayside runs background jobs on a fleet of workers. You describe a job once; Quayside finds a
machine for it, keeps its logs and starts it again when the machine dies.

## Where to begin

New users should read the quickstart. Operators will want the deployment guide.
""",
    "quickstart": """# Quickstart

Run your first job in five minutes on a laptop.

## Install the command line

Download the archive for your platform, or use a package manager:

```sh
brew install quayside
quay --version
```

## Submit a job

Write a job file and hand it to the scheduler.

```yaml
name: hello
image: alpine:3
command: ["echo", "hello"]
```

```sh
quay submit hello.yaml
```
""",
    "concepts/jobs": """# Jobs and runs

A job is a description; a run is one execution of it.

## Life of a run

A run is queued, placed on a worker, running, and then succeeded, failed or cancelled. A run that
is lost because its worker vanished goes back to the queue.

## Idempotency keys

Submitting the same job twice with one idempotency key gives one run. Keys are remembered for a day.
""",
    "concepts/workers": """# Workers

A worker is a process that takes runs from the queue and executes them in containers.

## Labels and placement

Give workers labels, such as `gpu=true`, and select them in the job file with `placement`.

## Draining

Before maintenance, drain a worker: it finishes what it has and takes nothing new.

```sh
quay worker drain worker-7 --timeout 30m
```
""",
    "guides/retries": """# Retries and backoff

Failures that are temporary should be tried again; those that are not should not.

## Retry policy

`max_attempts` bounds the number of attempts. The pause doubles after each, up to `max_backoff`, and
half of it is random so that a crowd does not come back at once.

| field | default | meaning |
| --- | --- | --- |
| `max_attempts` | 3 | attempts altogether |
| `base_backoff` | 1s | first pause |
| `max_backoff` | 5m | longest pause |

## Exit codes that are final

A run that exits with 64 is never repeated: the input was wrong.
""",
    "guides/schedules": """# Scheduled jobs

Run a job every night, or on the first Monday of a month.

## Cron expressions

Five fields, as in crontab, and an optional time zone:

```yaml
schedule:
  cron: "0 3 * * *"
  timezone: Europe/Lisbon
```

## Missed runs

If Quayside was down when a run was due, `catch_up: latest` starts it once afterwards, and
`catch_up: none` leaves it out.

## Daylight saving time

A time that occurs twice runs once; a time that is skipped runs an hour later.
""",
    "guides/secrets": """# Secrets

Passwords and tokens do not belong in job files.

## Store a secret

```sh
quay secret set db-password < password.txt
```

## Use it in a job

Name it under `secrets` and it appears as an environment variable inside the container. Values are
masked in logs.

## Rotation

Setting a secret again makes a new version; runs that have begun keep the version they began with.
""",
    "guides/logs": """# Logs

Standard output and standard error of every run are kept for thirty days.

## Follow a run

```sh
quay logs --follow 7f3a
```

## Ship logs elsewhere

Point `log_sink` at an OpenTelemetry collector or at an object store. Lines are sent in batches of
at most one megabyte.
""",
    "guides/deploy": """# Deploying to production

Three schedulers behind a load balancer and a PostgreSQL database make a cluster that survives the
loss of any one machine.

## Database

PostgreSQL 14 or later. Give it a connection pool of at least twenty.

## High availability

Schedulers elect a leader through an advisory lock. When the leader dies another takes over within
ten seconds.

## Upgrading

Upgrade one scheduler at a time; the schema is migrated by the first of the new version.
""",
    "guides/kubernetes": """# Running on Kubernetes

Install the Helm chart and let the operator manage workers as pods.

## Helm values

```yaml
workers:
  replicas: 4
  resources:
    limits: {memory: 2Gi}
```

## Autoscaling

The operator adds pods while the queue is longer than `targetQueueLength` for each pod.
""",
    "guides/gpu": """# GPU jobs

Ask for accelerators with `resources.gpu`.

## Drivers

The host needs the vendor's driver and container toolkit; Quayside passes the devices through.

## Sharing one card

With `gpu.fraction: 0.5` two runs share a card. Memory is not isolated between them.
""",
    "reference/cli": """# Command line reference

## quay submit

Sends a job file. `--wait` blocks until the run ends and exits with its status.

## quay cancel

Stops a run: SIGTERM first, and SIGKILL after the grace period.

## quay ps

Lists runs. `--state failed` shows only those that failed.

## quay top

Shows what each worker is using now: processor, memory and network.
""",
    "reference/config": """# Configuration reference

All settings of the scheduler, from `quayside.toml` or the environment.

| setting | default | meaning |
| --- | --- | --- |
| `listen` | `0.0.0.0:7070` | address of the API |
| `database_url` | none | PostgreSQL to use |
| `lease_seconds` | 30 | after so long without a heartbeat a worker counts as lost |
| `retention_days` | 30 | how long finished runs are kept |
| `max_payload` | 4 MiB | largest job file |

## Environment variables

Each setting may be given as `QUAYSIDE_` and its name in capitals.
""",
    "reference/api": """# REST API

## Authentication

Send an API token as a bearer token. Tokens have scopes: `read`, `submit`, `admin`.

## Pagination

Lists return a `next` cursor. Pass it back as `after` until it is null.

## Rate limits

Six hundred requests a minute for each token; beyond that the answer is 429 with `Retry-After`.

## Create a run

```http
POST /v1/runs
Content-Type: application/json

{"job": "hello", "idempotency_key": "abc"}
```
""",
    "reference/python": """# Python client

`pip install quayside` gives a synchronous and an asynchronous client.

## RunHandle

`client.submit()` returns a `RunHandle`. Call `RunHandle.wait()` to block, or `await` it.

```python
from quayside import Client

client = Client(token="...")
handle = client.submit("hello.yaml")
print(handle.wait(timeout=60).status)
```

## Errors

`JobRejected` is raised for an invalid job file, `QuaysideTimeout` when `wait` takes too long.
""",
    "reference/webhooks": """# Webhooks

Be told when a run ends.

## Payload

A JSON body with `run_id`, `state` and `finished_at`.

## Verifying signatures

Every request has an `X-Quayside-Signature` header: HMAC-SHA256 over the raw body with your signing
secret. Compare in constant time.

## Redelivery

A hook that does not answer 2xx within five seconds is sent again for up to a day.
""",
    "troubleshooting": """# Troubleshooting

## Runs stay in the queue

No worker matches the placement, or all are full. `quay explain RUN` says which rule excluded each
worker.

## Error QS-1042: lease lost

The worker could not renew its lease in time, most often because its clock jumped or its disk was
stalled.

## Container image cannot be pulled

Check that the registry credentials are set with `quay registry login`.
""",
    "security": """# Security model

## Roles

Viewers read, developers submit and cancel, administrators change settings.

## Single sign-on

OpenID Connect with any provider. Groups map to roles in `sso.group_mapping`.

## Audit trail

Every change is written to an append-only audit log with the user and address that made it.

## Reporting a vulnerability

Write to the address in SECURITY.md; please do not open a public issue.
""",
    "releases": """# Release notes

## 3.2

Workers can be drained with a timeout. The queue is fair between teams.

## 3.1

Breaking: `retry_count` was renamed to `max_attempts`. Python 3.8 is no longer supported.

## 3.0

PostgreSQL replaces SQLite as the only database. Run `quay migrate sqlite` once.
""",
    "de/schnellstart": """# Schnellstart

So läuft der erste Auftrag auf dem eigenen Rechner.

## Installation

Das Archiv für die eigene Plattform herunterladen und entpacken.

## Größere Aufträge

Für größere Aufträge die Speichergrenze in der Auftragsdatei erhöhen.
""",
    "billing": """# Quayside Cloud billing

## What is metered

Worker seconds by machine size, and gigabytes of logs that are kept.

## Spending limits

Set a monthly budget; at 80 % owners get a mail, at 100 % new runs are refused.

## Invoices

Invoices are issued on the first of the month and can be paid by card or bank transfer.
""",
}

#: Question, path of the page that answers it, and the heading under which it does.
QUESTIONS: list[tuple[str, str, str]] = [
    ("how do I install the cli", "quickstart", "Install the command line"),
    ("submit my first job", "quickstart", "Submit a job"),
    ("difference between a job and a run", "concepts/jobs", "Jobs and runs"),
    ("avoid starting the same job twice", "concepts/jobs", "Idempotency keys"),
    ("idempotency_key", "concepts/jobs", "Idempotency keys"),
    ("what happens to a run when its machine dies", "concepts/jobs", "Life of a run"),
    ("take a worker out of service for maintenance", "concepts/workers", "Draining"),
    ("run only on machines with a certain label", "concepts/workers", "Labels and placement"),
    ("exponential backoff with jitter", "guides/retries", "Retry policy"),
    ("max_attempts default", "guides/retries", "Retry policy"),
    ("MaxBackoff", "guides/retries", "Retry policy"),
    ("which exit code stops retrying", "guides/retries", "Exit codes that are final"),
    ("run a job every night at 3", "guides/schedules", "Cron expressions"),
    ("cron timezone", "guides/schedules", "Cron expressions"),
    ("scheduler was down when the job was due", "guides/schedules", "Missed runs"),
    ("daylight savings", "guides/schedules", "Daylight saving time"),
    ("pass a database password to a container", "guides/secrets", "Use it in a job"),
    ("rotate credentials", "guides/secrets", "Rotation"),
    ("tail output of a running job", "guides/logs", "Follow a run"),
    ("send logs to opentelemetry", "guides/logs", "Ship logs elsewhere"),
    ("leader election", "guides/deploy", "High availability"),
    ("which postgres version is required", "guides/deploy", "Database"),
    ("zero downtime upgrade", "guides/deploy", "Upgrading"),
    ("helm chart values", "guides/kubernetes", "Helm values"),
    ("scale pods with queue length", "guides/kubernetes", "Autoscaling"),
    ("two jobs on one graphics card", "guides/gpu", "Sharing one card"),
    ("nvidia driver needed on host", "guides/gpu", "Drivers"),
    ("kill a running job", "reference/cli", "quay cancel"),
    ("show cpu and memory usage of workers", "reference/cli", "quay top"),
    ("lease_seconds", "reference/config", "Configuration reference"),
    ("largest allowed job file size", "reference/config", "Configuration reference"),
    ("set options by environment variables", "reference/config", "Environment variables"),
    ("api token scopes", "reference/api", "Authentication"),
    ("429 too many requests", "reference/api", "Rate limits"),
    ("cursor paging through lists", "reference/api", "Pagination"),
    ("runhandle wait", "reference/python", "RunHandle"),
    ("exception for an invalid job file in python", "reference/python", "Errors"),
    ("verify hmac signature of webhook", "reference/webhooks", "Verifying signatures"),
    ("webhook retry when endpoint fails", "reference/webhooks", "Redelivery"),
    ("QS-1042", "troubleshooting", "Error QS-1042: lease lost"),
    ("why is my run stuck in the queue", "troubleshooting", "Runs stay in the queue"),
    ("cannot pull docker image", "troubleshooting", "Container image cannot be pulled"),
    ("oidc sso groups", "security", "Single sign-on"),
    ("who changed a setting, history", "security", "Audit trail"),
    ("retry_count renamed", "releases", "3.1"),
    ("migrate from sqlite", "releases", "3.0"),
    ("GROSSERE AUFTRÄGE", "de/schnellstart", "Größere Aufträge"),
    ("monthly budget", "billing", "Spending limits"),
    ("how can I pay", "billing", "Invoices"),
]
