"""What must stay true of the deployment's template, beyond its being valid."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from docstow.core.settings import FIELDS, MIB, load
from paths import REPOSITORY
from template import (
    FUNCTIONS,
    RESOURCES,
    ROLES,
    TEMPLATE,
    listed,
    of_type,
    prefixes,
    read,
    statements,
)

#: Everything that a store may hold.
LAYOUT = {
    "blobs",
    "catalog",
    "heads",
    "jobs",
    "leases",
    "logs",
    "pinned",
    "pushed",
    "snapshots",
    "sources",
    "touched",
    "upkeep",
}
#: Of which roles need but these.
PARTS = {
    "catalog/waiting",
    "upkeep/clock",
    "upkeep/sources.json.gz",
    "upkeep/totals.json.gz",
}


def environment(function: str) -> dict[str, Any]:
    own = FUNCTIONS[function].get("Environment", {}).get("Variables", {})
    return {**TEMPLATE["Globals"]["Function"]["Environment"]["Variables"], **own}


def resolved(value: Any) -> str:
    """A value of the template as a stack of nothing but defaults has it."""
    if not isinstance(value, dict):
        return str(value)
    if "Ref" in value:
        name = value["Ref"]
        if name in TEMPLATE["Parameters"]:
            return str(TEMPLATE["Parameters"][name]["Default"])
        return {"AWS::Region": "eu-central-1"}.get(name, f"https://sqs.example/{name}")
    if "Fn::Sub" in value:
        text = str(value["Fn::Sub"]).replace("${Bucket}", "a-bucket")
        return text.replace("${Api.ApiEndpoint}", "https://abc.execute-api.example")
    # No condition holds in such a stack.
    return resolved(value["Fn::If"][2])


def handler(function: str) -> str:
    image = FUNCTIONS[function].get("ImageConfig")
    return str(image["Command"][0] if image else FUNCTIONS[function]["Handler"])


def test_each_folder_of_functions_is_deployed() -> None:
    deployed = {handler(function) for function in FUNCTIONS}
    assert deployed == {f"functions/{name}/handler.handler" for name in ("mcp", "ingest", "upkeep")}
    found = {
        f"functions/{each.parent.name}/handler" for each in REPOSITORY.glob("functions/*/*.py")
    }
    assert found <= {each.removesuffix(".handler") for each in deployed}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_environment_is_made_of_settings_and_its_defaults_are_good(function: str) -> None:
    variables = environment(function)
    assert [name for name in variables if name.removeprefix("DOCSTOW_").lower() not in FIELDS] == []
    settings = load({}, {name: resolved(value) for name, value in variables.items()})
    assert (settings.store, settings.s3_region) == ("s3://a-bucket", "eu-central-1")
    assert not settings.auth
    storage = TEMPLATE["Globals"]["Function"]["EphemeralStorage"]["Size"] * MIB
    assert settings.cache.startswith("/tmp/")
    # Downloads and a fetched model lie in the same folder.
    assert settings.cache_bytes <= 0.8 * storage


def test_nothing_is_said_in_the_open_that_is_secret() -> None:
    secret = {
        value["Ref"]
        for function in FUNCTIONS
        for name, value in environment(function).items()
        if FIELDS[name.removeprefix("DOCSTOW_").lower()].metadata["kind"] == "secret"
        and "Ref" in value
    }
    assert {"EmbeddingsKey", "GithubToken"} <= secret
    assert all(TEMPLATE["Parameters"][name].get("NoEcho") for name in {*secret, "Auth"})
    shown = json.dumps(TEMPLATE["Outputs"])
    assert not any(f'"Ref": "{name}"' in shown for name in {*secret, "Auth"})


def test_a_call_ends_before_the_api_gives_up() -> None:
    longest = TEMPLATE["Parameters"]["WaitSeconds"]["MaxValue"]
    assert longest < FUNCTIONS["McpFunction"]["Timeout"] <= 30


def test_a_job_is_hidden_for_as_long_as_it_may_take() -> None:
    queue, dead = (of_type("AWS::SQS::Queue")[name] for name in ("Queue", "DeadLetters"))
    assert queue["VisibilityTimeout"] >= 6 * FUNCTIONS["IngestFunction"]["Timeout"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == 5
    # A dead letter keeps the day it was sent on, so it must be kept longer than a job waits.
    assert dead["MessageRetentionPeriod"] > queue["MessageRetentionPeriod"]
    last = queue["VisibilityTimeout"] * queue["RedrivePolicy"]["maxReceiveCount"]
    assert queue["MessageRetentionPeriod"] > last
    assert queue["SqsManagedSseEnabled"] is dead["SqsManagedSseEnabled"] is True


def test_only_the_queue_may_send_its_dead_to_the_dead_letters() -> None:
    queues = of_type("AWS::SQS::Queue")
    name = queues["Queue"]["QueueName"]["Fn::Sub"]
    allowed = queues["DeadLetters"]["RedriveAllowPolicy"]
    assert allowed["redrivePermission"] == "byQueue"
    assert [each["Fn::Sub"].rpartition(":")[2] for each in allowed["sourceQueueArns"]] == [
        name.rpartition(":")[2]
    ]


def test_a_batch_fails_by_the_job_and_docs_rs_is_asked_once_a_second() -> None:
    job = FUNCTIONS["IngestFunction"]["Events"]["Job"]["Properties"]
    assert job["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert resolved(job["BatchSize"]) == "1"
    # As many at once as each of them waits seconds between requests.
    interval = environment("IngestFunction")["DOCSTOW_UPSTREAM_INTERVAL_S"]
    assert job["ScalingConfig"]["MaximumConcurrency"] == interval == {"Ref": "IngestConcurrency"}
    # No more are asked for than are reserved: a refusal would count as a try.
    reserved = FUNCTIONS["IngestFunction"]["ReservedConcurrentExecutions"]
    assert reserved == {"Fn::If": ["ReservesIngest", interval, {"Ref": "AWS::NoValue"}]}


def test_what_searches_or_embeds_runs_from_an_image() -> None:
    images = {name for name, each in FUNCTIONS.items() if each.get("PackageType") == "Image"}
    assert images == {"McpFunction", "IngestFunction"}
    for name in images:
        context = RESOURCES[name]["Metadata"]
        assert (REPOSITORY / context["DockerContext"] / context["Dockerfile"]).is_file()


def test_each_function_has_a_role_of_its_own() -> None:
    roles = {name: each["Role"]["Fn::GetAtt"][0] for name, each in FUNCTIONS.items()}
    assert roles == {f"{name}Function": f"{name}Role" for name in ("Mcp", "Ingest", "Upkeep")}
    assert set(ROLES) == set(roles.values())
    assert not any("ManagedPolicyArns" in role for role in ROLES.values())


@pytest.mark.parametrize("role", ROLES)
def test_roles_name_their_actions_and_their_resources(role: str) -> None:
    for statement in statements(role):
        assert statement["Effect"] == "Allow"
        assert not any("*" in action for action in listed(statement["Action"]))
        assert "*" not in listed(statement["Resource"])
        for resource in listed(statement["Resource"]):
            assert set(resource) <= {"Fn::GetAtt", "Fn::Sub"}
    assert prefixes(role, "s3:GetObject") == {"*"}
    written = prefixes(role, "s3:PutObject") | prefixes(role, "s3:DeleteObject")
    assert written <= LAYOUT | PARTS


def test_only_traces_are_for_any_resource() -> None:
    policies = of_type("AWS::IAM::Policy")
    assert set(policies) == {"TracingPolicy"}
    assert RESOURCES["TracingPolicy"]["Condition"] == "HasTracing"
    (statement,) = policies["TracingPolicy"]["PolicyDocument"]["Statement"]
    assert all(action.startswith("xray:Put") for action in statement["Action"])


def test_who_writes_and_who_removes() -> None:
    def writers(prefix: str, action: str) -> set[str]:
        return {role for role in ROLES if prefix in prefixes(role, action)}

    for prefix in LAYOUT:
        assert writers(prefix, "s3:PutObject"), f"nobody can write {prefix}/"
    for prefix in ("blobs", "snapshots"):
        assert writers(prefix, "s3:PutObject") == {"IngestRole"}
        assert writers(prefix, "s3:DeleteObject") == {"UpkeepRole"}
    # A head that is gone would begin its generations anew.
    assert writers("heads", "s3:DeleteObject") == set()
    receivers = {
        role
        for role in ROLES
        for each in statements(role)
        if "sqs:ReceiveMessage" in listed(each["Action"])
    }
    assert receivers == {"IngestRole"}


def test_who_may_read_is_told_what_is_absent() -> None:
    # S3 answers 403 where it would answer 404 to a caller who may not list the whole bucket.
    for role in ROLES:
        (find,) = (each for each in statements(role) if "s3:ListBucket" in listed(each["Action"]))
        assert (find["Resource"], "Condition" in find) == ({"Fn::GetAtt": ["Bucket", "Arn"]}, False)


def test_the_bucket_is_private_and_stays() -> None:
    bucket = RESOURCES["Bucket"]
    assert bucket["DeletionPolicy"] == bucket["UpdateReplacePolicy"] == "Retain"
    properties = bucket["Properties"]
    assert list(properties["PublicAccessBlockConfiguration"].values()) == [True] * 4
    assert properties["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    assert properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert "VersioningConfiguration" not in properties
    rules = properties["LifecycleConfiguration"]["Rules"]
    expiring = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "Prefix" in rule}
    # Nothing else may ever expire by its age.
    assert expiring == {"touched/": 120, "uploads/": 7}
    assert [r["AbortIncompleteMultipartUpload"] for r in rules if "Prefix" not in r] == [
        {"DaysAfterInitiation": 1}
    ]


def test_bucket_and_queues_refuse_what_is_not_encrypted_on_its_way() -> None:
    covered = []
    policies = {**of_type("AWS::S3::BucketPolicy"), **of_type("AWS::SQS::QueuePolicy")}
    for properties in policies.values():
        (statement,) = properties["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        covered += [json.dumps(resource) for resource in listed(statement["Resource"])]
    assert sorted(covered) == sorted(
        json.dumps(each)
        for each in (
            {"Fn::GetAtt": ["Bucket", "Arn"]},
            {"Fn::Sub": "${Bucket.Arn}/*"},
            {"Fn::GetAtt": ["Queue", "Arn"]},
            {"Fn::GetAtt": ["DeadLetters", "Arn"]},
        )
    )


def test_every_log_is_kept_for_as_long_as_is_asked_for() -> None:
    groups = of_type("AWS::Logs::LogGroup")
    used = {each["LoggingConfig"]["LogGroup"]["Ref"] for each in FUNCTIONS.values()}
    assert used | {"ApiLogs"} == set(groups)
    assert all(each["RetentionInDays"] == {"Ref": "LogDays"} for each in groups.values())


def test_requests_are_throttled_and_have_no_stage_before_their_paths() -> None:
    (api,) = of_type("AWS::Serverless::HttpApi").values()
    assert "StageName" not in api  # SAM's default is $default
    assert {"ThrottlingRateLimit", "ThrottlingBurstLimit"} <= set(api["DefaultRouteSettings"])


def test_where_there_is_an_issuer_only_what_comes_before_a_token_is_open() -> None:
    (api,) = of_type("AWS::Serverless::HttpApi").values()
    (path,) = api["DefinitionBody"]["paths"].items()
    assert path[0] == "$default"
    default = path[1]["x-amazon-apigateway-any-method"]
    assert default["isDefaultRoute"]
    assert default["security"] == {"Fn::If": ["HasJwt", [{"jwt": []}], []]}
    schemes = api["DefinitionBody"]["components"]["securitySchemes"]["Fn::If"]
    assert (schemes[0], list(schemes[1]), schemes[2]) == ("HasJwt", ["jwt"], {})
    opened = {
        (each["Properties"]["Method"], each["Properties"]["Path"])
        for each in FUNCTIONS["McpFunction"]["Events"].values()
    }
    assert opened == {
        ("GET", "/health"),
        ("GET", "/.well-known/{proxy+}"),
        ("OPTIONS", "/{proxy+}"),
    }


def test_what_sam_runs_locally_sets_variables_of_the_function() -> None:
    local = json.loads((REPOSITORY / "infra" / "sam-local.json").read_text("utf-8"))["Parameters"]
    # SAM passes on no variable that the template does not have.
    assert set(local) <= set(TEMPLATE["Globals"]["Function"]["Environment"]["Variables"])


def test_every_parameter_is_described_and_shown_in_a_group() -> None:
    groups = TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    shown = [name for group in groups for name in group["Parameters"]]
    assert sorted(shown) == sorted(TEMPLATE["Parameters"])
    assert all(each["Description"] for each in TEMPLATE["Parameters"].values())


def test_the_readme_of_infra_names_every_parameter() -> None:
    text = (REPOSITORY / "infra" / "README.md").read_text("utf-8")
    named = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert named == set(TEMPLATE["Parameters"])


def test_the_compose_file_sets_settings_and_is_closed() -> None:
    services = read("infra/compose.yaml")["services"]
    variables = services["docstow"]["environment"]
    names = [name for name in variables if name.startswith("DOCSTOW_")]
    assert [name for name in names if name.removeprefix("DOCSTOW_").lower() not in FIELDS] == []
    # Without who may call, and without a password of the store, nothing starts.
    assert all(":?" in variables[name] for name in ("DOCSTOW_AUTH", "AWS_SECRET_ACCESS_KEY"))
    assert "127.0.0.1" in services["docstow"]["ports"][0]
