#!/usr/bin/env bash
# in_turn.sh TARGET ...   make each target, whatever became of those before it; fail at the end if any failed.
set -u
cd "$(dirname "$0")/.." || exit 1

passed=0 failed=0 report=""
for target in "$@"; do
    printf '\n==== %s\n\n' "$target"
    start=$SECONDS
    if "${MAKE:-make}" --no-print-directory "$target"; then
        verdict=passed; passed=$((passed + 1))
    else
        verdict=FAILED; failed=$((failed + 1))
    fi
    report+=$(printf '%-26s %s  %4d s' "$target" "$verdict" $((SECONDS - start)))$'\n'
done

printf '\n==== in short\n\n%s\n%d passed, %d failed\n' "$report" "$passed" "$failed"
[ "$failed" -eq 0 ]
