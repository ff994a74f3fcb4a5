#!/usr/bin/env bash
# Sets up what is missing, builds with the C++ tests, runs them and the Python tests.
#
#   bash ci/test.sh                 everything that runs for each change
#   bash ci/test.sh ARGUMENTS       the Python tests with these arguments of pytest, e.g. -k streams
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash ci/setup.sh --with quickstart --with test --tests
. ci/environment.sh

status=0
if ((!$#)); then
  step "C++ tests"
  ctest --test-dir "$build_folder" --output-on-failure --no-tests=error -j "$(nproc)" || status=1
fi
step "Python tests"
python -m pytest -n "$(nproc)" -m "not nightly" "$@" || status=1
exit $status
