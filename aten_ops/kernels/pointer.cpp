#include "aten_ops/kernels/pointer.h"

#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil::kernels {

const anvilDeviceRange device_range = runtime::table().anvilSimulatorDeviceRange();

void* host_kernel_address(const void* pointer) {
  if (pointer == nullptr) {
    return nullptr;
  }
  void* address = nullptr;
  runtime::check(runtime::table().anvilSimulatorKernelAddress(pointer, &address),
                 "a kernel argument that is neither device memory nor pinned host memory");
  return address;
}

}  // namespace anvil::kernels
