#!/usr/bin/env bash
# Formatting and lint of everything in the tree, with the versions of ci/requirements/lint.txt.
#
#   bash ci/lint.sh           says what is wrong
#   bash ci/lint.sh --fix     repairs what can be repaired
#   bash ci/lint.sh --tidy    also clang-tidy (slow)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/environment.sh
bash ci/setup.sh --no-build --with lint

mapfile -t sources < <(git ls-files '*.h' '*.cpp' '*.cu' '*.inc')
status=0
if [[ ${1:-} == --fix ]]; then
  clang-format -i "${sources[@]}"
  ruff check --quiet --fix . || status=1
  ruff format --quiet .
else
  clang-format --dry-run --Werror "${sources[@]}" || status=1
  ruff check . || status=1
  ruff format --check --quiet . || { ruff format --diff --quiet . || true; status=1; }
fi
if [[ ${1:-} == --tidy ]]; then
  bash ci/setup.sh --with tidy --target anvil_registrations  # sources that it reads are generated
  mapfile -t units < <(git ls-files '*.cpp' | grep -v '^test/')
  printf '%s\n' "${units[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build_folder" || status=1
fi
((status == 0)) || printf '\nanvil: lint failed; repair with: bash ci/lint.sh --fix\n' >&2
exit $status
