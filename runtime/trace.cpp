#include "runtime/trace.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/trace_file.h"

namespace anvil::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// Made once and never destroyed: calls are made until the process ends.
struct State {
  State(const Table& original, const char* path) : driver(original), file(path) {}

  const Table driver;
  TraceFile file;
  std::mutex mutex;  // guards kernel_names
  std::unordered_map<const void*, std::string> kernel_names;
};
State* state = nullptr;

thread_local std::vector<std::string> operators;
// CUDA's current device is the thread's, 0 at first; it is followed here, as a
// question to the driver would be a call of its own.
thread_local int current_device = 0;

void name_kernel(const void* function, const char* name) {
  const std::lock_guard lock(state->mutex);
  state->kernel_names[function] = name;
}

std::string kernel_name(const void* function) {
  const std::lock_guard lock(state->mutex);
  const auto found = state->kernel_names.find(function);
  return found == state->kernel_names.end() ? std::string() : found->second;
}

template <auto>
struct Constant;
// Whether Member is one of the members named; their types may differ.
template <auto Member, auto... Named>
inline constexpr bool is_any = (std::is_same_v<Constant<Member>, Constant<Named>> || ...);

// --- What a call says beside its arguments.

struct Details {
  std::optional<size_t> bytes;
  std::optional<cudaStream_t> stream;
  std::string kernel;
  const void* created = nullptr;  // memory, stream or event that the call made
};

template <class... Arguments>
std::optional<cudaStream_t> stream_of(const Arguments&... arguments) {
  std::optional<cudaStream_t> stream;
  [[maybe_unused]] const auto look = [&](const auto& argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, cudaStream_t>) {
      stream = argument;
    }
  };
  (look(arguments), ...);
  return stream;
}

// Bytes that the call moves, sets or allocates: its one size_t, where it has
// one that means that.
template <auto Member, class... Arguments>
std::optional<size_t> bytes_of(const Arguments&... arguments) {
  const auto values = std::tie(arguments...);
  if constexpr (is_any<Member, &Table::cudaMemcpy2DAsync>) {
    return std::get<4>(values) * std::get<5>(values);
  } else if constexpr (is_any<Member, &Table::cudaMemcpyPeerAsync>) {
    return std::get<4>(values);
  } else if constexpr (is_any<Member, &Table::cudaMalloc, &Table::cudaHostAlloc,
                              &Table::cudaHostRegister>) {
    return std::get<1>(values);
  } else if constexpr (is_any<Member, &Table::cudaMemcpy, &Table::cudaMemcpyAsync,
                              &Table::cudaMemset, &Table::cudaMemsetAsync>) {
    return std::get<2>(values);
  } else {
    return std::nullopt;
  }
}

template <auto Member, class... Arguments>
Details details_of(bool succeeded, const Arguments&... arguments) {
  Details details{bytes_of<Member>(arguments...), stream_of(arguments...), {}};
  if constexpr (is_any<Member, &Table::cudaLaunchKernel, &Table::__cudaLaunchKernel>) {
    details.kernel = kernel_name(std::get<0>(std::tie(arguments...)));
  }
  if constexpr (is_any<Member, &Table::cudaMalloc, &Table::cudaHostAlloc,
                       &Table::cudaStreamCreateWithFlags, &Table::cudaStreamCreateWithPriority,
                       &Table::cudaEventCreateWithFlags>) {
    if (succeeded) {
      details.created = *std::get<0>(std::tie(arguments...));
    }
  }
  return details;
}

// What later events need to know of this one.
template <auto Member, class... Arguments>
void remember(const Arguments&... arguments) {
  const auto values = std::tie(arguments...);
  if constexpr (is_any<Member, &Table::cudaSetDevice>) {
    current_device = std::get<0>(values);
  } else if constexpr (is_any<Member, &Table::anvilSimulatorRegisterKernel>) {
    name_kernel(std::get<0>(values), std::get<1>(values)->name);
  } else if constexpr (is_any<Member, &Table::__cudaRegisterFunction>) {
    name_kernel(std::get<1>(values), std::get<3>(values));
  } else if constexpr (is_any<Member, &Table::__cudaGetKernel>) {
    name_kernel(*std::get<0>(values), kernel_name(std::get<1>(values)).c_str());
  }
}

