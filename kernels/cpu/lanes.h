#pragma once

// Vectors of the widest registers that the compiler may use, for kernels that are slow in Eigen.
// Results are independent of the width unless a kernel says otherwise.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace dynet::cpu::DYNET_ISA {

#if defined(__AVX512F__)
inline constexpr std::size_t kLaneBytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t kLaneBytes = 32;
#else
inline constexpr std::size_t kLaneBytes = 16;
#endif

/// Number of vector registers.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int kRegisters = 32;
#else
inline constexpr int kRegisters = 16;
#endif

template <class T, std::size_t kBytes = kLaneBytes>
struct Lanes {
  using Number = T;
  static constexpr std::size_t kWidth = kBytes / sizeof(T);
  typedef T V __attribute__((vector_size(kBytes)));

  static V load(const T* p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(T* p, V v) { std::memcpy(p, &v, sizeof v); }

  /// All lanes.
  struct All {};
  static V load(const T* p, All) { return load(p); }
  static void store(T* p, V v, All) { store(p, v); }

  /// The first n lanes, n <= kWidth: a load zeroes the other lanes, a store skips them.
  struct First {
#ifdef __AVX512F__
    using Mask = std::conditional_t<kWidth == 16, __mmask16, __mmask8>;
    explicit First(std::size_t n) : mask(static_cast<Mask>((1u << n) - 1)) {}
    Mask mask;
#elif defined(__AVX2__)
    // Mask of lanes with the highest bit set.
    using Mask = __m256i;
    explicit First(std::size_t n) {
      using Word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
      static constexpr Word kOnesThenZeros[] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                0,  0,  0,  0,  0,  0,  0,  0};
      std::memcpy(&mask, kOnesThenZeros + 8 - n, sizeof mask);
    }
    Mask mask;
#else
    explicit First(std::size_t n) : count(n) {}
    std::size_t count;
#endif
  };
  static V load(const T* p, First f) {
#ifdef __AVX512F__
    if constexpr (kBytes == 32 && sizeof(T) == 4)
      return reinterpret_cast<V>(_mm256_maskz_loadu_ps(f.mask, p));
    else if constexpr (kBytes == 32)
      return reinterpret_cast<V>(_mm256_maskz_loadu_pd(f.mask, p));
    else if constexpr (sizeof(T) == 4)
      return reinterpret_cast<V>(_mm512_maskz_loadu_ps(f.mask, p));
    else
      return reinterpret_cast<V>(_mm512_maskz_loadu_pd(f.mask, p));
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
      return reinterpret_cast<V>(_mm256_maskload_ps(p, f.mask));
    else
      return reinterpret_cast<V>(_mm256_maskload_pd(p, f.mask));
#else
    V v{};
    std::memcpy(&v, p, f.count * sizeof(T));
    return v;
#endif
  }
  static void store(T* p, V v, First f) {
#ifdef __AVX512F__
    if constexpr (kBytes == 32 && sizeof(T) == 4)
      _mm256_mask_storeu_ps(p, f.mask, reinterpret_cast<__m256>(v));
    else if constexpr (kBytes == 32)
      _mm256_mask_storeu_pd(p, f.mask, reinterpret_cast<__m256d>(v));
    else if constexpr (sizeof(T) == 4)
      _mm512_mask_storeu_ps(p, f.mask, reinterpret_cast<__m512>(v));
    else
      _mm512_mask_storeu_pd(p, f.mask, reinterpret_cast<__m512d>(v));
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
      _mm256_maskstore_ps(p, f.mask, reinterpret_cast<__m256>(v));
    else
      _mm256_maskstore_pd(p, f.mask, reinterpret_cast<__m256d>(v));
#else
    std::memcpy(p, &v, f.count * sizeof(T));
#endif
  }

  /// Pins v to a register: GCC would reload it for every use, and the products are limited by
  /// loads.
  static V pinned(V v) {
#ifdef __AVX512F__
    asm("" : "+v"(v));
#endif
    return v;
  }
  /// Broadcasts x to all lanes.
  static V all(T x) { return pinned(x - V{}); }

  /// Transposes a kWidth x kWidth block: element c of v[r] becomes element r of v[c].
  static void transpose(V* v) {
    constexpr std::make_index_sequence<kWidth> kLanes;
    exchange<kWidth / 2>(v, kLanes);
  }

  /// The sums of the elements of v[0] ... v[K - 1], in the first K lanes, by pairwise summation in
  /// a fixed order.
  template <std::size_t K>
  static V sums(const V* v) {
    return fold<K, 1>(v);
  }

 private:
  // Swaps kSide x kSide blocks next to the diagonal, then smaller blocks.
  template <std::size_t kSide, std::size_t... I>
  static void exchange(V* v, std::index_sequence<I...> lanes) {
    for (std::size_t r = 0; r < kWidth; ++r) {
      if (r & kSide) continue;
      const V a = v[r], b = v[r + kSide];
      v[r] = __builtin_shufflevector(a, b, (I & kSide ? kWidth + (I ^ kSide) : I)...);
      v[r + kSide] = __builtin_shufflevector(a, b, (I & kSide ? kWidth + I : I ^ kSide)...);
    }
    if constexpr (kSide > 1) exchange<kSide / 2>(v, lanes);
  }

  static constexpr std::size_t kBlock = 16 / sizeof(T);  // lanes per 128 bits

  // Adds neighbours. Steps within 128-bit blocks shuffle lanes of one block only, the fastest kind
  // of shuffle; later steps move whole blocks.
  static constexpr std::size_t from(std::size_t o, std::size_t done) {
    if (done < kBlock) {
      const std::size_t in = o % kBlock;
      return (in < kBlock / 2 ? 0 : kWidth) + o / kBlock * kBlock + 2 * (in % (kBlock / 2));
    }
    const std::size_t block = o / kBlock, half = (kWidth / kBlock + 1) / 2;
    return (block < half ? 0 : kWidth) + 2 * (block % half) * kBlock + o % kBlock;
  }
  template <std::size_t kDone, std::size_t... O>
  static V fold_two(V a, V b, std::index_sequence<O...>) {
    constexpr std::size_t kNext = kDone < kBlock ? 1 : kBlock;
    return __builtin_shufflevector(a, b, from(O, kDone)...) +
           __builtin_shufflevector(a, b, (from(O, kDone) + kNext)...);
  }
  template <std::size_t K, std::size_t kDone>
  static V fold(const V* v) {
    constexpr std::make_index_sequence<kWidth> kLanes;
    if constexpr (kDone == kWidth) {
      return v[0];
    } else {
      constexpr std::size_t kLeft = K > 1 ? K / 2 : 1;
      V folded[kLeft];
      for (std::size_t i = 0; i < kLeft; ++i)
        folded[i] = fold_two<kDone>(v[K > 1 ? 2 * i : 0], v[K > 1 ? 2 * i + 1 : 0], kLanes);
      return fold<kLeft, kDone * 2>(folded);
    }
  }
};

}  // namespace dynet::cpu::DYNET_ISA
