"""What the bindings of a variable agree on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from docstow.languages.python.check.annotations import NONE, Inferred, join, without_none


class Variables:
    """The types of variables, each inferred once."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Inferred] = {}
        #: Variables that are being inferred, and whether they turned out to depend on themselves.
        self._open: dict[Hashable, bool] = {}
        self._guessed = 0

    @property
    def is_inferring(self) -> bool:
        """Whether what is inferred now may depend on a variable that is not known yet."""
        return bool(self._open or self._guessed)

    def agree(self, key: Hashable, infer: Callable[[], Iterable[Inferred]]) -> Inferred:
        """Return the type on which all bindings of a variable agree; None where they do not.

        Args:
            key: the variable.
            infer: gives the type of each binding.
        """
        if key in self._open:
            # It depends on itself: its other bindings decide.
            self._open[key] = True
            return NONE
        if key not in self._known:
            self._known[key] = self._infer(key, infer)
        return self._known[key]

    def _infer(self, key: Hashable, infer: Callable[[], Iterable[Inferred]]) -> Inferred:
        self._open[key] = False
        first = [*infer()]
        depends_on_itself = self._open.pop(key)
        if not depends_on_itself:
            return join(first)
        # Check the type that the other bindings give against all of them.
        guess = join(each for each in first if each is not None)
        if without_none(guess) is None:
            return None
        self._known[key] = guess
        self._guessed += 1
        try:
            return join(infer())
        finally:
            self._guessed -= 1
            del self._known[key]
