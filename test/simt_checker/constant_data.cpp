#include "test/simt_checker/constant_data.h"

#include <link.h>

namespace anvil::simt_checker {

bool is_constant_data(const void* address) {
  const auto visit = [](dl_phdr_info* object, size_t, void* data) -> int {
    const auto where = *static_cast<const ElfW(Addr)*>(data);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr) & segment = object->dlpi_phdr[i];
      const ElfW(Addr) begin = object->dlpi_addr + segment.p_vaddr;
      if (segment.p_type == PT_LOAD && where >= begin && where < begin + segment.p_memsz) {
        return 1;
      }
    }
    return 0;
  };
  auto where = reinterpret_cast<ElfW(Addr)>(address);
  return dl_iterate_phdr(visit, &where) != 0;
}

}  // namespace anvil::simt_checker
