#pragma once

#include <cublas_v2.h>

namespace dynet::cuda {

/// The functions of cuBLAS in use. The product functions are overloaded, hence their own types.
struct Cublas {
  using Gemm = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                              int k, const void* alpha, const void* a, cudaDataType, int lda,
                              const void* b, cudaDataType, int ldb, const void* beta, void* c,
                              cudaDataType, int ldc, cublasComputeType_t, cublasGemmAlgo_t);
  using Gemms = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                               int k, const void* alpha, const void* a, cudaDataType, int lda,
                               long long step_a, const void* b, cudaDataType, int ldb,
                               long long step_b, const void* beta, void* c, cudaDataType, int ldc,
                               long long step_c, int batch, cublasComputeType_t, cublasGemmAlgo_t);
  using GemmsOf = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                                 int k, const void* alpha, const void* const a[], cudaDataType,
                                 int lda, const void* const b[], cudaDataType, int ldb,
                                 const void* beta, void* const c[], cudaDataType, int ldc,
                                 int batch, cublasComputeType_t, cublasGemmAlgo_t);

  decltype(&::cublasCreate) create;
  decltype(&::cublasDestroy) destroy;
  decltype(&::cublasSetStream) set_stream;
  decltype(&::cublasSetMathMode) set_math_mode;
  decltype(&::cublasGetStatusString) status_string;
  Gemm* gemm;
  Gemms* gemms;
  GemmsOf* gemms_of;
  decltype(&::cublasSgetrfBatched) factor;
  decltype(&::cublasSgetriBatched) invert;
};

/// Loads the library on the first call. Throws DeviceError.
const Cublas& cublas();

}  // namespace dynet::cuda
