#include "runtime/simulator/device.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "runtime/simulator/capture.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/profile.h"

namespace anvil::simulator {
namespace {

constinit Device* devices = nullptr;

bool valid(int index) { return index >= 0 && index < config.devices; }

constexpr int kCudaVersion = CUDART_VERSION;

// The function of a bus id is 0: "domain:bus:device.function", all hexadecimal.
struct BusId {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
};

// Whether the text is a bus id, with or without its function.
bool parse(std::string_view text, BusId* id) {
  const char* next = text.data();
  const char* const end = next + text.size();
  const auto number = [&](unsigned* value, char after) {
    const auto [stop, error] = std::from_chars(next, end, *value, 16);
    const bool whole = stop == end || *stop == after;
    next = stop == end ? end : stop + 1;
    return error == std::errc{} && whole;
  };
  if (!number(&id->domain, ':') || !number(&id->bus, ':') || !number(&id->slot, '.')) {
    return false;
  }
  unsigned function = 0;
  return next == end ? text.back() != '.' : number(&function, '\0');
}

}  // namespace

void make_devices(const Config& config) {
  make_engine();
  devices = new Device[config.devices];
  for (int index = 0; index < config.devices; ++index) {
    Device& device = devices[index];
    device.index = index;
    device.legacy.magic = kStreamMagic;
    device.legacy.legacy = true;
    device.legacy.device = &device;
  }
}

Device& device(int index) { return devices[index]; }

void fail(Device& device, cudaError_t code) {
  cudaError_t none = cudaSuccess;
  device.failed.compare_exchange_strong(none, code);
}

ANVIL_EXPORT cudaError_t cudaGetDeviceCount(int* count) {
  if (count != nullptr) {
    *count = 0;
  }
  return api([&](Thread&) {
    if (count == nullptr) {
      return cudaErrorInvalidValue;
    }
    *count = config.devices;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaGetDevice(int* index) {
  return api([&](Thread& thread) {
    if (index == nullptr) {
      return cudaErrorInvalidValue;
    }
    *index = thread.device;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaSetDevice(int index) {
  return api([&](Thread& thread) {
    if (!valid(index)) {
      return cudaErrorInvalidDevice;
    }
    thread.device = index;
    return failure(use_device(index));
  });
}

ANVIL_EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int index) {
  return api([&](Thread&) {
    if (properties == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (!valid(index)) {
      return cudaErrorInvalidDevice;
    }
    fill_properties(*config.profile, index, config.memory, properties);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int index) {
  return api([&](Thread&) {
    if (value == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (!valid(index)) {
      return cudaErrorInvalidDevice;
    }
    return find_attribute(*config.profile, index, attribute, value) ? cudaSuccess
                                                                    : cudaErrorInvalidValue;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int index) {
  return api([&](Thread&) {
    if (text == nullptr || length <= 0) {
      return cudaErrorInvalidValue;
    }
    if (!valid(index)) {
      return cudaErrorInvalidDevice;
    }
    const int written = std::snprintf(text, length, "0000:%02x:00.0", index + 1);
    return written < length ? cudaSuccess : cudaErrorInvalidValue;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceGetByPCIBusId(int* index, const char* text) {
  return api([&](Thread&) {
    BusId id;
    if (index == nullptr || text == nullptr || !parse(text, &id)) {
      return cudaErrorInvalidValue;
    }
    if (id.domain != 0 || id.slot != 0 || id.bus - 1 >= static_cast<unsigned>(config.devices)) {
      return cudaErrorInvalidDevice;
    }
    *index = static_cast<int>(id.bus) - 1;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&](Thread&) {
    if (least != nullptr) {
      *least = kLeastPriority;
    }
    if (greatest != nullptr) {
      *greatest = kGreatestPriority;
    }
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceSynchronize() {
  return api([&](Thread& thread) {
    const Device& own = use_device(thread.device);
    if (const cudaError_t refused = admit_query(own, thread)) {
      return refused;
    }
    wait_for_device(own);
    return failure(thread.device);
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceCanAccessPeer(int* can, int index, int peer) {
  return api([&](Thread&) {
    if (can == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (!valid(index) || !valid(peer)) {
      return cudaErrorInvalidDevice;
    }
    *can = index != peer;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api([&](Thread& thread) {
    if (flags != 0) {
      return cudaErrorInvalidValue;
    }
    if (!valid(peer) || peer == thread.device) {
      return cudaErrorInvalidDevice;
    }
    const uint32_t bit = uint32_t{1} << peer;
    const uint32_t before = device(thread.device).peers.fetch_or(bit);
    return (before & bit) != 0 ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api([&](Thread& thread) {
    if (!valid(peer)) {
      return cudaErrorInvalidDevice;
    }
    const uint32_t bit = uint32_t{1} << peer;
    const uint32_t before = device(thread.device).peers.fetch_and(~bit);
    return (before & bit) != 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

ANVIL_EXPORT cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) {
    return current_thread.last_error = cudaErrorInvalidValue;
  }
  *version = kCudaVersion;
  return cudaSuccess;
}

ANVIL_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

}  // namespace anvil::simulator
