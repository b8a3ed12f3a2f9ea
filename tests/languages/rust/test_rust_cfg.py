"""Conditions in every spelling that rustdoc has used."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.model import Relation
from docstow.languages.rust.rustdoc import CrateDocs
from docstow.languages.rust.rustdoc.attributes import Cfg, combine, either, from_attributes

SPAN = "span: src/lib.rs:1:7: 1:22 (#0)"
TAIL = "src/lib.rs:1:6: 1:23 (#12)"


def name_value(name: str, value: str = "") -> str:
    shown = f'Some("{value}")' if value else "None"
    return f'NameValue {{ name: "{name}", value: {shown}, {SPAN} }}'


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ('#[cfg(feature = "net")]', 'feature = "net"'),
        ('#![cfg(feature =\n"net")]', 'feature = "net"'),
        ("#[cfg(unix)]", "unix"),
        ('#[doc(cfg(all(unix, feature = "a")))]', 'all(unix, feature = "a")'),
        ('#[cfg(any(feature = "a", feature = "b",))]', 'any(feature = "a", feature = "b")'),
        ('#[cfg(all(feature = "rt"))]', 'feature = "rt"'),
        ("#[cfg(not(any(windows, unix)))]", "not(any(windows, unix))"),
        (f"#[attr = CfgTrace([{name_value('feature', 'net')}])]", 'feature = "net"'),
        (f"#[attr = CfgTrace([{name_value('unix')}])]", "unix"),
        (
            (
                f"#[attr = CfgTrace([All([{name_value('feature', 'a')}, "
                f"Not({name_value('no_atomic')}, {TAIL}), {name_value('width', '64')}], {TAIL})])]"
            ),
            'all(feature = "a", not(no_atomic), width = "64")',
        ),
        (
            (
                f"#[attr = CfgTrace([Any([{name_value('feature', 'a')}, "
                f"All([{name_value('unix')}, {name_value('feature', 'b')}], {TAIL})], {TAIL})])]"
            ),
            'any(feature = "a", all(unix, feature = "b"))',
        ),
        ("#[cfg(docsrs)]", "None"),
        ("#[doc(cfg(true))]", "None"),
        ("#[cfg(not(test))]", "None"),
        ("#[cfg(any(windows, docsrs))]", "windows"),
        (
            '#[cfg(all(any(all(doc, docsrs), windows), feature = "net"))]',
            'all(windows, feature = "net")',
        ),
        ("#[doc(auto_cfg(hide(loom, values(none()))))]", "None"),
        ("#[inline]", "None"),
    ],
)
def test_spellings(attribute: str, expected: str) -> None:
    assert str(combine(from_attributes([attribute]))) == expected


def test_what_the_author_says_stands_for_what_the_compiler_saw() -> None:
    attributes = ['#[cfg(feature = "serde_derive")]', '#[doc(cfg(feature = "derive"))]']

    assert combine(from_attributes(attributes)) == Cfg(name="feature", value="derive")


def test_conditions_add_up_without_repeating() -> None:
    net, unix = Cfg(name="feature", value="net"), Cfg(name="unix")

    assert combine([net, Cfg("all", parts=(unix, net))]) == Cfg("all", parts=(net, unix))


def test_only_what_is_needed_without_a_choice_is_a_feature() -> None:
    a, b = Cfg(name="feature", value="a"), Cfg(name="feature", value="b")

    assert Cfg("all", parts=(a, Cfg("any", parts=(a, b)), Cfg("not", parts=(b,)))).features() == [
        "a"
    ]


_LEAVES = st.builds(
    Cfg,
    name=st.sampled_from(["feature", "target_os", "unix"]),
    value=st.none() | st.from_regex(r"[a-z0-9_-]{1,8}", fullmatch=True),
)
_TREES = st.recursive(
    _LEAVES,
    lambda parts: st.builds(
        lambda op, inner: Cfg(op, parts=tuple(inner[:1] if op == "not" else inner)),
        st.sampled_from(["all", "any", "not"]),
        st.lists(parts, min_size=2, max_size=4),
    ),
    max_leaves=12,
)


@given(_TREES)
def test_source_text_reads_back(cfg: Cfg) -> None:
    assert from_attributes([f"#[cfg({cfg})]"]) == (cfg,)


def test_features_are_inherited_from_modules_and_along_use(
    crate: Callable[[str], CrateDocs],
) -> None:
    found = {
        each.path: (each.attributes.get("cfg"), each.attributes.get("features"))
        for each in crate("features").documents
    }

    assert found == {
        "features": (None, None),
        "features::Gated": ('feature = "tls"', ["tls"]),
        "features::always": (None, None),
        "features::choice": ('any(feature = "net", feature = "fs")', None),
        "features::files": ('feature = "fs"', ["fs"]),
        "features::files::File": ('feature = "fs"', ["fs"]),
        "features::files::File::open": ('feature = "fs"', ["fs"]),
        "features::files::File::share": ('all(feature = "fs", feature = "net")', ["fs", "net"]),
        "features::plain": ('feature = "net"', ["net"]),
        "features::said": ('feature = "tls"', ["tls"]),
        "features::several": ('all(unix, feature = "net", not(feature = "absent"))', ["net"]),
    }


def test_each_feature_is_a_relation_where_it_first_matters(
    crate: Callable[[str], CrateDocs],
) -> None:
    assert [r for r in crate("features").relations if r.predicate == "requires-feature"] == [
        Relation("features::Gated", "requires-feature", "tls"),
        Relation("features::files", "requires-feature", "fs"),
        Relation("features::files::File::share", "requires-feature", "net"),
        Relation("features::plain", "requires-feature", "net"),
        Relation("features::said", "requires-feature", "tls"),
        Relation("features::several", "requires-feature", "net"),
    ]


# Each as rustdoc 1.97 shows it, in pages of tokio, uuid, serde and futures-util.
@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ('feature = "net"', "on crate feature `net` only"),
        ('all(feature = "rt", feature = "macros")', "on crate features `rt` and `macros` only"),
        ('any(feature = "std", feature = "alloc")', "on crate features `std` or `alloc` only"),
        ('all(unix, feature = "net")', "on Unix and crate feature `net` only"),
        ('not(target_os = "wasi")', "on non-WASI only"),
        ('not(all(target_os = "wasi", target_env = "p1"))', "on not (WASI and WASIp1)"),
        ("not(no_core_net)", "on non-`no_core_net` only"),
        ('any(target_arch = "x86", target_arch = "x86_64")', "on x86 or x86-64 only"),
        (
            'any(target_os = "linux", target_os = "android", target_os = "cygwin")',
            "on Linux or Android or Cygwin only",
        ),
        (
            'not(any(target_os = "fuchsia", target_os = "redox", target_os = "illumos"))',
            "on neither Fuchsia nor Redox OS nor illumos",
        ),
        (
            'any(feature = "net", all(unix, feature = "signal"), all(tokio_unstable, windows))',
            (
                "on crate feature `net`, or Unix and crate feature `signal`, "
                "or `tokio_unstable` and Windows only"
            ),
        ),
        (
            'all(feature = "rc", any(feature = "std", feature = "alloc"))',
            "on crate feature `rc` and (crate features `std` or `alloc`) only",
        ),
        (
            'all(target_has_atomic = "ptr", target_pointer_width = "64", target_endian = "big")',
            "on `target_has_atomic=ptr` and 64-bit and big-endian only",
        ),
        ('target_feature = "avx2"', "with target feature `avx2` only"),
    ],
)
def test_conditions_in_words(condition: str, words: str) -> None:
    cfg = combine(from_attributes([f"#[cfg({condition})]"]))
    assert cfg is not None
    assert cfg.availability() == words


def test_what_the_owner_needs_is_not_told_again() -> None:
    unix, net = Cfg(name="unix"), Cfg(name="feature", value="net")
    both = Cfg("all", parts=(unix, net))
    assert (both.beyond(unix), both.beyond(both), unix.beyond(None)) == (net, None, unix)


def test_one_of_two_declarations_is_enough() -> None:
    unix, windows, net = Cfg(name="unix"), Cfg(name="windows"), Cfg(name="feature", value="net")
    here, there = Cfg("all", parts=(net, unix)), Cfg("all", parts=(net, windows))
    assert str(either(here, there)) == 'all(feature = "net", any(unix, windows))'
    assert either(here, net) == net
    assert either(here, None) is None
