// Descriptors whose fields are set by number and size.
#pragma once

#include <cublas_api.h>

#include <cstddef>
#include <cstring>

namespace anvil::simulator::blas {

// Where a descriptor keeps an attribute.
struct Attribute {
  int id;
  size_t offset;
  size_t bytes;
};

#define ANVIL_ATTRIBUTE(id, Descriptor, member) \
  {id, offsetof(Descriptor, member), sizeof(Descriptor::member)}

template <size_t count>
const Attribute* find_attribute(const Attribute (&attributes)[count], int id) {
  for (const Attribute& attribute : attributes) {
    if (attribute.id == id) {
      return &attribute;
    }
  }
  return nullptr;
}

template <size_t count>
cublasStatus_t set_attribute(const Attribute (&attributes)[count],
                             void* descriptor,
                             int id,
                             const void* value,
                             size_t bytes) {
  const Attribute* attribute = find_attribute(attributes, id);
  if (descriptor == nullptr || attribute == nullptr || value == nullptr ||
      bytes != attribute->bytes) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(static_cast<char*>(descriptor) + attribute->offset, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

// `bytes` 0 asks for the size alone.
template <size_t count>
cublasStatus_t get_attribute(const Attribute (&attributes)[count],
                             const void* descriptor,
                             int id,
                             void* value,
                             size_t bytes,
                             size_t* written) {
  const Attribute* attribute = find_attribute(attributes, id);
  if (descriptor == nullptr || attribute == nullptr || (bytes == 0 && written == nullptr) ||
      (bytes != 0 && (value == nullptr || bytes != attribute->bytes))) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (bytes != 0) {
    std::memcpy(value, static_cast<const char*>(descriptor) + attribute->offset, bytes);
  }
  if (written != nullptr) {
    *written = attribute->bytes;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace anvil::simulator::blas
