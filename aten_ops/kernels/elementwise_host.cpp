#include "aten_ops/kernels/elementwise_host.h"

namespace anvil::kernels {
namespace {

constexpr int kBufferBytes = 4096;
// Rows shorter than this are gathered into chunks of several rows.
constexpr int64_t kShortRow = 64;

// A position in the problem: an index per dimension and each operand's address.
class Cursor {
 public:
  Cursor(const HostProblem& problem, int64_t position) : problem_(problem) {
    for (int k = 0; k <= problem.ninputs; ++k) {
      address_[k] = problem.operands[k].data;
    }
    for (int d = 0; d < problem.ndim; ++d) {
      index_[d] = position % problem.shape[d];
      position /= problem.shape[d];
      move(d, index_[d]);
    }
  }

  char* address(int operand) const { return address_[operand]; }
  int64_t left_in_row() const { return problem_.ndim == 0 ? 1 : problem_.shape[0] - index_[0]; }

  // Moves on by n <= left_in_row() elements.
  void advance(int64_t n) {
    if (problem_.ndim == 0) {
      return;
    }
    index_[0] += n;
    move(0, n);
    for (int d = 0; d + 1 < problem_.ndim && index_[d] == problem_.shape[d]; ++d) {
      move(d, -index_[d]);
      index_[d] = 0;
      ++index_[d + 1];
      move(d + 1, 1);
    }
  }

 private:
  void move(int d, int64_t steps) {
    for (int k = 0; k <= problem_.ninputs; ++k) {
      address_[k] += steps * problem_.operands[k].strides[d];
    }
  }

  const HostProblem& problem_;
  int64_t index_[Iterator::kMaxDims];
  char* address_[Iterator::kMaxOperands];
};

class Runner {
 public:
  explicit Runner(const HostProblem& problem)
      : problem_(problem), chunk_(kBufferBytes / widest(problem)), needs_buffers_(false) {
    for (int k = 0; k <= problem.ninputs; ++k) {
      const HostOperand& operand = problem.operands[k];
      in_place_[k] = operand.is_direct && operand.through == nullptr && problem.ndim > 0 &&
                     operand.strides[0] == operand.element_bytes;
      needs_buffers_ |= !in_place_[k];
      if (k > 0 && operand.data == nullptr) {
        in_place_[k] = false;
        fill(buffers_[k], operand.immediate);
      }
    }
  }

  // Rows of contiguous elements are used where they lie.
  void run_rows(Cursor& cursor, int64_t left) {
    const void* inputs[Iterator::kMaxOperands];
    while (left > 0) {
      int64_t n = std::min(left, cursor.left_in_row());
      n = needs_buffers_ ? std::min(n, chunk_) : n;
      for (int k = 1; k <= problem_.ninputs; ++k) {
        if (in_place_[k]) {
          inputs[k - 1] = cursor.address(k);
        } else {
          load(k, buffers_[k], cursor.address(k), n);
          inputs[k - 1] = buffers_[k];
        }
      }
      void* output = in_place_[0] ? static_cast<void*>(cursor.address(0)) : buffers_[0];
      problem_.chunk(problem_.op, output, inputs, n);
      if (!in_place_[0]) {
        store(buffers_[0], cursor.address(0), n);
      }
      cursor.advance(n);
      left -= n;
    }
  }

  // Short rows are brought together, so that the loop over the operator is long.
  void run_gathered(Cursor& cursor, int64_t left) {
    const void* inputs[Iterator::kMaxOperands];
    for (int k = 1; k <= problem_.ninputs; ++k) {
      inputs[k - 1] = buffers_[k];
    }
    while (left > 0) {
      const int64_t n = std::min(left, chunk_);
      Cursor reading = cursor;
      for (int64_t done = 0; done < n;) {
        const int64_t m = std::min(n - done, reading.left_in_row());
        for (int k = 1; k <= problem_.ninputs; ++k) {
          load(k, buffers_[k] + done * problem_.compute_bytes, reading.address(k), m);
        }
        reading.advance(m);
        done += m;
      }
      problem_.chunk(problem_.op, buffers_[0], inputs, n);
      for (int64_t done = 0; done < n;) {
        const int64_t m = std::min(n - done, cursor.left_in_row());
        store(buffers_[0] + done * problem_.result_bytes, cursor.address(0), m);
        cursor.advance(m);
        done += m;
      }
      left -= n;
    }
  }

 private:
  static int widest(const HostProblem& problem) {
    return std::max(problem.compute_bytes, problem.result_bytes);
  }

  void fill(char* buffer, const unsigned char* value) {
    for (int64_t i = 0; i < chunk_; ++i) {
      std::memcpy(buffer + i * problem_.compute_bytes, value, problem_.compute_bytes);
    }
  }

  void load(int k, char* buffer, const char* source, int64_t n) {
    const HostOperand& operand = problem_.operands[k];
    if (operand.data == nullptr) {
      return;  // an immediate, in its buffer since the start
    }
    const int64_t stride = problem_.ndim == 0 ? 0 : operand.strides[0];
    operand.load(buffer, source, stride, n);
    if (operand.through != nullptr) {
      operand.through(buffer, n);
    }
  }

  void store(char* buffer, char* destination, int64_t n) {
    const HostOperand& operand = problem_.operands[0];
    if (operand.through != nullptr) {
      operand.through(buffer, n);
    }
    operand.store(destination, problem_.ndim == 0 ? 0 : operand.strides[0], buffer, n);
  }

  const HostProblem& problem_;
  int64_t chunk_;
  bool needs_buffers_;
  bool in_place_[Iterator::kMaxOperands];
  alignas(64) char buffers_[5][kBufferBytes];
};

}  // namespace

void set_host_operand(HostOperand& host, const Iterator& iterator, int index) {
  const Operand& operand = iterator.operands[index];
  host.data = operand.is_immediate ? nullptr : static_cast<char*>(operand.data);
  host.load = nullptr;
  host.store = nullptr;
  host.through = nullptr;
  host.element_bytes = element_size(operand.dtype);
  host.is_direct = false;
  std::memcpy(host.strides, iterator.strides[index], sizeof(int64_t) * iterator.ndim);
}

void run_elementwise(const HostProblem& problem, int64_t begin, int64_t end) {
  Cursor cursor(problem, begin);
  Runner runner(problem);
  if (problem.ndim > 1 && problem.shape[0] < kShortRow) {
    runner.run_gathered(cursor, end - begin);
  } else {
    runner.run_rows(cursor, end - begin);
  }
}

}  // namespace anvil::kernels
