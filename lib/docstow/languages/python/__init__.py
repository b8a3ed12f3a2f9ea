"""Python: environments, sources, surfaces, checks of code, differences of versions."""

from __future__ import annotations

from docstow.core.spelling import Spelling
from docstow.languages.shared.language import Language, deferred

PYTHON = Language(
    spelling=Spelling(
        name="python", ecosystem="python", kind="python", folds=True, guess_code=True
    ),
    fences={".py": "python", ".pyi": "python"},
    scanning=deferred("docstow.languages.python.scanning:SCANNING"),
    texts=deferred("docstow.languages.python.messages:TEXTS"),
    reading=deferred("docstow.languages.python.documents:READING"),
    checking=deferred("docstow.languages.python.resolver:CHECKING"),
    comparing=deferred("docstow.languages.python.diff:COMPARING"),
    examples=("python", "py", "python3", "pycon"),
    versions=deferred("docstow.languages.python.versions:VERSIONS"),
    registries=("pypi",),
    runtime="Python",
    install=("uv add {name}=={version}", "pip install {name}=={version}"),
)
