"""What a Git server says of its refs, by git's smart HTTP protocol.

This room knows pkt-lines and the first answer of git-upload-pack (gitprotocol-http(5)). It does
not ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from docstow.core.errors import UnreadableInput

SERVICE = "git-upload-pack"
MEDIA_TYPE = f"application/x-{SERVICE}-advertisement"
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PEELED = "^{}"


@dataclass(frozen=True, slots=True)
class Refs:
    """The refs of a repository.

    Attributes:
        commits: by full name; tags that have an object of their own point to its commit.
        head: the full name of the default branch; empty if the server does not say.
    """

    commits: Mapping[str, str]
    head: str = ""

    def find(self, ref: str) -> str:
        """The commit of a branch, tag, full ref name or commit; empty if there is none.

        A tag goes before a branch of its name, as in git itself.
        """
        if not ref:
            return self.commits.get("HEAD", "") or self.commits.get(self.head, "")
        for name in (ref, f"refs/tags/{ref}", f"refs/heads/{ref}"):
            if name in self.commits:
                return self.commits[name]
        return ref if COMMIT.fullmatch(ref) else ""

    def names(self) -> list[str]:
        """Branches and tags as people write them."""
        return [
            name.removeprefix("refs/heads/").removeprefix("refs/tags/")
            for name in self.commits
            if name.startswith(("refs/heads/", "refs/tags/"))
        ]


def read(body: bytes) -> Refs:
    """Read the answer to ``info/refs?service=git-upload-pack``.

    Raises:
        UnreadableInput: it is not such an answer, or ends early.
    """
    commits: dict[str, str] = {}
    head = ""
    for line in _lines(body):
        if line.startswith(("#", "version ")):
            continue
        entry, _, capabilities = line.partition("\0")
        commit, _, name = entry.rstrip("\n").partition(" ")
        if not COMMIT.fullmatch(commit):
            raise UnreadableInput("The Git server sent a ref without a commit; check its address.")
        for capability in capabilities.split():
            if capability.startswith("symref=HEAD:"):
                head = capability.removeprefix("symref=HEAD:")
        if name != f"capabilities{_PEELED}":
            # A tag's own object comes first, its commit right after it under the same name.
            commits[name.removesuffix(_PEELED)] = commit
    return Refs(commits, head)


def _lines(body: bytes) -> Iterator[str]:
    """The pkt-lines: four hex digits of length, themselves included; 0000 only separates."""
    place = 0
    while place < len(body):
        try:
            length = int(body[place : place + 4], 16)
        except ValueError:
            raise UnreadableInput(
                "The server does not speak git's smart HTTP; check the repository's address."
            ) from None
        if length >= 4:
            if place + length > len(body):
                raise UnreadableInput("The Git server's list of refs ends early; sync again.")
            yield body[place + 4 : place + length].decode("utf-8", "replace")
        place += max(length, 4)
