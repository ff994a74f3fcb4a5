#include "runtime/simulator/graph.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/simulator/device.h"
#include "runtime/simulator/engine_state.h"
#include "runtime/simulator/launch.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/refused.h"

namespace anvil::simulator {
namespace {

constexpr uint32_t kGraphMagic = 0x47726170;
constinit std::atomic<unsigned> ids{0};

// A launch points into its own payload.
void repoint(Node& copy, const Node& original) {
  if (copy.work != Work::kLaunch) {
    return;
  }
  const ptrdiff_t distance =
      reinterpret_cast<char*>(&copy) - reinterpret_cast<const char*>(&original);
  anvilLaunch& launch = copy.launch.launch;
  launch.arguments = reinterpret_cast<void**>(reinterpret_cast<char*>(launch.arguments) + distance);
  for (size_t i = 0; i < copy.launch.kernel->argument_count; ++i) {
    launch.arguments[i] = static_cast<char*>(launch.arguments[i]) + distance;
  }
}

void copy_node(Node* to, const Node* from) {
  const uint8_t size_class = to->size_class;
  std::memcpy(static_cast<void*>(to), from, sizeof(Node) + from->payload_bytes);
  to->size_class = size_class;
  repoint(*to, *from);
}

}  // namespace

void WorkTemplate::Free::operator()(char* memory) const { std::free(memory); }

WorkTemplate WorkTemplate::from(Node* node) {
  WorkTemplate result;
  if (node == nullptr) {
    return result;
  }
  const size_t bytes = (sizeof(Node) + node->payload_bytes + alignof(Node) - 1) & -alignof(Node);
  result.memory_.reset(static_cast<char*>(std::aligned_alloc(alignof(Node), bytes)));
  if (result.memory_ == nullptr) {
    throw std::bad_alloc();
  }
  copy_node(reinterpret_cast<Node*>(result.memory_.get()), node);
  return result;
}

WorkTemplate WorkTemplate::copy() const { return from(const_cast<Node*>(get())); }

Node* WorkTemplate::instantiate() const {
  Node* node = engine->nodes.take(get()->payload_bytes);
  copy_node(node, get());
  return node;
}

Graph* make_graph() {
  Graph* graph = new Graph;
  graph->magic = kGraphMagic;
  graph->id = ++ids;
  return graph;
}

void destroy_graph(Graph* graph) {
  graph->magic = 0;
  delete graph;
}

Graph* resolve(cudaGraph_t handle) {
  Graph* graph = reinterpret_cast<Graph*>(handle);
  return graph != nullptr && graph->magic == kGraphMagic ? graph : nullptr;
}

bool find_nodes(const Graph& graph,
                const cudaGraphNode_t* handles,
                size_t count,
                std::vector<GraphNode*>* nodes) {
  if (handles == nullptr && count > 0) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    GraphNode* node = resolve(handles[i]);
    if (node == nullptr || node->graph != &graph) {
      return false;
    }
    if (std::find(nodes->begin(), nodes->end(), node) == nodes->end()) {
      nodes->push_back(node);
    }
  }
  return true;
}

GraphNode* add_node(Graph& graph,
                    cudaGraphNodeType type,
                    Device& device,
                    WorkTemplate work,
                    std::vector<GraphNode*> dependencies) {
  graph.nodes.push_back(std::make_unique<GraphNode>(
      GraphNode{&graph, type, &device, std::move(work), std::move(dependencies)}));
  return graph.nodes.back().get();
}

