// The three products of a layer with weights W {m,k} and n columns: Y = W X, dX = W' dY, dW += dY
// X'; in this and other libraries.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/measure.h"
#include "benchmarks/reference_libraries.h"
#include "kernels/cpu/product.h"

namespace {

using Matrix = Eigen::MatrixXf;

struct Layer {
  Matrix w, x, dy, y, dx, dw, wt;

  Layer(Eigen::Index m, Eigen::Index k, Eigen::Index n)
      : w(Matrix::Random(m, k)),
        x(Matrix::Random(k, n)),
        dy(Matrix::Random(m, n)),
        y(Matrix::Zero(m, n)),
        dx(Matrix::Zero(k, n)),
        dw(Matrix::Zero(m, k)),
        wt(w.transpose()) {}
};

using Product = std::function<void()>;
using Maker = Product (*)(Layer&);

/// A library with its three products of a layer: a null maker skips a product, an empty product is
/// unsupported.
struct Library {
  const char* name;
  std::array<Maker, 3> products;
};

const Library kEigen = {
    "Eigen",
    {[](Layer& l) -> Product { return [&l] { l.y.noalias() = l.w * l.x; }; },
     [](Layer& l) -> Product { return [&l] { l.dx.noalias() = l.w.transpose() * l.dy; }; },
     [](Layer& l) -> Product { return [&l] { l.dw.noalias() += l.dy * l.x.transpose(); }; }}};

#ifdef BENCH_DNNL
// oneDNN is row-major, so everything is transposed.
void sgemm(char a_transposed, char b_transposed, Matrix& c, const Matrix& a, const Matrix& b,
           Eigen::Index inner, float beta) {
  const auto status = dnnl_sgemm(a_transposed, b_transposed, c.cols(), c.rows(), inner, 1.0f,
                                 a.data(), a.rows(), b.data(), b.rows(), beta, c.data(), c.rows());
  if (status != dnnl_success) throw std::runtime_error("oneDNN does not make this product");
}

const Library kDnnl = {
    "oneDNN",
    {[](Layer& l) -> Product { return [&l] { sgemm('N', 'N', l.y, l.x, l.w, l.w.cols(), 0); }; },
     [](Layer& l) -> Product { return [&l] { sgemm('N', 'T', l.dx, l.dy, l.w, l.w.rows(), 0); }; },
     [](Layer& l) -> Product {
       return [&l] { sgemm('T', 'N', l.dw, l.x, l.dy, l.x.cols(), 1); };
     }}};
#endif

#ifdef BENCH_XSMM
// C = A B or, with `add`, C += A B'.
Product xsmm(const Matrix& a, const Matrix& b, Matrix& c, bool add) {
  const auto m = static_cast<int>(c.rows()), n = static_cast<int>(c.cols()),
             k = static_cast<int>(a.cols());
  const float alpha = 1, beta = add ? 1 : 0;
  const int flags = add ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const auto f =
      libxsmm_smmdispatch(m, n, k, nullptr, nullptr, nullptr, &alpha, &beta, &flags, nullptr);
  if (!f) return nullptr;
  return [f, &a, &b, &c] { f(a.data(), b.data(), c.data()); };
}

// For W' libxsmm gets a transposed copy, whose cost is not counted.
const Library kXsmm = {"libxsmm",
                       {[](Layer& l) { return xsmm(l.w, l.x, l.y, false); },
                        [](Layer& l) { return xsmm(l.wt, l.dy, l.dx, false); },
                        [](Layer& l) { return xsmm(l.dy, l.x, l.dw, true); }}};
#endif

std::vector<float*> columns(Matrix& a) {
  std::vector<float*> result;
  for (Eigen::Index j = 0; j < a.cols(); ++j) result.push_back(a.col(j).data());
  return result;
}

using Size = std::size_t;
using Columns = const float* const*;
const auto multiply = DYNET_PER_ISA(
    void (*)(Size, Size, Size, const float*, Columns, float* const*, const bool*, const float*),
    cpu::multiply<float>);
const auto multiply_transposed =
    DYNET_PER_ISA(void (*)(Size, Size, Size, const float*, Columns, float* const*, const bool*),
                  cpu::multiply_transposed<float>);
const auto multiply_outer = DYNET_PER_ISA(
    void (*)(Size, Size, Size, bool, float*, Columns, Columns), cpu::multiply_outer<float>);

// `transposed`: W' is computed beforehand, as in a graph with 32 columns or more that share W.
Product ours(Layer& l, int product, bool transposed = false) {
  const auto m = static_cast<std::size_t>(l.w.rows()), k = static_cast<std::size_t>(l.w.cols()),
             n = static_cast<std::size_t>(l.x.cols());
  const auto x = columns(l.x), dy = columns(l.dy), y = columns(l.y), dx = columns(l.dx);
  const auto store = std::make_shared<bool[]>(n);
  if (product == 0)
    return [=, &l] { multiply(m, k, n, l.w.data(), x.data(), y.data(), store.get(), nullptr); };
  if (product == 1 && transposed)
    return [=, &l] { multiply(k, m, n, l.wt.data(), dy.data(), dx.data(), store.get(), nullptr); };
  if (product == 1)
    return [=, &l] { multiply_transposed(m, k, n, l.w.data(), dy.data(), dx.data(), store.get()); };
  return [=, &l] { multiply_outer(m, k, n, true, l.dw.data(), dy.data(), x.data()); };
}

const Library kOurs = {"dynet-like",
                       {[](Layer& l) { return ours(l, 0); }, [](Layer& l) { return ours(l, 1); },
                        [](Layer& l) { return ours(l, 2); }}};

const Library kOursTransposed = {"ours, W'",
                                 {nullptr, [](Layer& l) { return ours(l, 1, true); }, nullptr}};

const std::vector<Library> kLibraries = {
    kEigen,
#ifdef BENCH_DNNL
    kDnnl,
#endif
#ifdef BENCH_XSMM
    kXsmm,
#endif
    kOurs,  kOursTransposed,
};

constexpr std::array kNames = {"Y = W X", "dX = W' dY", "dW += dY X'"};

/// GFLOP/s; 0 if the library lacks the product. Throws if the result differs from Eigen's.
double measure(const Library& library, std::size_t product, Eigen::Index m, Eigen::Index k,
               Eigen::Index n) {
  Layer layer(m, k, n), truth = layer;
  const Product run = library.products[product](layer);
  if (!run) return 0;
  run();
  kEigen.products[product](truth)();
  const float error = (layer.y - truth.y).cwiseAbs().maxCoeff() +
                      (layer.dx - truth.dx).cwiseAbs().maxCoeff() +
                      (layer.dw - truth.dw).cwiseAbs().maxCoeff();
  if (!(error < 1e-2f))
    throw std::runtime_error(std::string(library.name) + " errs on " + kNames[product]);
  const double flop =
      2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  const int times = std::max(1, static_cast<int>(1.5e8 / flop));
  const double seconds = bench::fastest(7, [&] {
    for (int i = 0; i < times; ++i) run();
  });
  return 1e-9 * flop * times / seconds;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("GFLOP/s of the products of a layer with m x k weights and n columns.");
  std::vector<std::string> shapes = {"200x50",  "200x128",  "384x256",  "128x128",
                                     "512x128", "1024x128", "1024x256", "9186x256"};
  std::vector<int> widths = {1, 2, 3, 4, 6, 8, 12, 16, 24, 64, 512};
  app.add_option("--shape", shapes, "m x k")->capture_default_str();
  app.add_option("--n", widths, "columns")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  bench::use_one_thread();
  try {
    std::printf("calibrator %.1f GFLOP/s; libxsmm gets W' transposed beforehand\n",
                bench::calibrator());
    for (std::size_t product = 0; product < kNames.size(); ++product) {
      std::printf("\n%-11s %9s %11s", kNames[product], "", "n =");
      for (const int n : widths) std::printf(" %5d", n);
      for (const std::string& shape : shapes) {
        int m = 0, k = 0;
        if (std::sscanf(shape.c_str(), "%dx%d", &m, &k) != 2 || m < 1 || k < 1)
          throw std::runtime_error("not a shape: " + shape);
        for (const Library& library : kLibraries) {
          if (!library.products[product]) continue;
          std::printf("\n%-11s %9s %11s", kNames[product], shape.c_str(), library.name);
          for (const int n : widths) {
            const double rate = measure(library, product, m, k, n);
            rate > 0 ? std::printf(" %5.0f", rate) : std::printf("     -");
            std::fflush(stdout);
          }
        }
      }
      std::printf("\n");
    }
  } catch (const std::exception& e) {
    std::cerr << "bench-products: " << e.what() << "\n";
    return 1;
  }
}
