// User objects: what a graph keeps alive for its user (cudaUserObjectCreate).
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

namespace anvil::simulator {

struct UserObject {
  cudaHostFn_t destroy;
  void* data;
  std::atomic<unsigned> references;
};

// Gives up references; the last one runs `destroy` on the calling thread.
void release(UserObject& object, unsigned count);

// References that a graph or an executable graph holds.
class UserObjectReference {
 public:
  // Takes over `count` references.
  UserObjectReference(UserObject* object, unsigned count) : object_(object), count_(count) {}
  UserObjectReference(const UserObjectReference& other);
  UserObjectReference(UserObjectReference&& other) noexcept;
  UserObjectReference& operator=(UserObjectReference other) noexcept;
  ~UserObjectReference();

  const UserObject* object() const { return object_; }
  unsigned count() const { return count_; }
  // Gives up some. Precondition: count <= this->count().
  void reduce(unsigned count);

 private:
  UserObject* object_;
  unsigned count_;
};

}  // namespace anvil::simulator
