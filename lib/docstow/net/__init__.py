"""HTTP to the outside: caps, redirects, retries, timeouts and politeness around httpx.

This room knows hosts and status codes. It does not know what is fetched, why, or where it goes.
"""

from docstow.net.client import Answer, Fetcher
from docstow.net.redirects import followed

__all__ = ["Answer", "Fetcher", "followed"]
