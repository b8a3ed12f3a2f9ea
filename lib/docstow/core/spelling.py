"""How the languages spell the names of packages and items.

Each language registers its spelling; what is no package is spelled as in Rust.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

_SEPARATORS = lazy_pattern(r"[-_.]+")
_GENERICS = lazy_pattern(r"::<.*?>+|<[^<>]*>")

_TYPE_KINDS = frozenset(
    {
        *("struct", "enum", "union", "trait", "trait_alias", "type_alias", "extern_type"),
        *("primitive", "module", "variant", "assoc_type"),
    }
)
_VALUE_KINDS = frozenset(
    {"function", "method", "constant", "static", "assoc_const", "variant", "field"}
)
_MACRO_KINDS = frozenset({"macro", "attribute_macro", "derive_macro"})
_FUNCTION_KINDS = frozenset({"function", "method"})
#: Kinds of Rust's items that own nothing, though a type or module of their path may.
MEMBERLESS = _MACRO_KINDS | {"function", "constant", "static"}
#: rustdoc's disambiguators, https://doc.rust-lang.org/rustdoc/write-documentation/linking-to-items-by-name.html
_DISAMBIGUATORS = {
    **{word: frozenset({word}) for word in ("struct", "enum", "union", "static")},
    **{word: frozenset({word}) for word in ("field", "variant")},
    **dict.fromkeys(("mod", "module"), frozenset({"module"})),
    **dict.fromkeys(("prim", "primitive"), frozenset({"primitive"})),
    **dict.fromkeys(("const", "constant"), frozenset({"constant", "assoc_const"})),
    **dict.fromkeys(("tyalias", "typealias"), frozenset({"type_alias", "assoc_type"})),
    **dict.fromkeys(("fn", "function", "method"), _FUNCTION_KINDS),
    "trait": frozenset({"trait", "trait_alias"}),
    "derive": frozenset({"derive_macro"}),
    "type": _TYPE_KINDS,
    "value": _VALUE_KINDS,
    "macro": _MACRO_KINDS,
}
_PREFIX = lazy_pattern(rf"\A({'|'.join(_DISAMBIGUATORS)})@(?=\S)")
_SUFFIX = lazy_pattern(r"(\(\))$|!(?:\(\)|\[\]|\{\})?$")


def _bare(path: str) -> str:
    return path.strip().strip("`").strip()


def normalise_dotted(path: str) -> str:
    """Return a path with dots between its names: ``click.echo()`` is ``click.echo``."""
    path = _bare(path).removesuffix("()").replace("::", ".").replace("#", ".")
    return re.sub(r"\s*\.\s*", ".", path).strip(".:")


def normalise_rust(path: str) -> str:
    """Return a path as Rust writes it: ``Vec::<T>::new()`` is ``Vec::new``."""
    previous, path = "", _PREFIX.sub("", _bare(path), count=1)
    while previous != path:
        previous, path = path, _GENERICS.sub("", path)
    path = _SUFFIX.sub("", path).replace(".", "::").replace("#", "::")
    path = re.sub(r"(?<![a-z0-9_])r::(?=[a-z])", "", path)
    return re.sub(r"\s*::\s*", "::", path).strip(":")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of the items of one path are meant.

    Attributes:
        kinds: theirs; empty if any may be.
        word: what says so in front of the path; empty where a suffix does.
        path: as written, without that word.
    """

    path: str
    kinds: frozenset[str] = frozenset()
    word: str = ""


def choose_rust(path: str) -> Choice:
    """Return what rustdoc's disambiguators mean: ``trait@a::B``, ``a::b()``, ``a::b!``."""
    bare = _bare(path)
    if found := _PREFIX.match(bare):
        return Choice(bare[found.end() :], _DISAMBIGUATORS[found[1]], found[1])
    if found := _SUFFIX.search(bare):
        return Choice(path, _FUNCTION_KINDS if found[1] else frozenset({"macro"}))
    return Choice(path)


#: Kinds in the order in which items of one path are shown, each with its disambiguator.
_WORDS = {
    **{word: word for word in ("struct", "enum", "union", "trait")},
    "trait_alias": "trait",
    "type_alias": "type",
    "extern_type": "type",
    "primitive": "prim",
    "variant": "variant",
    "assoc_type": "type",
    "module": "mod",
    "function": "fn",
    "method": "method",
    "constant": "const",
    "static": "static",
    "assoc_const": "const",
    "field": "field",
    "macro": "macro",
    "attribute_macro": "macro",
    "derive_macro": "derive",
}
_RANKS = {kind: rank for rank, kind in enumerate(_WORDS)}


