// A libcudart.so.13 that answers like a machine without a GPU, and lacks the rest.
extern "C" __attribute__((visibility("default"))) int cudaGetDeviceCount(int* count) {
  constexpr int kNoDevice = 100;
  *count = 0;
  return kNoDevice;
}
