// What an event with cudaEventInterprocess shares: two counters in a small file
// that several processes map.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace anvil::simulator {

struct Stream;

class SharedEvent : public std::enable_shared_from_this<SharedEvent> {
 public:
  // Null if the system refuses. `open` takes over the descriptor.
  static std::shared_ptr<SharedEvent> make();
  static std::shared_ptr<SharedEvent> open(int file);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  int file() const { return file_; }

  // Enqueue. What a wait is for is the latest record of its time, of any
  // process.
  void record(Stream& stream);
  void wait(Stream& stream);

  uint64_t latest() const { return counters_->recorded.load(); }
  bool complete(uint64_t record) const { return counters_->completed.load() >= record; }

  // Blocks the calling thread until the record is complete, this process ends or
  // the process that recorded it has.
  void wait_for(uint64_t record) const;

 private:
  struct Counters {
    std::atomic<uint64_t> recorded;
    std::atomic<uint64_t> completed;
    std::atomic<uint32_t> changes;   // a futex
    std::atomic<int32_t> recording;  // process of the latest record
  };
  struct Use {  // by work in a stream
    std::shared_ptr<SharedEvent> event;
    uint64_t record;
  };

  SharedEvent(int file, Counters* counters) : file_(file), counters_(counters) {}
  static std::shared_ptr<SharedEvent> map(int file);
  void enqueue(Stream& stream, void (*function)(void*), uint64_t record);
  void finish(uint64_t record);

  int file_;
  Counters* counters_;
};

}  // namespace anvil::simulator
