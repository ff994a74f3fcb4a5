#include "runtime/simulator/node.h"

#include <cstdlib>
#include <new>

namespace anvil::simulator {
namespace {

constexpr size_t kNodesPerRefill = 64;

void* allocate_aligned(size_t bytes) {
  void* block = std::aligned_alloc(alignof(Node), (bytes + alignof(Node) - 1) & -alignof(Node));
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  return block;
}

}  // namespace

Node* NodePool::take(size_t payload_bytes) {
  const SizeClass size_class = payload_bytes == 0               ? kSmall
                               : payload_bytes <= kLargePayload ? kLarge
                                                                : kHeap;
  if (size_class == kHeap) [[unlikely]] {
    Node* node = static_cast<Node*>(allocate_aligned(sizeof(Node) + payload_bytes));
    node->size_class = kHeap;
    node->payload_bytes = static_cast<uint32_t>(payload_bytes);
    return node;
  }
  Node* node = free_[size_class];
  if (node == nullptr) [[unlikely]] {
    node = refill(size_class);
  }
  free_[size_class] = node->next;
  node->payload_bytes = static_cast<uint32_t>(payload_bytes);
  return node;
}

void NodePool::give(Node* node) {
  if (node->size_class == kHeap) [[unlikely]] {
    std::free(node);
    return;
  }
  node->next = free_[node->size_class];
  free_[node->size_class] = node;
}

Node* NodePool::refill(SizeClass size_class) {
  const size_t size = sizeof(Node) + (size_class == kLarge ? kLargePayload : 0);
  char* chunk = static_cast<char*>(allocate_aligned(size * kNodesPerRefill));
  Node* list = nullptr;
  for (size_t i = 0; i < kNodesPerRefill; ++i) {
    Node* node = reinterpret_cast<Node*>(chunk + i * size);
    node->size_class = size_class;
    node->next = list;
    list = node;
  }
  return list;
}

}  // namespace anvil::simulator
