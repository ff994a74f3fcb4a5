// Changing the size of a storage of device memory.
#pragma once

#include <c10/core/StorageImpl.h>

#include <cstddef>

#include "backend/Macros.h"

namespace anvil {

// Gives `storage` new memory of `bytes` bytes on its device and copies the old
// bytes that fit, in order on the current stream of that device. Never waits.
// The old memory is kept until the copy is done. Throws if the storage is not
// resizable or memory runs out; the storage is unchanged then.
ANVIL_API void resize_bytes(c10::StorageImpl* storage, size_t bytes);

}  // namespace anvil
