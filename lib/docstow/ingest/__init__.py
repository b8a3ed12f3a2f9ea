"""The one write path: publish, sync, jobs."""
