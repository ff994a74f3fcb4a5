// The rest of what libcudart exports. Without these a program that has both
// libraries would reach the real one. This file does not see CUDA's headers: it
// defines the names without the parameters, which x86-64's calling convention
// allows, as none is read.
#include "runtime/simulator/refused.h"

#define X(name)                                                 \
  extern "C" __attribute__((visibility("default"))) int name(); \
  extern "C" int name() { return anvil::simulator::refuse(#name); }
#include "runtime/simulator/refused.inc"
#undef X
