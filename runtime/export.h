// Visibility of what libanvil_runtime offers to the layers above.
#pragma once

#define ANVIL_RUNTIME_API __attribute__((visibility("default")))
