// Graphs: what stands behind a cudaGraph_t and a cudaGraphNode_t.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/simulator/node.h"
#include "runtime/simulator/user_object.h"

namespace anvil::simulator {

struct Device;
struct Graph;

// A piece of work that no stream has: a launch of the graph enqueues copies of
// it. Owns its memory; empty for a node that does nothing.
class WorkTemplate {
 public:
  WorkTemplate() = default;
  // Takes a node over from the pool. Needs the engine's lock.
  static WorkTemplate from(Node* node);
  WorkTemplate copy() const;

  const Node* get() const { return reinterpret_cast<const Node*>(memory_.get()); }
  // A node of the pool that does the same. Needs the engine's lock.
  Node* instantiate() const;

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> memory_;
  size_t payload_bytes_ = 0;
};

struct GraphNode {
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Device* device = nullptr;  // where it runs
  WorkTemplate work;
  std::vector<GraphNode*> dependencies;
};

// Not thread-safe, as in CUDA, but that a capture extends it under the engine's
// lock.
struct Graph {
  uint32_t magic = 0;
  unsigned id = 0;
  std::vector<std::unique_ptr<GraphNode>> nodes;  // each behind its dependencies
  std::vector<UserObjectReference> objects;
};

Graph* make_graph();
void destroy_graph(Graph* graph);

// The graph behind a handle, or null.
Graph* resolve(cudaGraph_t handle);
inline cudaGraph_t handle_of(Graph* graph) { return reinterpret_cast<cudaGraph_t>(graph); }
inline cudaGraphNode_t handle_of(GraphNode* node) {
  return reinterpret_cast<cudaGraphNode_t>(node);
}
inline GraphNode* resolve(cudaGraphNode_t handle) { return reinterpret_cast<GraphNode*>(handle); }

// Null if one of the handles is no node of the graph. Duplicates are dropped.
bool find_nodes(const Graph& graph,
                const cudaGraphNode_t* handles,
                size_t count,
                std::vector<GraphNode*>* nodes);

GraphNode* add_node(Graph& graph,
                    cudaGraphNodeType type,
                    Device& device,
                    WorkTemplate work,
                    std::vector<GraphNode*> dependencies);

// CUDA's way to return a list: a null `out` asks for the count alone; else up to
// `*count` handles are written, the rest filled with null.
template <class Range>
cudaError_t write_handles(const Range& nodes, cudaGraphNode_t* out, size_t* count) {
  if (count == nullptr) {
    return cudaErrorInvalidValue;
  }
  if (out != nullptr) {
    size_t written = 0;
    for (const auto& node : nodes) {
      if (written == *count) {
        return cudaSuccess;
      }
      out[written++] = handle_of(&*node);
    }
    for (size_t i = written; i < *count; ++i) {
      out[i] = nullptr;
    }
  }
  *count = nodes.size();
  return cudaSuccess;
}

}  // namespace anvil::simulator
