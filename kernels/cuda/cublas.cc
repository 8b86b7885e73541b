#include "kernels/cuda/cublas.h"

#include <string>

#include "kernels/cuda/library.h"

namespace dynet::cuda {

// Fails to compile unless the header has these overloads.
static_assert(sizeof(static_cast<Cublas::Gemm*>(&cublasGemmEx)) != 0);
static_assert(sizeof(static_cast<Cublas::Gemms*>(&cublasGemmStridedBatchedEx)) != 0);
static_assert(sizeof(static_cast<Cublas::GemmsOf*>(&cublasGemmBatchedEx)) != 0);

const Cublas& cublas() {
  static const Cublas functions = [] {
    // Both versions have these functions; the version of this build is preferred.
    const std::string own = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    const Library library("cuBLAS, which multiplies matrices on a GPU",
                          {own, "libcublas.so.13", "libcublas.so.12"});
    Cublas f{};
    library.find(f.create, "cublasCreate_v2");
    library.find(f.destroy, "cublasDestroy_v2");
    library.find(f.set_stream, "cublasSetStream_v2");
    library.find(f.set_math_mode, "cublasSetMathMode");
    library.find(f.status_string, "cublasGetStatusString");
    library.find(f.gemm, "cublasGemmEx");
    library.find(f.gemms, "cublasGemmStridedBatchedEx");
    library.find(f.gemms_of, "cublasGemmBatchedEx");
    library.find(f.factor, "cublasSgetrfBatched");
    library.find(f.invert, "cublasSgetriBatched");
    return f;
  }();
  return functions;
}

}  // namespace dynet::cuda
