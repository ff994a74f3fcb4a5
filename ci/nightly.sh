#!/usr/bin/env bash
# What is too slow for every change: the oldest torch, the sanitizers, full lint, the full sweeps.
#
#   bash ci/nightly.sh                  all parts
#   bash ci/nightly.sh PART...          some of: lint sanitizers torch-2.11 tests
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/environment.sh

failed=()
part() {
  local name=$1
  shift
  step "=== $name"
  "$@" || failed+=("$name")
}

lint() { bash ci/lint.sh --tidy; }

# The C++ suites with AddressSanitizer and UndefinedBehaviorSanitizer, in a build of their own.
sanitizers() (
  export ANVIL_BUILD_FOLDER=build-sanitizers
  export ANVIL_CMAKE_ARGS="-DANVIL_SANITIZE=address,undefined"
  # torch and CUDA keep memory until the end of the process on purpose.
  export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  bash ci/setup.sh --tests --target anvil_tests &&
    ctest --test-dir "$ANVIL_BUILD_FOLDER" --output-on-failure --no-tests=error -j "$(nproc)"
)

# The oldest torch: everything builds, and the smoke tests pass.
oldest_torch() (
  export ANVIL_TORCH=torch-2.11
  bash ci/setup.sh --with test || exit 1
  . ci/environment.sh
  python -m torch_anvil && python -m pytest -n "$(nproc)" test/python/test_generator.py test/python/test_import.py test/python/test_device.py \
    test/python/test_streams.py test/python/test_memory.py test/python/test_serialization.py test/python/test_rng.py
)

tests() {
  bash ci/setup.sh --with quickstart --with test --tests &&
    ctest --test-dir "$build_folder" --output-on-failure --no-tests=error -j "$(nproc)" &&
    ANVIL_TEST_FULL=1 ANVIL_SWEEP=full python -m pytest -n "$(nproc)"
}

parts=("$@")
((${#parts[@]})) || parts=(lint sanitizers torch-2.11 tests)
for name in "${parts[@]}"; do
  case $name in
    lint) part lint lint ;;
    sanitizers) part sanitizers sanitizers ;;
    torch-2.11) part torch-2.11 oldest_torch ;;
    tests) part tests tests ;;
    *) fail "ci/nightly.sh: unknown part $name" ;;
  esac
done
((${#failed[@]} == 0)) || fail "nightly failed: ${failed[*]}"
step "nightly passed: ${parts[*]}"
