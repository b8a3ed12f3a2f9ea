"""Modules of a project's own that hide others of their name.

This room looks at names of files near a project's root. It does not know what code imports.
"""

from __future__ import annotations

import os

from docstow.languages.shared.sandbox import Boundary

#: Folders that are looked into: a script's own folder comes first where it imports.
_MOST_FOLDERS = 400
_DEEPEST = 2
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "build", "dist", "target"})


def names(boundary: Boundary) -> frozenset[str]:
    """Names of modules and folders of modules, as files in the same folder import them.

    Args:
        boundary: of the project.
    """
    found: set[str] = set()
    waiting = [(boundary.root, 0)]
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            break
        folder, depth = waiting.pop(0)
        try:
            with os.scandir(folder) as listed:
                entries = [(each.name, each.is_dir(follow_symlinks=False)) for each in listed]
        except OSError:
            continue
        files = {name for name, is_folder in entries if not is_folder}
        if "pyvenv.cfg" in files:
            continue
        found |= {name[:-3] for name in files if name.endswith(".py")}
        for name, is_folder in entries:
            if not is_folder or name.startswith(".") or name in _SKIPPED:
                continue
            found |= {name} if (folder / name / "__init__.py").exists() else set()
            waiting += [(folder / name, depth + 1)] if depth < _DEEPEST else []
    return frozenset(found)
