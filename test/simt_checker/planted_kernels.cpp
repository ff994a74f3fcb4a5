#include "test/simt_checker/planted_kernels.h"

#include <cstring>
#include <stdexcept>

#include "aten_ops/kernels/launch.h"

namespace anvil::simt_checker {

using namespace kernels;

namespace {

// Constant as a kernel sees it, but in a segment that the host could write.
volatile int constant_data = 1;

struct Add {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

}  // namespace

struct Sum {
  Pointer<const float> in;
  Pointer<float> out;
  int64_t n;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const float total = team.reduce(n, 0.0f, Add{}, [&](int64_t i) { return in[i]; });
    team.once([&] { out[0] = total; });
  }
};
void sum(const float* in, float* out, int64_t n) {
  launch<Sum>("sum", {.threads = 64}, nullptr, {in, out, n});
}

struct SumWithoutBarrier {
  Pointer<const float> in;
  Pointer<float> out;
  int64_t n;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    float* staged = team.template shared<float>(n);
    team.for_each(n, [&](int64_t i) { staged[i] = in[i]; });
    team.once([&] {
      float total = 0;
      for (int64_t i = 0; i < n; ++i) {
        total += staged[i];
      }
      out[0] = total;
    });
  }
};
void sum_without_barrier(const float* in, float* out, int64_t n) {
  launch<SumWithoutBarrier>("sum_without_barrier",
                            {.threads = 64, .shared_bytes = shared_size<float>(n)}, nullptr,
                            {in, out, n});
}

template <bool kFenced>
struct SumOfBlocks {
  Pointer<const float> in;
  Pointer<float> parts;
  Pointer<unsigned> counter;
  Pointer<float> out;
  int64_t n;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t step = (n + team.blocks() - 1) / team.blocks();
    const int64_t begin = team.block() * step;
    const int64_t size = begin >= n ? 0 : begin + step <= n ? step : n - begin;
    const float part = team.reduce(size, 0.0f, Add{}, [&](int64_t i) { return in[begin + i]; });
    team.once([&] { parts[team.block()] = part; });
    bool last;
    if constexpr (kFenced) {
      last = team.last_block(counter);
    } else {
      last = team.broadcast([&] { return simt::atomic_increment(counter) + 1 == team.blocks(); });
    }
    if (last) {
      const float total =
          team.reduce(team.blocks(), 0.0f, Add{}, [&](int64_t i) { return parts[i]; });
      team.once([&] { out[0] = total; });
    }
  }
};
void sum_of_blocks(const float* in,
                   float* parts,
                   unsigned* counter,
                   float* out,
                   int64_t n,
                   int64_t blocks,
                   bool fenced) {
  const LaunchConfig config{.blocks = blocks, .threads = 64};
  if (fenced) {
    launch<SumOfBlocks<true>>("sum_of_blocks", config, nullptr, {in, parts, counter, out, n});
  } else {
    launch<SumOfBlocks<false>>("sum_of_blocks_unfenced", config, nullptr,
                               {in, parts, counter, out, n});
  }
}

struct WriteFromAllBlocks {
  Pointer<int> out;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] { out[0] = 1; });
  }
};
void write_from_all_blocks(int* out, int64_t blocks) {
  launch<WriteFromAllBlocks>("write_from_all_blocks", {.blocks = blocks, .threads = 64}, nullptr,
                             {out});
}

struct CountBlocks {
  Pointer<int> out;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] { team.atomic_add(out.get(), 0, 1); });
  }
};
void count_blocks(int* out, int64_t blocks) {
  launch<CountBlocks>("count_blocks", {.blocks = blocks, .threads = 64}, nullptr, {out});
}

struct ReadNeighbour {
  Pointer<int> data;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] {
      const int next = team.block() + 1 < team.blocks() ? data[team.block() + 1] : 0;
      data[team.block()] = next;
    });
  }
};
void read_neighbour(int* data, int64_t blocks) {
  launch<ReadNeighbour>("read_neighbour", {.blocks = blocks, .threads = 64}, nullptr, {data});
}

struct ShiftInPlace {
  Pointer<int> data;
  int64_t n;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.for_each(n - 1, [&](int64_t i) { data[i] = data[i + 1]; });
  }
};
void shift_in_place(int* data, int64_t n) {
  launch<ShiftInPlace>("shift_in_place", {.threads = 64}, nullptr, {data, n});
}

struct LeaveBeforeBarrier {
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    if (team.thread() >= 32) {
      return;
    }
    team.sync();
  }
};
void leave_before_barrier() {
  launch<LeaveBeforeBarrier>("leave_before_barrier", {.threads = 64}, nullptr, {});
}

