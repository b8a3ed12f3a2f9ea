"""The only HTTP client: caps, redirects, retries, timeouts and politeness around httpx."""

from docstow.net.client import Answer, Fetcher

__all__ = ["Answer", "Fetcher"]
