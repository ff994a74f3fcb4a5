#!/usr/bin/env bash
# Sets everything up and trains a network on handwritten digits on the device; or runs a script of yours.
#
#   bash ci/quickstart.sh                  examples/digits.py
#   bash ci/quickstart.sh SCRIPT [ARGS]    your script, in the same environment, from the folder you are in
set -euo pipefail
folder=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bash "$root/ci/setup.sh" --with quickstart
if (($#)); then
  cd "$folder"
  exec "$root/.venv/bin/python" "$@"
fi
cd "$root"
exec .venv/bin/python examples/digits.py
