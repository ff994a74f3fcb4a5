// As runtime/simulator/refused.cpp, for the driver API: a library that links
// these loads, and a call says what is missing.
#include "runtime/simulator/refused.h"

#define X(name)                                                 \
  extern "C" __attribute__((visibility("default"))) int name(); \
  extern "C" int name() { return anvil::simulator::refuse_driver(#name); }
#include "runtime/simulator/driver/refused.inc"
#undef X
