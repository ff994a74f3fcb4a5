// Values of the device for the host: item(), bool(tensor), float(tensor).
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_local_scalar_dense_native.h>

#include "backend/BlockingRegion.h"
#include "backend/Exception.h"
#include "backend/Stream.h"
#include "generated/copy_native.h"
#include "runtime/table.h"

namespace anvil::native {

// Waits for the current stream.
at::Scalar _local_scalar_dense(const at::Tensor& self) {
  const at::Tensor host(at::detail::empty_cpu({}, self.scalar_type()));
  const Stream stream = getCurrentStream();
  cudaError_t code = cudaSuccess;
  {
    const BlockingRegion region;
    code = runtime::table().cudaMemcpyAsync(host.mutable_data_ptr(), self.const_data_ptr(),
                                            self.itemsize(), cudaMemcpyDeviceToHost, stream);
  }
  detail::check(code, "cudaMemcpyAsync(host, device, itemsize, cudaMemcpyDeviceToHost)");
  stream.synchronize();
  return at::native::_local_scalar_dense_cpu(host);
}

}  // namespace anvil::native
