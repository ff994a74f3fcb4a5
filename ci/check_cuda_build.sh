#!/usr/bin/env bash
# Compiles the CUDA kernels and checks them without a GPU; see check_cuda_build.py. From then on the build folder has them,
# and ci/test.sh tests their library too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash ci/setup.sh --nvcc --no-build
. ci/environment.sh
configure -DANVIL_BUILD_CUDA=ON
python ci/check_cuda_build.py --build-folder "$build_folder" --jobs "$(jobs_for_build)" "$@"
