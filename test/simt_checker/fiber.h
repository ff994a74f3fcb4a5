// Fibers: the threads of a block, on one thread of the host.
//
// A switch saves the callee-saved registers of the x86-64 ABI and swaps stacks
// (some 7 ns; ucontext needs two system calls). Stacks are pooled for the life
// of the process and end in a page without access. AddressSanitizer is told of
// each switch.
#pragma once

#include <cstddef>
#include <memory>

namespace anvil::simt_checker {

class Fiber {
 public:
  static constexpr size_t kStackBytes = size_t{64} * 1024;

  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Makes the next resume() run entry(argument) from its beginning; what the
  // fiber did before is dropped without unwinding. `entry` must not return and
  // must not throw; it ends in suspend().
  void start(void (*entry)(void*), void* argument);
  // Runs the fiber until it suspends. Not from within a fiber.
  void resume();
  // Returns to the caller of resume(). From within this fiber.
  void suspend();

  // Whether `address` is in this fiber's stack.
  bool owns(const void* address) const {
    return address >= stack_ && address < static_cast<const char*>(stack_) + kStackBytes;
  }
  // Whether it is in any fiber's.
  static bool is_stack(const void* address);

 private:
  static void run(Fiber* self);

  void* stack_;
  void* stack_pointer_ = nullptr;  // while suspended
  void* caller_ = nullptr;         // while it runs
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  // AddressSanitizer's handles.
  void* own_fake_stack_ = nullptr;
  void* caller_fake_stack_ = nullptr;
  const void* caller_stack_ = nullptr;
  size_t caller_stack_bytes_ = 0;
};

}  // namespace anvil::simt_checker
