#!/usr/bin/env bash
# Makes the environment: .venv at the root (torch, CMake, Ninja), a build in build/, and the package visible in .venv.
# Every other script of this folder calls it. A second run does only what changed.
#
#   bash ci/setup.sh [--with LIST]... [--tests] [--target NAME] [--nvcc] [--no-build]
#
#   --with LIST   also install ci/requirements/LIST.txt
#   --tests       build the C++ tests too
#   --target NAME build only this target: the environment keeps the package that it has
#   --nvcc        install nvcc too, where the system has none
#   --no-build    stop after the packages
#
# Environment: PYTHON, CXX choose the interpreter and the compiler; ANVIL_TORCH another list of torch
# (ci/requirements/$ANVIL_TORCH.txt, in .venv-$ANVIL_TORCH and build-$ANVIL_TORCH); ANVIL_CMAKE_ARGS more arguments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/environment.sh

lists=(build)
tests=OFF
target=
build=ON
nvcc=OFF
while (($#)); do
  case $1 in
    --with) lists+=("$2"); shift ;;
    --tests) tests=ON ;;
    --target) target=$2; shift ;;
    --nvcc) nvcc=ON ;;
    --no-build) build=OFF ;;
    *) fail "ci/setup.sh: unknown argument $1" ;;
  esac
  shift
done

# --- What must be there, and how to get it.
[[ $(uname -sm) == "Linux x86_64" ]] || fail "Anvil builds on Linux x86-64; this is $(uname -sm)."

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null &&
      "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}
python=$(find_python) || fail "Python 3.11 or newer is missing. Install it, for example with:" \
  "  apt-get install python3 python3-venv python3-dev" "or set PYTHON to an interpreter."
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
  fail "$python has no venv module. Install it with:" "  apt-get install python3-venv"
"$python" -c 'import os, sysconfig; open(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null ||
  fail "The headers of $python are missing. Install them with:" "  apt-get install python3-dev"

compiler=${CXX:-g++}
command -v "$compiler" >/dev/null ||
  fail "A C++ compiler is missing ($compiler). Install one with:" "  apt-get install g++"
echo '#include <bit>
#include <concepts>
#include <span>
template <std::integral T> constexpr T f(std::span<T> s) { return std::popcount(static_cast<unsigned>(s.size())); }
int main() { constinit static int x[1] = {0}; return f(std::span<int>(x)) - 1; }' |
  "$compiler" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null ||
  fail "$compiler does not know C++20; Anvil needs g++ 11 or newer. Install it with:" \
    "  apt-get install g++-12   (then: export CXX=g++-12)"

# --- Packages.
if [[ ! -x $venv/bin/python ]]; then
  step "Virtual environment $venv"
  "$python" -m venv "$venv"
  free=$(df --output=avail -B1G . | tail -1)
  ((free >= 9)) || fail "torch and its CUDA libraries need 9 GB of disk; $free GB are free here."
fi
install_list "$torch_list" "torch and its libraries (the long one: about 3 minutes, 3 GB)"
for list in "${lists[@]}"; do
  install_list "$list" "packages: $list"
done
# What torch's CUDA libraries lack, at the version that torch pins: headers, and nvcc where the system has none.
install_toolkit() {
  local origin
  origin=$(sha256sum "$venv/.stamps/$torch_list" ci/cuda_pin.py)
  if stale "cuda-$1" "$origin"; then
    requirement=$("$venv/bin/python" ci/cuda_pin.py "$1")
    step "Install $requirement"
    pip_install "$requirement"
    stamp "cuda-$1" "$origin"
  fi
}
install_toolkit cudart,crt
if [[ $nvcc == ON && -z ${CUDACXX:-} && ! -x ${CUDA_HOME:-/usr/local/cuda}/bin/nvcc ]] && ! command -v nvcc >/dev/null; then
  install_toolkit nvcc,cccl
fi
if [[ $nvcc == ON ]] && ! command -v cuobjdump >/dev/null; then
  install_toolkit cuobjdump,nvdisasm
fi
if [[ -z $target ]]; then
  # The build tree's package is the environment's.
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$PWD/$build_folder/python" >"$site/torch_anvil_build.pth"
  [[ $tests == OFF ]] && target=anvil_package || target=all
fi
[[ $build == ON ]] || exit 0

# --- Build.
if [[ $tests == ON ]]; then configure -DANVIL_BUILD_TESTS=ON; else configure; fi
step "Build $build_folder ($(jobs_for_build) jobs; from nothing this takes some minutes)"
cmake --build "$build_folder" --target "$target" -j "$(jobs_for_build)" ||
  fail "The build failed; the first error is above."
step "Ready"
