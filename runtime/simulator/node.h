// One piece of work in a stream's queue, and the pool that such pieces come from.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "runtime/simulator/extension.h"

namespace anvil::simulator {

struct Stream;
struct Event;
struct Kernel;

enum class Work : uint8_t { kLaunch, kCopy, kFill, kFree, kHostFunction, kRecord, kWait };

struct LaunchWork {
  const anvilKernel* kernel;
  anvilLaunch launch;     // arguments: in the payload
  const Kernel* counted;  // if it is only counted, else null
};

// `height` rows of `width` bytes, at kernel addresses.
struct CopyWork {
  char* to;
  const char* from;
  size_t to_pitch;
  size_t from_pitch;
  size_t width;
  size_t height;
  void* staging;  // freed after the copy, or null
};

// `height` rows of `width` bytes; the low `element` bytes of `value` are repeated.
struct FillWork {
  char* to;
  size_t pitch;
  size_t width;
  size_t height;
  uint32_t value;
  uint32_t element;  // 1, 2 or 4
};

// cudaFreeAsync.
struct FreeWork {
  char* begin;
};

struct HostWork {
  cudaHostFn_t function;
  void* data;
};

struct RecordWork {
  Event* event;
};

// Until `stream` has completed its work number `sequence`.
struct WaitWork {
  Stream* stream;
  uint64_t sequence;
};

struct alignas(64) Node {
  Node* next;
  uint64_t sequence;  // position in its stream, from 1
  uint64_t ticket;    // position among the work that the legacy stream orders
  Work work;
  uint8_t size_class;
  uint32_t payload_bytes;
  union {
    LaunchWork launch;
    CopyWork copy;
    FillWork fill;
    FreeWork free;
    HostWork host;
    RecordWork record;
    WaitWork wait;
  };

  // Room behind the node, aligned to 64 bytes.
  char* payload() { return reinterpret_cast<char*>(this + 1); }
};

// Free lists of two sizes; larger nodes come from the heap. Guarded by the
// engine's lock. Memory is kept until the process ends.
class NodePool {
 public:
  Node* take(size_t payload_bytes);
  void give(Node* node);

  static constexpr size_t kLargePayload = 1024;

 private:
  enum SizeClass : uint8_t { kSmall, kLarge, kHeap };
  Node* refill(SizeClass size_class);
  Node* free_[2] = {};
};

}  // namespace anvil::simulator
