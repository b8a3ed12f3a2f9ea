"""Which packages are stored is read from their cards: nothing is listed, however many there are."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docstow.core.errors import PackageNotFound
from docstow.core.model import Document, Revision, Snapshot, Source
from docstow.core.settings import load
from docstow.index.cards import Card, make_entry
from docstow.index.manifest import MANIFEST
from docstow.ingest.publish import Reading
from docstow.languages import PYTHON
from docstow.ops.upkeep import Done
from docstow.runtime import Runtime
from docstow.store.heads import point_to, replace_head
from docstow.store.inventory import list_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@contextlib.contextmanager
def opened(folder: Path, *, freshness_s: int = 0) -> Iterator[Runtime]:
    """The store, as somebody opens it who knows nothing of it."""
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache"), "offline": True}
    with contextlib.closing(Runtime(load(flags | {"freshness_s": freshness_s}, {}))) as runtime:
        yield runtime


def stow(runtime: Runtime, name: str, version: str, about: str) -> Snapshot:
    """Stow a package that is imported by another name."""
    source = Source("python", name, version)
    documents = [Document(f"{name}_py", "module", f"{name}_py", text=about)]
    facts = {"description": about, "keywords": ["boats"], "import_names": [f"{name}_py"]}
    revision = Revision(source, version, origin="index", url="https://index.example")
    return runtime.publisher.publish(Reading(revision, "test/1", documents, (), facts)).snapshot


def keep_up(runtime: Runtime) -> Done:
    return runtime.upkeep(timedelta(hours=-1)).run()


def fill(runtime: Runtime, count: int) -> None:
    """Add cards of packages; of these there is nothing else."""
    nothing = np.zeros((0, 4), np.float32)
    for begin in range(0, count, 64):
        entries = (
            make_entry(Source("python", f"filler{number}", "1.0"), "ab", {"description": "Sand."})
            for number in range(begin, min(begin + 64, count))
        )
        runtime.catalog.append(
            [Card(each, "", {}, np.zeros(0, np.float32), nothing) for each in entries]
        )


def asked_of(runtime: Runtime, patch: pytest.MonkeyPatch) -> Counter[str]:
    """What is asked of a store from now on."""
    asked = Counter[str]()
    for name in ("get", "get_changed", "get_range", "create", "swap", "list", "delete"):
        ask = getattr(runtime.store, name)

        def noted(*given: Any, name: str = name, ask: Any = ask) -> Any:
            asked[name] += 1
            return ask(*given)

        patch.setattr(runtime.store, name, noted)
    return asked


@pytest.mark.parametrize("fillers", [10, 300])
def test_packages_are_found_without_a_list(
    folder: Path, fillers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(folder) as writer:
        stow(writer, "skiff", "1.9", "Rows over a lake")
        stow(writer, "skiff", "1.10", "Rows over a lake at night")
        stow(writer, "barge", "2.0", "Carries coal along canals")
        assert keep_up(writer).failed == {}
        fill(writer, fillers)
    with opened(folder) as reader:
        asked = asked_of(reader, monkeypatch)
        best, _ = reader.finder.find("a skiff that rows over a lake at night", [PYTHON], 1)[0]
        assert (best.name, best.stowed, best.keywords) == ("skiff", "1.10", "boats")
        assert "list" not in asked
        asked.clear()
        found = reader.installed.search(PYTHON, "canals for coal, lake", 2)
        assert [each.revision.source.name for each in found] == ["barge", "skiff"]
        assert "list" not in asked
        imports = reader.installed.stored_imports(PYTHON, {"skiff", "dory", "filler1"})
        assert imports == {"skiff_py": "skiff"}
        assert "list" not in asked


def test_a_package_is_found_by_what_is_imported_of_it(folder: Path) -> None:
    with opened(folder) as runtime:
        stowed = stow(runtime, "skiff", "1.9", "Rows over a lake")
        for _ in range(2):  # by a look at the store, then by the cards
            assert runtime.installed.find(PYTHON, "skiff_py").snapshot.id == stowed.id
            with pytest.raises(PackageNotFound) as raised:
                runtime.installed.find(PYTHON, "skif")
            assert [each["name"] for each in raised.value.suggestions] == ["skiff"]
            keep_up(runtime)
            assert runtime.catalog.covering({"python"}) is not None


def test_what_releases_without_cards_have_stowed_is_found_and_gets_cards(folder: Path) -> None:
    with opened(folder) as runtime:
        stow(runtime, "skiff", "1.9", "Rows over a lake")
        stow(runtime, "barge", "2.0", "Carries coal along canals")
        runtime.store.delete(MANIFEST)
    with opened(folder) as runtime:
        stow(runtime, "raft", "3.0", "Floats on rivers")
        assert runtime.catalog.covering({"python"}) is None
        assert runtime.package_cards.names(PYTHON) == ["barge", "raft", "skiff"]
        before = runtime.package_cards.newest(PYTHON)
        keep_up(runtime)
        cards = runtime.catalog.covering({"python"})
        assert cards is not None
        assert len(cards) == 3
        after = runtime.package_cards.newest(PYTHON)
        assert {name: replace(each, kinds=()) for name, each in after.items()} == before


def test_what_was_evicted_does_not_answer_and_loses_its_card(folder: Path) -> None:
    with opened(folder) as runtime:
        stow(runtime, "skiff", "1.9", "Rows over a lake")
        barge = stow(runtime, "barge", "2.0", "Carries coal along canals")
        keep_up(runtime)
        source = barge.revision.source
        seen = list_store(runtime.store).heads[source]
        assert replace_head(runtime.store, seen, point_to(seen.head, "", 1))
        found = runtime.library.packages(PYTHON, "coal along canals")
        assert [each.snapshot.revision.source.name for each in found] == ["skiff"]
        assert keep_up(runtime).tidied["cards"] == 1
        assert runtime.package_cards.names(PYTHON) == ["skiff"]
