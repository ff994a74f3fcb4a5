// Visibility of what libanvil offers to the Python extension and to tests.
#pragma once

#define ANVIL_API __attribute__((visibility("default")))
