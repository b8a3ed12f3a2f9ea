#!/bin/sh
# On Lambda the command is a handler and its runtime client waits for events; elsewhere the
# command is docstow's own.
set -eu
if [ -n "${AWS_LAMBDA_RUNTIME_API:-}" ]; then
    exec python -m awslambdaric "$@"
fi
exec python -m docstow "$@"
