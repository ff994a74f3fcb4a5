#include "test/simt_checker/ordering.h"

#include <algorithm>

#include "test/simt_checker/shadow.h"

namespace anvil::simt_checker {

Block::Block(uint32_t index, int threads, Locations* locations)
    : index_(index), locations_(locations), threads_(threads) {}

void Block::barrier() {
  phase_begin_ = ++clock_;
  const bool all_fenced =
      std::none_of(threads_.begin(), threads_.end(), [](const Thread& t) { return t.unfenced; });
  if (all_fenced) {
    fenced_before_ = phase_begin_;
  }
  for (Thread& thread : threads_) {
    thread.acquired = version_;
  }
}

void Block::fence(int thread) {
  Thread& self = threads_[thread];
  self.fence = ++clock_;
  self.unfenced = false;
  // It also covers what the barriers before it made visible to this thread.
  const auto eligible = [&](const Pending& p) {
    return p.thread == thread || p.stamp < phase_begin_;
  };
  for (const Pending& pending : pending_) {
    if (!eligible(pending)) {
      continue;
    }
    for (const auto& [block, release] : pending.releases) {
      Acquired& known = acquired_[block];
      if (known.release.before < release.before || known.release.own_before < release.own_before) {
        known = {release, version_ + 1};
      }
    }
  }
  std::erase_if(pending_, eligible);
  self.acquired = ++version_;
}

void Block::atomic(int thread, const void* location) {
  const auto found = locations_->find(location);
  if (found != locations_->end()) {
    pending_.push_back({thread, clock_, found->second});
  }
  Release release{fenced_before_, thread, threads_[thread].fence};
  if (release.own_before >= phase_begin_) {
    release.before = phase_begin_;
  }
  if (release.before != 0 || release.own_before != 0) {
    (*locations_)[location][index_] = release;
  }
}

bool Block::is_after(const Access& earlier, int thread) const {
  const auto found = acquired_.find(earlier.block);
  if (found == acquired_.end() || found->second.version > threads_[thread].acquired) {
    return false;
  }
  const Release& release = found->second.release;
  return earlier.stamp < release.before ||
         (earlier.thread == release.thread && earlier.stamp < release.own_before);
}

}  // namespace anvil::simt_checker
