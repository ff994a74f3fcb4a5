// Every function that the headers declare and no other file defines. Without
// these a program would reach the real library, with a handle that is not one
// of its own. cublas_functions.inc has all of the headers' names; definitions
// here are weak, so that an implementation replaces them. This file does not
// see the declarations: it defines the names without parameters, which x86-64's
// calling convention allows, as none is read.
#include "runtime/simulator/blas/refused.h"

#define X(name)                                                       \
  extern "C" __attribute__((visibility("default"), weak)) int name(); \
  extern "C" int name() {                                             \
    static constinit anvil::simulator::blas::Call call{#name, {0}};   \
    return anvil::simulator::blas::refuse_function(call);             \
  }
#include "cublas_functions.inc"
#undef X
