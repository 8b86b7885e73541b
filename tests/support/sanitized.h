#pragma once

// Sanitizers replace the heap and keep freed memory: tests that count allocations or measure memory
// check DYNET_SANITIZED.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DYNET_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DYNET_SANITIZED 1
#endif
#endif
#ifndef DYNET_SANITIZED
#define DYNET_SANITIZED 0
#endif