struct WaitAtTwoBarriers {
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    if (team.thread() < 32) {
      team.sync();
    } else {
      team.sync();
    }
  }
};
void wait_at_two_barriers() {
  launch<WaitAtTwoBarriers>("wait_at_two_barriers", {.threads = 64}, nullptr, {});
}

struct ShuffleInHalfAWarp {
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    if (team.thread() % 32 < 16) {
      simt::shuffle_xor(1, 1);
    }
    team.sync();
  }
};
void shuffle_in_half_a_warp() {
  launch<ShuffleInHalfAWarp>("shuffle_in_half_a_warp", {.threads = 64}, nullptr, {});
}

struct WritePastSharedArray {
  int64_t n;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    float* first = team.template shared<float>(n);
    float* second = team.template shared<float>(n);
    team.for_each(n, [&](int64_t i) { second[i] = 0; });
    team.for_each(n + 1, [&](int64_t i) { first[i] = 1; });
  }
};
void write_past_shared_array(int64_t n) {
  launch<WritePastSharedArray>("write_past_shared_array",
                               {.threads = 64, .shared_bytes = 2 * shared_size<float>(n)}, nullptr,
                               {n});
}

struct TakeTooMuchSharedMemory {
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.template shared<float>(5);
  }
};
void take_too_much_shared_memory() {
  launch<TakeTooMuchSharedMemory>("take_too_much_shared_memory",
                                  {.threads = 64, .shared_bytes = 16}, nullptr, {});
}

struct ReadUnwrittenSharedMemory {
  Pointer<int> out;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    int* values = team.template shared<int>(64);
    team.for_each(63, [&](int64_t i) { values[i] = 1; });
    team.sync();
    team.for_each(64, [&](int64_t i) { out[i] = values[i]; });
  }
};
void read_unwritten_shared_memory(int* out) {
  launch<ReadUnwrittenSharedMemory>("read_unwritten_shared_memory",
                                    {.threads = 64, .shared_bytes = shared_size<int>(64)}, nullptr,
                                    {out});
}

struct WritePastArray {
  Pointer<int> out;
  int64_t n;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.for_each(n + 1, [&](int64_t i) { out[i] = 0; });
  }
};
void write_past_array(int* out, int64_t n) {
  launch<WritePastArray>("write_past_array", {.threads = 64}, nullptr, {out, n});
}

struct alignas(16) Four {
  float values[4];
};
struct LoadMisaligned {
  Pointer<const float> in;
  Pointer<float> out;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] {
      const Four four = *reinterpret_cast<const Four*>(in + 1);
      out[0] = four.values[0] + four.values[3];
    });
  }
};
void load_misaligned(const float* in, float* out) {
  launch<LoadMisaligned>("load_misaligned", {.threads = 64}, nullptr, {in, out});
}

struct SetBytes {
  Pointer<unsigned char> out;
  int64_t bytes;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] { memset(out, 0, bytes); });
  }
};
void set_bytes(unsigned char* out, int64_t bytes) {
  launch<SetBytes>("set_bytes", {.threads = 64}, nullptr, {out, bytes});
}

struct ReadVariableOfOtherThread {
  Pointer<int> out;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    int* volatile* slot = team.template shared<int* volatile>(1);
    int own = 1;
    team.once([&] { *slot = &own; });
    team.sync();
    out[team.thread()] = **slot;
    team.sync();
  }
};
void read_variable_of_other_thread(int* out) {
  launch<ReadVariableOfOtherThread>("read_variable_of_other_thread",
                                    {.threads = 64, .shared_bytes = shared_size<int*>(1)}, nullptr,
                                    {out});
}

struct WriteConstantData {
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] { constant_data = 2; });
  }
};
void write_constant_data() {
  launch<WriteConstantData>("write_constant_data", {.threads = 64}, nullptr, {});
}

void launch_with_threads(int threads) {
  launch<WriteConstantData>("launch_with_threads", {.threads = threads}, nullptr, {});
}

struct ThrowFromThread {
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    if (team.thread() == 33) {
      throw std::logic_error("thread 33");
    }
    team.sync();
  }
};
void throw_from_thread() {
  launch<ThrowFromThread>("throw_from_thread", {.threads = 64}, nullptr, {});
}

struct Append {
  Pointer<int64_t> out;
  Pointer<unsigned> counter;
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    out[simt::atomic_increment(counter)] = team.block() * 64 + team.thread();
  }
};
void append(int64_t* out, unsigned* counter, int64_t blocks) {
  launch<Append>("append", {.blocks = blocks, .threads = 64}, nullptr, {out, counter});
}

}  // namespace anvil::simt_checker
