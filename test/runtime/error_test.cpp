#include "runtime/error.h"

#include <string>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

class ErrorTest : public CudaTest {};

TEST_F(ErrorTest, NamesTheErrorItsTextTheCallAndTheDriver) {
  try {
    ANVIL_CUDA_CHECK(table().cudaSetDevice(-1));
    FAIL() << "device -1 was taken";
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_EQ(error.code(), cudaErrorInvalidDevice);
    for (const char* part :
         {"cudaErrorInvalidDevice", "invalid device ordinal", "cudaSetDevice(-1)", driver_name()}) {
      EXPECT_NE(what.find(part), what.npos) << what;
    }
    EXPECT_EQ(what.find('\n'), what.npos);
    EXPECT_EQ(what.find(__FILE__), what.npos);
  }
}

TEST_F(ErrorTest, CheckClearsTheLastError) {
  EXPECT_THROW(ANVIL_CUDA_CHECK(table().cudaSetDevice(-1)), Error);
  EXPECT_SUCCESS(cuda().cudaGetLastError());
}

TEST_F(ErrorTest, IgnoreClearsTheLastErrorToo) {
  ignore(table().cudaSetDevice(-1));
  EXPECT_SUCCESS(cuda().cudaGetLastError());
}

TEST_F(ErrorTest, SuccessThrowsNothing) {
  EXPECT_NO_THROW(ANVIL_CUDA_CHECK(table().cudaSetDevice(0)));
}

}  // namespace
}  // namespace anvil::runtime::testing
