// Executable graphs: instantiation, and launches as work in streams.
//
// A graph is cut into chains, each of which is a path of nodes on one device. A
// launch enqueues the first chain in the stream that it is launched in and each
// other one in a stream of the executable graph, with waits for the edges
// between chains.
#include <algorithm>
#include <map>

#include "runtime/simulator/capture.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/engine_state.h"
#include "runtime/simulator/event.h"
#include "runtime/simulator/graph.h"
#include "runtime/simulator/kernels.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

constexpr uint32_t kExecMagic = 0x45786563;

struct ExecNode {
  cudaGraphNodeType type;
  Device* device;
  WorkTemplate work;
  std::vector<size_t> dependencies;
  size_t chain;
};

struct Position {
  Stream* stream = nullptr;
  uint64_t sequence = 0;
};

struct GraphExec {
  uint32_t magic = kExecMagic;
  std::vector<ExecNode> nodes;   // each behind its dependencies
  std::vector<Stream*> streams;  // of the chains
  std::vector<UserObjectReference> objects;
  Position last;  // the end of the latest launch
};

GraphExec* resolve(cudaGraphExec_t handle) {
  GraphExec* exec = reinterpret_cast<GraphExec*>(handle);
  return exec != nullptr && exec->magic == kExecMagic ? exec : nullptr;
}

std::vector<ExecNode> copy_nodes(const Graph& graph) {
  std::map<const GraphNode*, size_t> index;
  std::vector<ExecNode> nodes;
  for (const auto& node : graph.nodes) {
    std::vector<size_t> dependencies;
    for (const GraphNode* dependency : node->dependencies) {
      dependencies.push_back(index.at(dependency));
    }
    index.emplace(node.get(), nodes.size());
    nodes.push_back({node->type, node->device, node->work.copy(), std::move(dependencies), 0});
  }
  return nodes;
}

// A node goes on with the chain that ends in one of its dependencies, if that is
// on its device, else begins a chain. Returns the device of each.
std::vector<Device*> cut_into_chains(std::vector<ExecNode>& nodes) {
  std::vector<Device*> devices;
  std::vector<size_t> ends;
  for (size_t i = 0; i < nodes.size(); ++i) {
    ExecNode& node = nodes[i];
    node.chain = devices.size();
    for (const size_t dependency : node.dependencies) {
      const size_t chain = nodes[dependency].chain;
      if (ends[chain] == dependency && devices[chain] == node.device) {
        node.chain = chain;
        break;
      }
    }
    if (node.chain == devices.size()) {
      devices.push_back(node.device);
      ends.push_back(i);
    }
    ends[node.chain] = i;
  }
  return devices;
}

void enqueue_wait(Stream& stream, const Position& position) {
  if (position.stream == nullptr || position.stream == &stream ||
      done(*position.stream, position.sequence)) {
    return;
  }
  Node* node = engine->nodes.take(0);
  node->work = Work::kWait;
  node->wait = {position.stream, position.sequence};
  enqueue(stream, node);
}

void enqueue_work(Stream& stream, const WorkTemplate& work) {
  Node* node = work.instantiate();
  if (node->work == Work::kRecord) {
    Event& event = *node->record.event;
    event.stream = &stream;
    event.sequence = stream.enqueued + 1;
    ++event.pending;
  }
  if (node->work == Work::kLaunch && node->launch.counted != nullptr) {
    node->launch.counted->counted.fetch_add(1, std::memory_order_relaxed);
  }
  enqueue(stream, node);
}

// With the engine's lock.
void enqueue_graph(GraphExec& exec, Stream& stream) {
  enqueue_wait(stream, exec.last);  // launches of one graph do not overlap
  const Position start{&stream, stream.enqueued};
  std::vector<Stream*> streams = exec.streams;
  if (!exec.nodes.empty() && exec.nodes[0].device == stream.device) {
    streams[0] = &stream;
  }
  std::vector<bool> begun(streams.size());
  std::vector<Position> ends(exec.nodes.size());
  for (size_t i = 0; i < exec.nodes.size(); ++i) {
    const ExecNode& node = exec.nodes[i];
    Stream& own = *streams[node.chain];
    if (!begun[node.chain]) {
      begun[node.chain] = true;
      enqueue_wait(own, start);
    }
    for (const size_t dependency : node.dependencies) {
      enqueue_wait(own, ends[dependency]);
    }
    if (node.work.get() != nullptr) {
      enqueue_work(own, node.work);
    }
    ends[i] = {&own, own.enqueued};
  }
  for (Stream* chain : streams) {
    enqueue_wait(stream, {chain, chain->enqueued});
  }
  exec.last = {&stream, stream.enqueued};
}

