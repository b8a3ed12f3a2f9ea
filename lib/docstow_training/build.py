"""Make the bundled embedding model; see README.md beside this file for what it needs.

Stages, in this order: gather texts; a vocabulary with the teacher's vectors (0), fitted to its
vectors of sentences (1), then to questions and the items that answer them (2).
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow import embedding
from docstow_training import contrast, export, gather, judge, learning, pairs, teacher
from docstow_training.questions import is_held_out, read_questions
from docstow_training.texts import Item

SEED = 20261121


def build(arguments: argparse.Namespace) -> None:
    """Run the stages and write the files; what is in the work folder already is not made again."""
    learning.prepare(SEED)
    items = _items(arguments)
    vocabulary, first, imitated = _first(arguments, items)
    tokenizer = export.tokenizer(vocabulary)
    asked = read_questions(arguments.questions, items)
    held = {question.crate for question in asked if is_held_out(question.crate)}
    tests = [question for question in asked if question.crate in held]
    taught = [number for number, item in enumerate(items) if _crate(item) not in held]
    made = [
        pairs.Pair(pair.query, taught[pair.item], pair.hidden)
        for pair in pairs.mined([items[number] for number in taught], random.Random(SEED))  # noqa: S311
    ]
    lessons = contrast.lesson(
        tokenizer, items, made, [question for question in asked if question.crate not in held]
    )
    judged = judge.Judge(tokenizer, items, tests)
    for stage, table in enumerate((first, imitated)):
        print(f"stage {stage}: {judged.figures(table)}", flush=True)  # noqa: T201
    table = learning.contrast(
        imitated,
        lessons,
        seed=SEED,
        steps=arguments.steps,
        report=lambda step, now: print(f"step {step}: {judged.figures(now)}", flush=True),  # noqa: T201
    )
    steps, scales = export.quantised(table)
    record: dict[str, Any] = {
        "seed": SEED,
        "items": len(items),
        "vocabulary": len(vocabulary),
        "imitated_sentences": arguments.sentences,
        "pairs": len(made),
        "questions": len(asked) - len(tests),
        "steps": arguments.steps,
        "held_out_crates": sorted(held),
        "held_out_questions": len(tests),
        "held_out": judged.figures(steps * scales[:, None]),
    }
    export.write(arguments.into, "bundled", vocabulary, table, record)


def _crate(item: Item) -> str:
    return item.source.removeprefix("rust:")


def _items(arguments: argparse.Namespace) -> list[Item]:
    file = arguments.work / "items.jsonl.zst"
    if not file.exists():
        found = gather.gather(
            arguments.rustdoc, arguments.python, leave_out=set(arguments.leave_out)
        )
        gather.save(found, file)
    return gather.load(file)


def _first(
    arguments: argparse.Namespace, items: Sequence[Item]
) -> tuple[list[str], NDArray[np.float32], NDArray[np.float32]]:
    file = arguments.work / "stage1.npz"
    if not file.exists():
        vocabulary, first, imitated = teacher.first_table(
            arguments.teacher, items, sentences=arguments.sentences, seed=SEED
        )
        np.savez(file, vocabulary=np.array(vocabulary), stage0=first, stage1=imitated)
    made = np.load(file)
    return made["vocabulary"].tolist(), made["stage0"], made["stage1"]


def main() -> None:
    """Read the arguments and build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument(
        "--rustdoc", type=Path, required=True, help="<crate>/<version>/rustdoc.json.zst"
    )
    parser.add_argument("--leave-out", nargs="*", default=[], help="crates kept for evaluation")
    parser.add_argument("--python", type=Path, nargs="*", default=[], help="package folders")
    parser.add_argument("--questions", type=Path, required=True, help="questions.jsonl")
    parser.add_argument("--work", type=Path, required=True, help="folder of what is in between")
    parser.add_argument("--sentences", type=int, default=16_000, help="for stage 1")
    parser.add_argument("--steps", type=int, default=500, help="batches of stage 2")
    parser.add_argument("--into", type=Path, default=Path(embedding.__file__).parent / "bundled")
    build(parser.parse_args())


if __name__ == "__main__":
    main()
