"""What ``sam local start-api`` serves of a template, without the containers it would run.

Run by the Python that SAM is installed in, which docstow is not: routes and events are SAM's own,
each event is printed as a line of JSON, and the function's answer is read from standard input.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any, TextIO

from samcli.lib.providers.api_provider import ApiProvider  # type: ignore[import-not-found]
from samcli.lib.providers.sam_stack_provider import (  # type: ignore[import-not-found]
    SamLocalStackProvider,
)
from samcli.local.apigw.local_apigw_service import (  # type: ignore[import-not-found]
    LocalApigwService,
)
from werkzeug.serving import make_server


class _Runner:
    """Takes the place of the containers, one event at a time."""

    def __init__(self) -> None:
        self._one = threading.Lock()

    def is_debugging(self) -> bool:
        """Say that requests may come side by side, as SAM asks."""
        return False

    def invoke(
        self, function: str, event: str, stdout: Any, stderr: TextIO | None = None, **_: object
    ) -> None:
        """Hand an event out, and the answer that comes back to SAM."""
        with self._one:
            print(json.dumps({"function": function, "event": json.loads(event)}), flush=True)
            stdout.write_str(sys.stdin.readline())


def main(template: str) -> None:
    """Print the routes and the port as a line of JSON, then serve until standard input ends."""
    stacks, _ = SamLocalStackProvider.get_stacks(template)
    api = ApiProvider(stacks, cwd=".").api
    service = LocalApigwService(api, _Runner(), port=0, host="127.0.0.1")
    service.create()
    server = make_server("127.0.0.1", 0, service._app)
    routes = sorted([route.path, route.function_name] for route in api.routes)
    print(json.dumps({"port": server.server_port, "routes": routes}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
