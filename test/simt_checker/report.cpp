#include "test/simt_checker/report.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>

namespace anvil::simt_checker {
namespace {

std::vector<Report> reports;
std::set<std::tuple<Fault, std::string, const void*, const void*>> seen;

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// "file:line" of each inlined function around `pc`, the innermost first.
std::vector<std::string> lines_of(const void* pc) {
  Dl_info info{};
  // The access is in the instruction before the address to which it returns.
  const char* address = static_cast<const char*>(pc) - 1;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  char command[4096];
  std::snprintf(command, sizeof(command), "addr2line -i -e '%s' 0x%zx 2>/dev/null", info.dli_fname,
                static_cast<size_t>(address - static_cast<const char*>(info.dli_fbase)));
  std::vector<std::string> lines;
  FILE* output = popen(command, "r");
  if (output == nullptr) {
    return lines;
  }
  char line[4096];
  while (std::fgets(line, sizeof(line), output)) {
    line[std::strcspn(line, " \n")] = '\0';
    if (line[0] != '?') {
      lines.emplace_back(file_name(line));
    }
  }
  pclose(output);
  return lines;
}

}  // namespace

const char* fault_name(Fault fault) {
  switch (fault) {
    case Fault::kRace:
      return "race";
    case Fault::kBlockRace:
      return "race between blocks";
    case Fault::kDivergentBarrier:
      return "divergent barrier";
    case Fault::kDivergentShuffle:
      return "divergent shuffle";
    case Fault::kOutOfBounds:
      return "access out of bounds";
    case Fault::kMisaligned:
      return "misaligned access";
    case Fault::kUninitialized:
      return "read of uninitialised shared memory";
    case Fault::kReadOnly:
      return "write to read-only memory";
    case Fault::kPrivate:
      return "access to another thread's variables";
    case Fault::kLaunch:
      return "bad launch";
  }
  return "?";
}

void add_report(Fault fault,
                const char* kernel,
                const void* first_pc,
                const void* second_pc,
                const std::function<std::string()>& what) {
  if (seen.emplace(fault, kernel, first_pc, second_pc).second) {
    reports.push_back(
        {fault, kernel, std::string(fault_name(fault)) + " in kernel " + kernel + ": " + what()});
  }
}

std::vector<Report> take_reports() {
  seen.clear();
  return std::exchange(reports, {});
}

std::string describe(const Accessor& accessor) {
  std::string text = accessor.is_atomic ? "atomic " : "";
  text += accessor.is_write ? "write" : "read";
  text += " by thread " + std::to_string(accessor.thread) + " of block " +
          std::to_string(accessor.block);
  return text + " at " + describe_code(accessor.pc);
}

std::string describe_code(const void* pc) {
  const std::vector<std::string> lines = lines_of(pc);
  if (lines.empty()) {
    char address[32];
    std::snprintf(address, sizeof(address), "%p", pc);
    return address;
  }
  std::string text = lines[0];
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i] != lines[i - 1]) {
      text += " < " + lines[i];
    }
  }
  return text;
}

std::string describe_threads(const std::vector<int>& threads) {
  std::string text = threads.size() == 1 ? "thread " : "threads ";
  for (size_t i = 0; i < threads.size();) {
    size_t last = i;
    while (last + 1 < threads.size() && threads[last + 1] == threads[last] + 1) {
      ++last;
    }
    text += (i == 0 ? "" : ", ") + std::to_string(threads[i]);
    if (last > i) {
      text += "-" + std::to_string(threads[last]);
    }
    i = last + 1;
  }
  return text;
}

std::string describe_site(const Site& site) {
  return std::string(file_name(site.file)) + ":" + std::to_string(site.line);
}

}  // namespace anvil::simt_checker
