#include "test/simt_checker/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

extern "C" {
// Saves the registers that a call must preserve, stores the stack pointer to
// *save, continues at `next`.
void anvil_switch_stack(void** save, void* next);
// Where a fiber begins: calls the function in r12 with what is in rbx.
void anvil_begin_fiber();
}
asm(R"(
.text
.align 16
.type anvil_switch_stack, @function
anvil_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size anvil_switch_stack, .-anvil_switch_stack
.type anvil_begin_fiber, @function
anvil_begin_fiber:
  movq %rbx, %rdi
  jmp *%r12
.size anvil_begin_fiber, .-anvil_begin_fiber
)");

namespace anvil::simt_checker {
namespace {

constexpr size_t kGuardBytes = 4096;
constexpr size_t kSlotBytes = Fiber::kStackBytes + kGuardBytes;
constexpr size_t kSlots = 4096;  // several blocks of the largest size

// One reservation for the stacks of all fibers, so that is_stack is a comparison.
class StackPool {
 public:
  StackPool() {
    void* memory = mmap(nullptr, kSlotBytes * kSlots, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    begin_ = static_cast<char*>(memory);
  }

  void* take() {
    if (!free_.empty()) {
      void* stack = free_.back();
      free_.pop_back();
      return stack;
    }
    if (used_ == kSlots) {
      throw std::bad_alloc();
    }
    char* stack = begin_ + kSlotBytes * used_++ + kGuardBytes;
    if (mprotect(stack, Fiber::kStackBytes, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
    return stack;
  }
  void give_back(void* stack) { free_.push_back(stack); }

  bool holds(const void* address) const {
    return address >= begin_ && address < begin_ + kSlotBytes * kSlots;
  }

 private:
  char* begin_;
  size_t used_ = 0;
  std::vector<void*> free_;
};

StackPool& pool() {
  static StackPool* const pool = new StackPool;  // outlives every fiber
  return *pool;
}

#if defined(__SANITIZE_ADDRESS__)
void start_switch(void** fake_stack, const void* stack, size_t bytes) {
  __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
}
void finish_switch(void* fake_stack, const void** stack, size_t* bytes) {
  __sanitizer_finish_switch_fiber(fake_stack, stack, bytes);
}
// Frames that were dropped left their red zones behind.
void clear_stack(void* stack) { __asan_unpoison_memory_region(stack, Fiber::kStackBytes); }
#else
void start_switch(void**, const void*, size_t) {}
void finish_switch(void*, const void**, size_t*) {}
void clear_stack(void*) {}
#endif

}  // namespace

Fiber::Fiber() : stack_(pool().take()) {}
Fiber::~Fiber() { pool().give_back(stack_); }

bool Fiber::is_stack(const void* address) { return pool().holds(address); }

void Fiber::start(void (*entry)(void*), void* argument) {
  entry_ = entry;
  argument_ = argument;
  own_fake_stack_ = nullptr;
  clear_stack(stack_);
  // As anvil_switch_stack leaves it: where to return to, then six registers.
  auto* top = reinterpret_cast<void**>(static_cast<char*>(stack_) + kStackBytes);
  *--top = nullptr;  // a function begins 8 bytes off the alignment of its caller
  *--top = reinterpret_cast<void*>(&anvil_begin_fiber);
  *--top = nullptr;                               // rbp
  *--top = this;                                  // rbx
  *--top = reinterpret_cast<void*>(&Fiber::run);  // r12
  *--top = nullptr;                               // r13
  *--top = nullptr;                               // r14
  *--top = nullptr;                               // r15
  stack_pointer_ = top;
}

void Fiber::resume() {
  start_switch(&caller_fake_stack_, stack_, kStackBytes);
  anvil_switch_stack(&caller_, stack_pointer_);
  finish_switch(caller_fake_stack_, nullptr, nullptr);
}

void Fiber::suspend() {
  start_switch(&own_fake_stack_, caller_stack_, caller_stack_bytes_);
  anvil_switch_stack(&stack_pointer_, caller_);
  finish_switch(own_fake_stack_, &caller_stack_, &caller_stack_bytes_);
}

void Fiber::run(Fiber* self) {
  finish_switch(nullptr, &self->caller_stack_, &self->caller_stack_bytes_);
  self->entry_(self->argument_);
  __builtin_trap();
}

}  // namespace anvil::simt_checker
