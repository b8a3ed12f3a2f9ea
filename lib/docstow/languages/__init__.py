"""Code against the packages it uses: which names exist in the version at hand, and which do not.

This room knows how names are written in a language and how to ask a package's surface for them. It
reads code as text and nothing else: it opens no files, and runs nothing.
"""

from __future__ import annotations
