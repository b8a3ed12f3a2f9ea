"""What declares the types of values in code: a package, or the code itself."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.languages.typescript.check.syntax import Tree, child, last_word
from docstow.languages.typescript.files import name_types, split_specifier
from docstow.languages.typescript.undeclared import SCRIPTS
from docstow.languages.typescript.unresolved import lacks_base

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.shared.language_server import LanguageServer
    from docstow.languages.shared.lookup import Resolver
    from docstow.languages.shared.project import Scan
    from docstow.languages.typescript.check.scope import Scope

#: What the name of the file begins with that is checked: no file beside it has that name.
OWN = "docstow-code."
#: A type that is one class.
CLASS = re.compile(r"(?:typeof )?([\w$]+)(?:<.*>)?$")
_INTERSECTION = re.compile(r"(?:typeof )?([\w$]+)(?:<.*>)? & ", re.DOTALL)
#: The declarations of scripts.
_DECLARED = {".js": ".d.ts", ".mjs": ".d.mts", ".cjs": ".d.cts"}
_PACKAGE = re.compile(r".*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)")


@dataclass(frozen=True, slots=True)
class Home:
    """What declares a type: a package, or the code itself.

    Attributes:
        package: its name; empty for none.
        version: of the package.
        is_own: it is the code.
        is_open: the type may have more: another version is meant, or a base is not there.
    """

    package: str = ""
    version: str = ""
    is_own: bool = False
    is_open: bool = False


class Homes:
    """Finds what declares the types of values.

    Args:
        server: the compiler, which has the code open.
        scope: of the code.
        resolver: where packages are found.
        scans: environments with the packages; those of the first one count before the others'.
    """

    def __init__(
        self, server: LanguageServer, scope: Scope, resolver: Resolver, scans: Sequence[Scan]
    ) -> None:
        self._server = server
        self._scope = scope
        self._tree: Tree = scope.tree
        self._resolver = resolver
        self._scans = scans

    def of_member(self, node: Node | None) -> Home:
        """Return who declares the type of what stands before a member's name."""
        node = self.owner_word(node)
        home = self._at(node)
        if node is None or home.package or home.is_own:
            return home
        # A name that is taken out of a value, and a variable that gets its values later, have none.
        givers = (last_word(each) for each in self._scope.values(node))
        homes = [self.of_called(each) for each in givers if each.id != node.id]
        if not homes:
            return self.of_called(node)
        return homes[0] if homes and all(each.package for each in homes) else home

    def of_type(self, owner: str) -> Home | None:
        """Return the package that exports a type, of which nothing in the code tells the place.

        Such are names for other types, and what is made of several.
        """
        several = _INTERSECTION.match(owner)
        name = several or CLASS.match(owner)
        specifiers = {each.specifier: None for each, _ in self._scope.places} if name else ()
        for specifier in specifiers:
            found = self._resolver.package_for(specifier)
            symbol = found.surface.symbol(f"{specifier}.{name[1]}") if found and name else None
            if found is not None and symbol is not None and (several or symbol.kind == "type"):
                return Home(found.name, found.version)
        return None

    def of_target(self, node: Node | None) -> Home:
        """Return who declares what has the member that the object around a key is given to."""
        for each in self._tree.above(node) if node is not None else ():
            left = child(each, "left") if each.type == "assignment_expression" else None
            if left is not None and left.type == "member_expression":
                return self.of_member(child(left, "property"))
        return Home()

    def of_module(self, specifier: str) -> Home:
        """Return the package of a module."""
        found = self._resolver.package_for(specifier)
        return Home(found.name, found.version) if found is not None else Home()

    def of_called(self, word: Node | None) -> Home:
        """Return who declares a function, or what has it, or what it is imported from."""
        home = self._at(word)
        home = home if home.package else self._at(self.owner_word(word))
        if home.package:
            return home
        imported = self._scope.name(word) if word is not None else None
        found = self._resolver.package_for(imported.specifier) if imported is not None else None
        return Home(found.name, found.version) if found is not None else home

    def owner_word(self, node: Node | None) -> Node | None:
        """Return the word that names what stands before a member's name; others as they are."""
        outer = self._tree.parent(node) if node is not None else None
        if outer is not None and outer.type == "member_expression":
            return last_word(outer.named_children[0])
        return node

    def _at(self, node: Node | None) -> Home:
        """Return who declares the type of a word."""
        if node is None:
            return Home()
        at = node.start_point
        for path, line in self._server.declared(at.row, at.column):
            home = self.at_path(path)
            if home.package:
                if path.suffix in SCRIPTS:
                    # What is read of JavaScript tells too little; declarations may lead there, too.
                    is_lacking = not path.with_suffix(_DECLARED[path.suffix]).is_file()
                else:
                    is_lacking = lacks_base(self.text_at(path), line, self._is_found)
                return replace(home, is_open=home.is_open or is_lacking)
            return home
        return Home()

    def at_path(self, path: Path) -> Home:
        """Return who has a file."""
        if match := _PACKAGE.match(str(path)):
            return self._of_package(match[1].replace("\\", "/"), Path(match[0]))
        return Home(is_own=path.name.startswith(OWN))

    def _of_package(self, name: str, folder: Path) -> Home:
        plain = name.removeprefix("@types/").replace("__", "/")
        plain = f"@{plain}" if "__" in name else plain
        found = self._resolver.package_for(plain) or self._resolver.package_for(name)
        version = self._version_at(folder)
        if found is None:
            return Home(name, version)
        if found.name != name:
            return Home(found.name, found.version)
        # Packages of a project go on seeing what it has installed.
        is_replaced = len(self._scans) > 1 and bool(self._scans[0].named(name))
        return Home(name, version, is_open=is_replaced and version != found.version)

    def ask(self, module: str, question: str, *about: object) -> bool | None:
        """Return what a package that is installed says of itself; None where none can be asked."""
        found = self._resolver.package_for(module) if module else None
        ask = getattr(found.surface, question, None) if found is not None else None
        return bool(ask(*about)) if ask is not None else None

    def _is_found(self, specifier: str) -> bool:
        """Return whether a specifier leads to a package, or to Node's modules and their types."""
        if self._resolver.is_standard(specifier):
            return self._resolver.package_for("node:fs") is not None
        # There may be a package of its types alone.
        wanted = (specifier, name_types(split_specifier(specifier)[0]))
        return any(self._resolver.package_for(each) is not None for each in wanted)

    def _version_at(self, folder: Path) -> str:
        """Return the version of the package in a folder: a project may have several."""
        try:
            manifest = json.loads(self.text_at(folder / "package.json") or "{}")
        except (ValueError, RecursionError):
            return ""
        version = manifest.get("version") if isinstance(manifest, dict) else None
        return version if isinstance(version, str) else ""

    def text_at(self, path: Path) -> str:
        """Return a file of a package; empty where it cannot be read."""
        for scan in self._scans:
            with suppress(DocstowError):
                return scan.boundary.read(path).decode("utf-8", "replace")
        return ""
