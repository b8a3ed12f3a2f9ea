#!/usr/bin/env bash
# What action.yml runs: checks the files of a repository that match FILES, one pattern a line, with
# those that have changed since the commit BASE alone where it is given. Writes SARIF to the file SARIF;
# ends with 1 where something is wrong, unless FAIL is false.
set -euo pipefail

patterns=()
while IFS= read -r pattern; do
  if [ -n "$pattern" ]; then patterns+=("$pattern"); fi
done <<< "${FILES:?}"
if [ "${#patterns[@]}" -eq 0 ]; then
  echo "docstow: FILES has no pattern" >&2
  exit 2
fi

if [ -n "${BASE:-}" ]; then
  git fetch --quiet --depth=1 origin "$BASE"
  list=(git diff --name-only --relative --diff-filter=d -z "$BASE" HEAD --)
else
  list=(git ls-files -z --)
fi
listed=$(mktemp)
"${list[@]}" "${patterns[@]}" > "$listed"
files=()
while IFS= read -r -d '' file; do
  # A name may begin with a dash.
  if [ -f "$file" ] && [ ! -L "$file" ]; then files+=("./$file"); fi
done < "$listed"
rm -f "$listed"

status=0
if [ "${#files[@]}" -eq 0 ]; then
  echo "docstow: no file to check"
  printf '%s' '{"version": "2.1.0", "runs": []}' > "$SARIF"
else
  docstow verify ${ROOT:+--root "$ROOT"} --format sarif "${files[@]}" > "$SARIF" || status=$?
fi
# A check that could not be made has written nothing.
if [ "$status" -eq 1 ] && [ "${FAIL:-true}" = false ] && [ -s "$SARIF" ]; then status=0; fi
exit "$status"