// --- The event.

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

void write_event(const char* name,
                 Clock::time_point begin,
                 Clock::time_point end,
                 const Details& details,
                 const std::string& arguments,
                 const std::string& result) {
  std::string line = "{\"ph\":\"X\",\"cat\":\"cuda\",\"name\":" + json(name) +
                     ",\"pid\":" + json(::getpid()) + ",\"tid\":" + json(::gettid()) +
                     ",\"ts\":" + json(microseconds(begin.time_since_epoch())) +
                     ",\"dur\":" + json(microseconds(end - begin)) +
                     ",\"args\":{\"device\":" + json(current_device);
  const auto add = [&](const char* key, const std::string& value) {
    line += std::string(",\"") + key + "\":" + value;
  };
  if (details.stream) {
    add("stream", json_address(*details.stream));
  }
  if (details.bytes) {
    add("bytes", json(*details.bytes));
  }
  if (!details.kernel.empty()) {
    add("kernel", json(details.kernel));
  }
  if (details.created != nullptr) {
    add("created", json_address(details.created));
  }
  if (!operators.empty()) {
    add("operator", json(operators.front()));
    add("inner_operator", json(operators.back()));
  }
  add("arguments", "[" + arguments + "]");
  add("result", result);
  state->file.write(line + "}},\n");
}

// --- One function with the driver's signature for each member of the table.

template <auto Member>
constinit const char* call_name = nullptr;

template <auto Member, class Function>
struct Wrapper;

template <auto Member, class Result, class... Arguments>
struct Wrapper<Member, Result (*)(Arguments...)> {
  static Result call(Arguments... arguments) {
    const auto begin = Clock::now();
    if constexpr (std::is_void_v<Result>) {
      (state->driver.*Member)(arguments...);
      finish(begin, "null", true, arguments...);
    } else {
      const Result result = (state->driver.*Member)(arguments...);
      if constexpr (std::is_same_v<Result, cudaError_t>) {
        finish(begin, json(state->driver.cudaGetErrorName(result)), result == cudaSuccess,
               arguments...);
      } else {
        finish(begin, json(result), true, arguments...);
      }
      return result;
    }
  }

  static void finish(Clock::time_point begin,
                     const std::string& result,
                     bool succeeded,
                     const Arguments&... arguments) {
    const auto end = Clock::now();
    if (succeeded) {
      remember<Member>(arguments...);
    }
    std::string list;
    [[maybe_unused]] const auto append = [&](const auto& argument) {
      if (!list.empty()) {
        list += ',';
      }
      list += json(argument);
    };
    (append(arguments), ...);
    write_event(call_name<Member>, begin, end, details_of<Member>(succeeded, arguments...), list,
                result);
  }
};

template <auto Member>
void wrap(Table& table, const char* name) {
  using Function = std::remove_reference_t<decltype(table.*Member)>;
  if (table.*Member != nullptr) {
    call_name<Member> = name;
    table.*Member = &Wrapper<Member, Function>::call;
  }
}

}  // namespace

bool tracing() noexcept {
  static const bool wanted = [] {
    const char* path = std::getenv("ANVIL_TRACE");
    return path != nullptr && *path != '\0';
  }();
  return wanted;
}

Table traced(const Table& original) {
  state = new State(original, std::getenv("ANVIL_TRACE"));
  Table table = original;
#define ANVIL_WRAP(name) wrap<&Table::name>(table, #name);
  ANVIL_FOR_EACH_ENTRY_POINT(ANVIL_WRAP)
  ANVIL_FOR_EACH_COMPILER_ENTRY_POINT(ANVIL_WRAP)
  ANVIL_WRAP(anvilSimulatorRegisterKernel)
#undef ANVIL_WRAP
  return table;
}

void enter_operator(std::string name) { operators.push_back(std::move(name)); }
void leave_operator() noexcept {
  if (!operators.empty()) {
    operators.pop_back();
  }
}

}  // namespace anvil::runtime
