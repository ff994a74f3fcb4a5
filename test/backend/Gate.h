// Holds a stream at a point until the test lets it go on, so that a test can
// look at the time between "queued" and "done" without sleeping.
#pragma once

#include <c10/util/Exception.h>

#include <future>
#include <memory>

#include "backend/Exception.h"
#include "backend/Stream.h"
#include "runtime/table.h"

namespace anvil::test {

// Queues a host function on `stream` that waits for open(). Opens when
// destroyed, so that a failed test does not hang.
class Gate {
 public:
  explicit Gate(Stream stream) : state_(std::make_shared<std::promise<void>>()) {
    auto* future = new std::shared_future<void>(state_->get_future().share());
    ANVIL_CHECK(runtime::table().cudaLaunchHostFunc(
        stream.stream(),
        [](void* argument) {
          const std::unique_ptr<std::shared_future<void>> owned(
              static_cast<std::shared_future<void>*>(argument));
          owned->wait();
        },
        future));
  }
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    if (!is_open_) {
      is_open_ = true;
      state_->set_value();
    }
  }

 private:
  std::shared_ptr<std::promise<void>> state_;
  bool is_open_ = false;
};

}  // namespace anvil::test
