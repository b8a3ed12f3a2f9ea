"""What our reader learns of a piece of code while it checks it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from docstow.languages.python.check.annotations import ValueType
from docstow.languages.python.check.fitting import Surroundings
from docstow.languages.python.check.inference import Inference
from docstow.languages.python.check.parse import Parsed, Scope
from docstow.languages.shared.findings import Verdict
from docstow.languages.shared.lookup import Names


@dataclass(frozen=True, slots=True)
class Checked:
    """What our reader found in a piece of code, and what it knows of it.

    Attributes:
        verdict: the findings.
        parsed: the code.
        names: where names were looked up.
        values: what expressions are.
        scopes: of the nodes that were visited.
        inner_scopes: of the nodes that have their own.
        guarded: lines and columns, from 0, of nodes that are not judged: a guard applies there.
        patched: attributes that the code sets itself.
        narrowed: variables whose type the code tests.
        around: what stands around its calls.
        unsure: members that classes seem to lack, with these.
        unknown: members of values whose class is not known, or not all of it.
    """

    verdict: Verdict
    parsed: Parsed
    names: Names
    values: Inference
    scopes: Mapping[ast.AST, Scope]
    inner_scopes: Mapping[ast.AST, Scope]
    guarded: Set[tuple[int, int]]
    patched: frozenset[str]
    narrowed: frozenset[str]
    around: Surroundings
    unsure: Sequence[tuple[ast.Attribute, ValueType]]
    unknown: Sequence[ast.Attribute]
