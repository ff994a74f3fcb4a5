// The pinned-memory cache's statistics. The device allocator's come through
// torch._C._accelerator_*.
#include <ATen/core/CachingHostAllocator.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include "backend/Functions.h"
#include "python/csrc/Bindings.h"

namespace anvil::python {
namespace {

namespace py = pybind11;

py::dict stat(const c10::CachingAllocator::Stat& value) {
  py::dict result;
  result["current"] = value.current;
  result["peak"] = value.peak;
  result["allocated"] = value.allocated;
  result["freed"] = value.freed;
  return result;
}

py::dict duration(const c10::CachingAllocator::DurationStat& value) {
  py::dict result;
  result["total"] = value.total;
  result["max"] = value.max;
  result["min"] = value.min;
  result["count"] = value.count;
  return result;
}

// Keys as torch.cuda.host_memory_stats_as_nested_dict().
py::dict host_memory_stats() {
  const at::HostStats stats = at::getHostAllocator(kDeviceType)->get_stats();
  py::dict result;
  result["num_host_alloc"] = stats.num_host_alloc;
  result["num_host_free"] = stats.num_host_free;
  result["allocations"] = stat(stats.allocations);
  result["active_requests"] = stat(stats.active_requests);
  result["allocated_bytes"] = stat(stats.allocated_bytes);
  result["active_bytes"] = stat(stats.active_bytes);
  result["host_alloc_time"] = duration(stats.host_alloc_time);
  result["host_free_time"] = duration(stats.host_free_time);
  return result;
}

}  // namespace

void bind_memory(py::module_& module) {
  using torch::wrap_pybind_function;
  module.def("_host_memory_stats", wrap_pybind_function(&host_memory_stats));
  module.def("_reset_accumulated_host_memory_stats", wrap_pybind_function([] {
               at::getHostAllocator(kDeviceType)->reset_accumulated_stats();
             }));
  module.def("_reset_peak_host_memory_stats",
             wrap_pybind_function([] { at::getHostAllocator(kDeviceType)->reset_peak_stats(); }));
}

}  // namespace anvil::python
