#include "runtime/simulator/user_object.h"

#include <utility>

#include "runtime/simulator/graph.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

UserObject* resolve(cudaUserObject_t handle) { return reinterpret_cast<UserObject*>(handle); }

}  // namespace

void release(UserObject& object, unsigned count) {
  if (object.references.fetch_sub(count) == count) {
    object.destroy(object.data);
    delete &object;
  }
}

UserObjectReference::UserObjectReference(const UserObjectReference& other)
    : object_(other.object_), count_(1) {
  object_->references.fetch_add(1);
}

UserObjectReference::UserObjectReference(UserObjectReference&& other) noexcept
    : object_(other.object_), count_(std::exchange(other.count_, 0)) {}

UserObjectReference& UserObjectReference::operator=(UserObjectReference other) noexcept {
  std::swap(object_, other.object_);
  std::swap(count_, other.count_);
  return *this;
}

UserObjectReference::~UserObjectReference() { reduce(count_); }

void UserObjectReference::reduce(unsigned count) {
  if (count > 0) {
    count_ -= count;
    release(*object_, count);
  }
}

ANVIL_EXPORT cudaError_t cudaUserObjectCreate(cudaUserObject_t* object,
                                              void* data,
                                              cudaHostFn_t destroy,
                                              unsigned references,
                                              unsigned flags) {
  return api([&](Thread&) {
    if (object == nullptr || destroy == nullptr || references == 0 ||
        flags != cudaUserObjectNoDestructorSync) {
      return cudaErrorInvalidValue;
    }
    *object = reinterpret_cast<cudaUserObject_t>(new UserObject{destroy, data, references});
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  return api([&](Thread&) {
    if (handle == nullptr || count == 0) {
      return cudaErrorInvalidValue;
    }
    resolve(handle)->references.fetch_add(count);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  return api([&](Thread&) {
    if (handle == nullptr || count == 0) {
      return cudaErrorInvalidValue;
    }
    release(*resolve(handle), count);
    return cudaSuccess;
  });
}

// With cudaGraphUserObjectMove the graph takes the caller's references, else new
// ones.
ANVIL_EXPORT cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph_handle,
                                                   cudaUserObject_t handle,
                                                   unsigned count,
                                                   unsigned flags) {
  return api([&](Thread&) {
    Graph* graph = simulator::resolve(graph_handle);
    if (graph == nullptr || handle == nullptr || count == 0 ||
        (flags & ~unsigned{cudaGraphUserObjectMove}) != 0) {
      return cudaErrorInvalidValue;
    }
    UserObject* object = resolve(handle);
    if ((flags & cudaGraphUserObjectMove) == 0) {
      object->references.fetch_add(count);
    }
    graph->objects.emplace_back(object, count);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph_handle,
                                                    cudaUserObject_t handle,
                                                    unsigned count) {
  return api([&](Thread&) {
    Graph* graph = simulator::resolve(graph_handle);
    if (graph == nullptr || handle == nullptr || count == 0) {
      return cudaErrorInvalidValue;
    }
    for (UserObjectReference& reference : graph->objects) {
      if (reference.object() == resolve(handle) && reference.count() >= count) {
        reference.reduce(count);
        return cudaSuccess;
      }
    }
    return cudaErrorInvalidValue;
  });
}

}  // namespace anvil::simulator
