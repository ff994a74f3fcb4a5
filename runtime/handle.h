// The owner of a CUDA resource.
#pragma once

#include <utility>

namespace anvil::runtime {

// Move-only owner of a resource that Traits describe:
//   using value_type = cudaStream_t;               // null means "none"
//   static void destroy(value_type) noexcept;      // never called with null
// Types that own a resource derive from it and add constructors that make one.
// Not thread-safe beyond what the value is.
template <class Traits>
class Handle {
 public:
  using value_type = typename Traits::value_type;

  Handle() = default;
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, value_type{})) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset(std::exchange(other.value_, value_type{}));
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { reset(); }

  value_type get() const { return value_; }
  explicit operator bool() const { return value_ != value_type{}; }

  // Gives the resource up without destroying it.
  value_type release() noexcept { return std::exchange(value_, value_type{}); }

 protected:
  explicit Handle(value_type value) : value_(value) {}
  void reset(value_type value = {}) noexcept {
    if (value_ != value_type{}) {
      Traits::destroy(value_);
    }
    value_ = value;
  }

 private:
  value_type value_{};
};

}  // namespace anvil::runtime
