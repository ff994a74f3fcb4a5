// Kernels with known faults, and clean ones beside them. Each runs in blocks of
// 64 threads.
#pragma once

#include <cstdint>

namespace anvil::simt_checker {

// out[0] = sum of in[0..n). Clean, and without the barrier that it needs.
void sum(const float* in, float* out, int64_t n);
void sum_without_barrier(const float* in, float* out, int64_t n);

// One launch sums with several blocks; the last one adds up their parts.
// `fenced`: as Team::last_block does it, or with the counter alone.
void sum_of_blocks(const float* in,
                   float* parts,
                   unsigned* counter,
                   float* out,
                   int64_t n,
                   int64_t blocks,
                   bool fenced);

// Every block writes out[0].
void write_from_all_blocks(int* out, int64_t blocks);
// Every block adds to out[0] atomically.
void count_blocks(int* out, int64_t blocks);
// Block b reads what block b + 1 writes.
void read_neighbour(int* data, int64_t blocks);
// out[0..n) shifted by one place inside a block, in place, without a barrier.
void shift_in_place(int* data, int64_t n);

// Half of the threads leave before the barrier.
void leave_before_barrier();
// Each half of the threads has its own barrier.
void wait_at_two_barriers();
// Half of a warp takes part in a shuffle.
void shuffle_in_half_a_warp();

// Two shared arrays of n elements; the first is written one past its end.
void write_past_shared_array(int64_t n);
// More shared memory than the launch has.
void take_too_much_shared_memory();
void read_unwritten_shared_memory(int* out);
// out[n] = 0
void write_past_array(int* out, int64_t n);
// A 16-byte load from in + 1.
void load_misaligned(const float* in, float* out);
// memset of `bytes` bytes by one thread.
void set_bytes(unsigned char* out, int64_t bytes);
// Thread 1 follows a pointer to a variable of thread 0's.
void read_variable_of_other_thread(int* out);
void write_constant_data();
void launch_with_threads(int threads);
void throw_from_thread();

// Thread t of block b appends b * 64 + t at the place that a counter gives it.
void append(int64_t* out, unsigned* counter, int64_t blocks);

}  // namespace anvil::simt_checker