// A launch in a stream that captures becomes part of that graph.
void capture_graph(const GraphExec& exec, Stream& stream) {
  CapturePoint& point = *stream.captured;
  Graph& graph = *point.capture->graph;
  std::vector<GraphNode*> added;
  std::vector<bool> leaf(exec.nodes.size(), true);
  for (const ExecNode& node : exec.nodes) {
    std::vector<GraphNode*> dependencies;
    for (const size_t dependency : node.dependencies) {
      dependencies.push_back(added[dependency]);
      leaf[dependency] = false;
    }
    added.push_back(add_node(graph, node.type, *node.device, node.work.copy(),
                             dependencies.empty() ? point.dependencies : dependencies));
  }
  if (!added.empty()) {
    point.dependencies.clear();
  }
  for (size_t i = 0; i < added.size(); ++i) {
    if (leaf[i]) {
      point.dependencies.push_back(added[i]);
    }
  }
}

}  // namespace

ANVIL_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* handle,
                                                       cudaGraph_t graph_handle,
                                                       unsigned long long flags) {
  return api([&](Thread&) {
    constexpr unsigned long long kKnown =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUseNodePriority;
    const Graph* graph = simulator::resolve(graph_handle);
    if (handle == nullptr || graph == nullptr) {
      return cudaErrorInvalidValue;
    }
    if ((flags & ~kKnown) != 0) {
      return cudaErrorNotSupported;
    }
    auto* exec = new GraphExec;
    exec->nodes = copy_nodes(*graph);
    exec->objects = graph->objects;
    for (Device* device : cut_into_chains(exec->nodes)) {
      exec->streams.push_back(make_stream(*device, cudaStreamNonBlocking, kLeastPriority));
    }
    *handle = reinterpret_cast<cudaGraphExec_t>(exec);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* handle,
                                              cudaGraph_t graph,
                                              unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(handle, graph, flags);
}

ANVIL_EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return api([&](Thread& thread) {
    GraphExec* exec = resolve(handle);
    Stream* stream = simulator::resolve(stream_handle, thread);
    if (exec == nullptr || stream == nullptr) {
      return exec == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    }
    if (const cudaError_t refused = admit(*stream)) {
      return refused;
    }
    Lock lock(engine_mutex);
    if (stream->captured != nullptr) {
      capture_graph(*exec, *stream);
    } else if (!engine->finalised) {
      enqueue_graph(*exec, *stream);
      start_work(*stream, lock);
    }
    return cudaSuccess;
  });
}

// There is nothing to upload.
ANVIL_EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t) {
  return api(
      [&](Thread&) { return resolve(handle) != nullptr ? cudaSuccess : cudaErrorInvalidValue; });
}

// The nodes of `graph` take the place of those that were instantiated, if there
// are as many, of the same types and with the same dependencies.
ANVIL_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle,
                                             cudaGraph_t graph_handle,
                                             cudaGraphExecUpdateResultInfo* info) {
  return api([&](Thread&) {
    GraphExec* exec = resolve(handle);
    const Graph* graph = simulator::resolve(graph_handle);
    if (exec == nullptr || graph == nullptr || info == nullptr) {
      return cudaErrorInvalidValue;
    }
    *info = {};
    std::vector<ExecNode> nodes = copy_nodes(*graph);
    const bool same = std::equal(nodes.begin(), nodes.end(), exec->nodes.begin(), exec->nodes.end(),
                                 [](const ExecNode& a, const ExecNode& b) {
                                   return a.type == b.type && a.device == b.device &&
                                          a.dependencies == b.dependencies;
                                 });
    if (!same) {
      info->result = cudaGraphExecUpdateErrorTopologyChanged;
      return cudaErrorGraphExecUpdateFailure;
    }
    cut_into_chains(nodes);
    const std::lock_guard lock(engine_lock());
    exec->nodes = std::move(nodes);
    info->result = cudaGraphExecUpdateSuccess;
    return cudaSuccess;
  });
}

// What was launched still runs; user objects live until it has.
ANVIL_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return api([&](Thread&) {
    GraphExec* exec = resolve(handle);
    if (exec == nullptr) {
      return cudaErrorInvalidValue;
    }
    exec->magic = 0;
    for (Stream* stream : exec->streams) {
      destroy_stream(stream);
    }
    const Position last = exec->last;
    if (exec->objects.empty() || last.stream == nullptr || done(*last.stream, last.sequence)) {
      delete exec;
      return cudaSuccess;
    }
    Submission work(*last.stream, Work::kHostFunction);
    work->host = {[](void* data) { delete static_cast<GraphExec*>(data); }, exec};
    work.commit();
    return cudaSuccess;
  });
}

}  // namespace anvil::simulator
