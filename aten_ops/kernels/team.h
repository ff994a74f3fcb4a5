// Team: what a kernel's body knows of its block. Three implementations with
// these members; a kernel is a template over them.
//
//   int64_t block(), blocks()   index of this block, blocks of the grid
//   for_each(n, f)              f(i) once for each i in [0, n), spread over the
//                               threads; no order, no barrier after it
//   reduce(n, identity, combine, f) -> T
//                               combine of all f(i), n may be 0; every thread
//                               gets it; `combine` is associative and
//                               commutative, up to rounding. A barrier
//   reduce_contiguous(x, n, identity, combine, f) -> T
//                               as reduce, of f(x[i], i); 16-byte loads
//   reduce2d(outer, inner, identity, combine, row, f) -> T
//                               as reduce, of f(row(o), o, i) for o in
//                               [0, outer), i in [0, inner)
//   inclusive_scan(n, identity, combine, load, store)
//                               store(i, combine(load(0) .. load(i))), in
//                               order; `combine` is associative. store(i) may
//                               overwrite what load(i) read. A barrier
//   shared<T>(n) -> T*          n elements of memory that the block shares, not
//                               initialised; every thread makes the same calls
//                               in the same order; LaunchConfig::shared_bytes
//                               has room for all of them
//   sync()                      barrier: what any thread of the block wrote
//                               before it, all see after it
//   once(f)                     one thread runs f; no barrier
//   broadcast(f) -> T           one thread runs f, every thread gets its
//                               result. A barrier
//   last_block(counter) -> bool true in every thread of the block that is the
//                               last of the grid to call it, which then sees
//                               what all blocks wrote before the call. `counter`
//                               is in device memory, 0 before the launch and
//                               again 0 after it. A barrier
//   last_block(counter, arrivals)
//                               the same for a group of blocks: true in the
//                               one that makes the `arrivals`th call
//   atomic_add(p, i, v)         p[i] += v, atomic on the device. float, double,
//                               Half, BFloat16, int32_t, int64_t
//   atomic_update(p, i, f)      p[i] = f(p[i]), atomic; elements of 2, 4 or 8
//                               bytes; f may run several times
//
// Calls of for_each and reduce with the same n give i to the same thread, once.
//
// for_each, reduce, ... , once are called by all threads of a block, outside of
// the f of another. A thread keeps nothing between two calls but in shared
// memory; values computed outside of the calls are the same in every thread.
#pragma once

#if defined(__CUDACC__) || defined(ANVIL_SIMT_CHECKER)
#include "aten_ops/kernels/team_cuda.h"
#else
#include "aten_ops/kernels/team_host.h"
#endif
