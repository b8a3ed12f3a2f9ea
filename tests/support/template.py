"""The deployment's template, and what its roles are allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from paths import REPOSITORY


class Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short forms: ``!Ref x`` is ``{"Ref": "x"}``."""


def _short_form(loader: Loader, name: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    if name == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {name if name in {"Ref", "Condition"} else f"Fn::{name}": value}


Loader.add_multi_constructor("!", _short_form)


def read(name: str) -> dict[str, Any]:
    # A subclass of the safe loader, which makes plain values only.
    return dict(yaml.load((REPOSITORY / name).read_text("utf-8"), Loader))


TEMPLATE = read("template.yaml")
RESOURCES: dict[str, dict[str, Any]] = TEMPLATE["Resources"]


def of_type(kind: str) -> dict[str, dict[str, Any]]:
    return {
        name: resource["Properties"]
        for name, resource in RESOURCES.items()
        if resource["Type"] == kind
    }


FUNCTIONS = of_type("AWS::Serverless::Function")
ROLES = of_type("AWS::IAM::Role")


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements(role: str) -> Iterator[dict[str, Any]]:
    for policy in ROLES[role]["Policies"]:
        yield from policy["PolicyDocument"]["Statement"]


def prefixes(role: str, action: str) -> set[str]:
    """Below which prefixes of the bucket a role may do something; ``*`` is anywhere."""
    return {
        match[1]
        for statement in statements(role)
        if action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
        if (match := re.fullmatch(r"\$\{Bucket\.Arn}/(.+?)(?:/\*)?", resource["Fn::Sub"]))
    }