def kind_rank(kind: str) -> int:
    """Return where a kind stands among items of one path: types and traits first, macros last."""
    return _RANKS.get(kind, len(_RANKS))


def disambiguated(path: str, kind: str) -> str:
    """Return a path as it is spelled to mean the item of a kind: ``derive@serde::Serialize``."""
    return f"{_WORDS[kind]}@{path}" if kind in _WORDS else path


def folded(name: str) -> str:
    """Return a name as names are compared: registries take ``-``, ``_`` and ``.`` for the same."""
    return _SEPARATORS.sub("-", name).lower()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Spelling:
    """How a language spells its public names.

    Attributes:
        name: the language, as callers say it.
        aliases: further names of the language.
        ecosystem: its packages, as a scan of a project says it.
        kind: of the sources that are its packages; empty where it has none of its own.
        separator: between a name and its owner.
        import_separator: between the parts of what code imports.
        scoped: whether package names have scopes and subpaths: ``@scope/name/sub``.
        folds: whether ``-``, ``_``, ``.`` and case do not matter in package names.
        normalise: returns a path without what may surround it, with the language's separator.
        choose: returns which kinds of item a path as written means.
        guess_code: whether indented text of its documentation is as often a list as it is code.
    """

    name: str
    aliases: tuple[str, ...] = ()
    ecosystem: str
    kind: str = ""
    separator: str = "."
    import_separator: str = "."
    scoped: bool = False
    folds: bool = False
    normalise: Callable[[str], str] = normalise_dotted
    choose: Callable[[str], Choice] = Choice
    guess_code: bool = False

    @property
    def packaged(self) -> bool:
        """Whether its packages are stowed from where a project has them installed."""
        return bool(self.kind)

    def root(self, path: str) -> str:
        """Return what a path begins with: a crate, an imported name, an npm package."""
        if not self.scoped:
            # A page's path has slashes.
            return path.partition("/")[0].split(self.separator)[0]
        parts = path.split("/", 2)
        if path.startswith("@") and len(parts) > 1:
            return f"{parts[0]}/{parts[1].split('.')[0]}"
        return parts[0].split(".")[0]

    def contains(self, owner: str, path: str) -> bool:
        """Return whether a path is an owner's, or that of something below it."""
        separators = (self.separator, "/") if self.scoped else (self.separator,)
        return path == owner or any(path.startswith(owner + each) for each in separators)

    def package_key(self, name: str) -> str:
        """Return a package's name as it is stowed and compared."""
        return folded(name) if self.folds else name

    def import_parts(self, imported: str) -> list[str]:
        """Return the parts of a dotted name, a path, or a specifier that code imports."""
        return re.split("/" if self.import_separator == "/" else r"::|\.", imported)


RUST = Spelling(
    name="rust",
    ecosystem="rust",
    separator="::",
    normalise=normalise_rust,
    choose=choose_rust,
)

_SPELLINGS: dict[str, Spelling] = {}


def register(spelling: Spelling) -> None:
    """Add the spelling of a language, after those that are there."""
    _SPELLINGS[spelling.name] = spelling


def unregister(spelling: Spelling) -> None:
    """Remove a spelling that was registered."""
    _SPELLINGS.pop(spelling.name, None)


def of_kind(kind: str) -> Spelling:
    """Return the spelling of the items of a source; Rust's for whatever is no package."""
    return next((each for each in _SPELLINGS.values() if kind and each.kind == kind), RUST)


def of_name(name: str) -> Spelling | None:
    """Return the spelling of a language by its name or an alias."""
    found = (each for each in _SPELLINGS.values() if name in (each.name, *each.aliases))
    return next(found, None)


def of_ecosystem(ecosystem: str) -> Spelling | None:
    """Return the spelling of the packages of an ecosystem."""
    return next((each for each in _SPELLINGS.values() if each.ecosystem == ecosystem), None)


def package_kinds() -> tuple[str, ...]:
    """Return the kinds of the sources that are read from where a project has them installed."""
    return tuple(each.kind for each in _SPELLINGS.values() if each.kind)


def as_words(path: str) -> str:
    """Return a path as words, for a model that has learned from sentences."""
    return re.sub(r"::|[./]", " ", path)


def depth(path: str) -> int:
    """Return how many names a path has."""
    return 1 + path.count("::") + path.count(".") + path.count("/")
