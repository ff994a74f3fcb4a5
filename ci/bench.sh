#!/usr/bin/env bash
# Prints the measured numbers: host instructions of the calling thread beside plain CPU's, and the simulator's throughput
# beside torch's CPU kernels on one thread, both from this machine and this run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash ci/setup.sh
. ci/environment.sh
step "Throughput, 1M float32 elements, one thread"
python ci/bench_throughput.py
step "Host instructions"
command -v valgrind >/dev/null || fail "valgrind is missing. Install it with:" "  apt-get install valgrind"
if grep -q '^ANVIL_CPU_LEVEL:.*=x86-64-v4$' build/CMakeCache.txt; then
  ninja -C build anvil_kernels_host_v3  # valgrind has no AVX-512
fi
python ci/bench_host.py
