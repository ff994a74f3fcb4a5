# Sourced by the scripts of this folder: where things are, and how they speak. Changes no state.
torch_list=${ANVIL_TORCH:-torch}
suffix=${ANVIL_TORCH:+-$ANVIL_TORCH}
venv=.venv$suffix
build_folder=${ANVIL_BUILD_FOLDER:-build$suffix}
export PATH="$PWD/$venv/bin:$PATH"
export VIRTUAL_ENV="$PWD/$venv"
export PIP_DISABLE_PIP_VERSION_CHECK=1

step() { printf '[anvil %4ds] %s\n' "$SECONDS" "$*"; }

fail() {
  printf '\nanvil: %s\n' "$1" >&2
  shift
  if (($#)); then printf '%s\n' "$@" >&2; fi
  exit 1
}

jobs_for_build() {
  # A file with torch's headers takes up to 2 GB.
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo)
  echo $((memory < 1 ? 1 : memory < cores ? memory : cores))
}

# A stamp holds the text that its step depends on.
stale() { [[ ! -f $venv/.stamps/$1 || $(<"$venv/.stamps/$1") != "$2" ]]; }
stamp() { mkdir -p "$venv/.stamps" && printf '%s' "$2" >"$venv/.stamps/$1"; }

pip_install() {
  TORCH_DEVICE_BACKEND_AUTOLOAD=0 "$venv/bin/python" -m pip install --quiet --progress-bar off "$@" ||
    fail "pip could not install: $*" "Its output is above; the network, a proxy or the disk are the usual reasons."
}

# install_list NAME TEXT: ci/requirements/NAME.txt, if it changed since it was last installed.
install_list() {
  local file=ci/requirements/$1.txt
  [[ -f $file ]] || fail "There is no $file."
  if stale "$1" "$(<"$file")"; then
    step "Install $2"
    pip_install -r "$file"
    stamp "$1" "$(<"$file")"
  fi
}

# configure ARGUMENT...: the build folder. One way for all scripts, since other commands of the compiler build everything anew.
configure() {
  local arguments=(-S . -B "$build_folder" -G Ninja "-DPython_EXECUTABLE=$PWD/$venv/bin/python") more
  if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then
    arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  read -ra more <<<"${ANVIL_CMAKE_ARGS:-}"
  step "Configure $build_folder"
  cmake "${arguments[@]}" "$@" "${more[@]}" >"$venv/.stamps/configure.log" 2>&1 ||
    { cat "$venv/.stamps/configure.log"; fail "CMake could not configure the build; its output is above."; }
}
