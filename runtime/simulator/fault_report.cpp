#include "runtime/simulator/fault_report.h"

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "runtime/simulator/address_space.h"
#include "runtime/simulator/memory.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

constinit struct sigaction before{};
thread_local constinit KernelFaults* kernel_faults = nullptr;

// An address below this is a null pointer and an offset.
constexpr uintptr_t kNullPages = 65536;

// A line that is put together without allocation or locale.
class Line {
 public:
  Line& operator<<(const char* text) {
    while (*text != '\0' && length_ < sizeof(text_) - 1) {
      text_[length_++] = *text++;
    }
    return *this;
  }
  Line& decimal(uint64_t value) { return number(value, 10); }
  Line& address(const void* pointer) {
    *this << "0x";
    return number(reinterpret_cast<uintptr_t>(pointer), 16);
  }
  void write_to_stderr() {
    text_[length_++] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text_, length_);
  }

 private:
  Line& number(uint64_t value, unsigned base) {
    char digits[32];
    char* digit = digits + sizeof(digits);
    *--digit = '\0';
    do {
      *--digit = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    return *this << digit;
  }

  char text_[768];
  size_t length_ = 0;
};

// "device 0, 16 bytes into an allocation of 1024 bytes at 0x..."
void describe(Line& line, const char* address) {
  Location location;
  bool freed = false;
  const bool located = locate_for_report(address, &location, &freed);
  const int device = located ? location.device : device_of(address);
  if (device >= 0) {
    line << "device ";
    line.decimal(static_cast<uint64_t>(device)) << ", ";
  }
  if (!located) {
    line << "allocation unknown (its table was busy)";
  } else if (location.begin == nullptr) {
    line << "not in an allocation";
  } else {
    line.decimal(static_cast<uint64_t>(address - location.begin))
        << (freed ? " bytes into a freed allocation of " : " bytes into an allocation of ");
    line.decimal(location.bytes) << " bytes at ";
    line.address(location.begin);
  }
}

void hand_on(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    // Back in the faulting instruction, the signal ends the process.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    if (info->si_code <= 0) {  // sent by kill(): there is no such instruction
      raise(signal);
    }
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const bool fault = info->si_code > 0;
  const char* address = static_cast<const char*>(info->si_addr);
  // If it is one of the kernel view.
  const char* device_address = reinterpret_cast<const char*>(
      reinterpret_cast<uintptr_t>(address) - static_cast<uintptr_t>(address_space.distance));
  if (fault && is_device_address(address)) {
    Line line;
    line << "anvil simulator: host code touched device memory at ";
    line.address(address) << ": ";
    describe(line, address);
    line << (current_thread.inside_stream
                 ? ". A kernel or host function got a device address that was not translated"
                 : ". Copy it with cudaMemcpy, or use it in a kernel")
         << ". The process ends now.";
    line.write_to_stderr();
  } else if (fault && is_device_address(device_address)) {
    Line line;
    line << "anvil simulator: ";
    if (kernel_faults != nullptr) {
      line << "kernel '" << kernel_faults->kernel << "'";
    } else {
      line << "a kernel";
    }
    line << " made an illegal access to device memory at ";
    line.address(device_address) << ": ";
    describe(line, device_address);
    line.write_to_stderr();
    if (kernel_faults != nullptr) {
      siglongjmp(kernel_faults->jump, 1);
    }
  } else if (fault && kernel_faults != nullptr &&
             reinterpret_cast<uintptr_t>(address) < kNullPages) {
    Line line;
    line << "anvil simulator: kernel '" << kernel_faults->kernel << "' used a null pointer (";
    line.address(address) << "): a tensor whose memory was given back?";
    line.write_to_stderr();
    siglongjmp(kernel_faults->jump, 1);
  }
  hand_on(signal, info, context);
}

}  // namespace

KernelFaults::KernelFaults(const char* kernel) : kernel(kernel) { kernel_faults = this; }
KernelFaults::~KernelFaults() { kernel_faults = nullptr; }

void install_fault_report() {
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  // NODEFER: the jump out of a kernel leaves the signal unblocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &before);
}

}  // namespace anvil::simulator