ANVIL_EXPORT cudaError_t cudaGraphCreate(cudaGraph_t* handle, unsigned flags) {
  return api([&](Thread&) {
    if (handle == nullptr || flags != 0) {
      return cudaErrorInvalidValue;
    }
    *handle = handle_of(make_graph());
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return api([&](Thread&) {
    Graph* graph = resolve(handle);
    if (graph == nullptr) {
      return cudaErrorInvalidValue;
    }
    destroy_graph(graph);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaGraphGetId(cudaGraph_t handle, unsigned* id) {
  return api([&](Thread&) {
    const Graph* graph = resolve(handle);
    if (graph == nullptr || id == nullptr) {
      return cudaErrorInvalidValue;
    }
    *id = graph->id;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t handle,
                                           cudaGraphNode_t* nodes,
                                           size_t* count) {
  return api([&](Thread&) {
    const Graph* graph = resolve(handle);
    return graph != nullptr ? write_handles(graph->nodes, nodes, count) : cudaErrorInvalidValue;
  });
}

ANVIL_EXPORT cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle,
                                               cudaGraphNode_t* nodes,
                                               size_t* count) {
  return api([&](Thread&) {
    const Graph* graph = resolve(handle);
    if (graph == nullptr) {
      return cudaErrorInvalidValue;
    }
    std::vector<GraphNode*> roots;
    for (const auto& node : graph->nodes) {
      if (node->dependencies.empty()) {
        roots.push_back(node.get());
      }
    }
    return write_handles(roots, nodes, count);
  });
}

ANVIL_EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return api([&](Thread&) {
    if (handle == nullptr || type == nullptr) {
      return cudaErrorInvalidValue;
    }
    *type = resolve(handle)->type;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle,
                                                      cudaGraphNode_t* dependencies,
                                                      cudaGraphEdgeData* edges,
                                                      size_t* count) {
  return api([&](Thread&) {
    if (handle == nullptr || count == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (edges != nullptr && dependencies != nullptr) {
      std::memset(edges, 0, *count * sizeof(*edges));  // ordinary edges, all of them
    }
    return write_handles(resolve(handle)->dependencies, dependencies, count);
  });
}

namespace {

// The work of a node that is added by hand, from the pool. Needs the engine's
// lock.
cudaError_t make_work(const cudaGraphNodeParams& parameters, Node** node) {
  *node = nullptr;
  switch (parameters.type) {
    case cudaGraphNodeTypeEmpty:
      return cudaSuccess;
    case cudaGraphNodeTypeHost:
      if (parameters.host.fn == nullptr) {
        return cudaErrorInvalidValue;
      }
      *node = engine->nodes.take(0);
      (*node)->work = Work::kHostFunction;
      (*node)->host = {parameters.host.fn, parameters.host.userData};
      return cudaSuccess;
    default:
      return static_cast<cudaError_t>(refuse("cudaGraphAddNode for nodes of this type"));
  }
}

}  // namespace

// Nodes of other types come from captures.
ANVIL_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t* handle,
                                          cudaGraph_t graph_handle,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*,
                                          size_t count,
                                          cudaGraphNodeParams* parameters) {
  return api([&](Thread& thread) {
    Graph* graph = resolve(graph_handle);
    std::vector<GraphNode*> found;
    if (handle == nullptr || graph == nullptr || parameters == nullptr ||
        !find_nodes(*graph, dependencies, count, &found)) {
      return cudaErrorInvalidValue;
    }
    const std::lock_guard lock(engine_lock());
    Node* node = nullptr;
    if (const cudaError_t code = make_work(*parameters, &node)) {
      return code;
    }
    *handle = handle_of(add_node(*graph, parameters->type, use_device(thread.device),
                                 WorkTemplate::from(node), std::move(found)));
    if (node != nullptr) {
      engine->nodes.give(node);
    }
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* handle,
                                               cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies,
                                               size_t count) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeEmpty;
  return cudaGraphAddNode(handle, graph, dependencies, nullptr, count, &parameters);
}

ANVIL_EXPORT cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* handle,
                                              cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies,
                                              size_t count,
                                              const cudaHostNodeParams* host) {
  if (host == nullptr) {
    return current_thread.last_error = cudaErrorInvalidValue;
  }
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeHost;
  parameters.host.fn = host->fn;
  parameters.host.userData = host->userData;
  return cudaGraphAddNode(handle, graph, dependencies, nullptr, count, &parameters);
}

}  // namespace anvil::simulator
