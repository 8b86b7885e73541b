#include "dynet-like/c/handles.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <new>

namespace dynet::c {
namespace {

static_assert(sizeof(Expression) == sizeof(dynet_expression));
static_assert(std::is_trivially_copyable_v<Expression>);

int code_of(const Error& e) {
  if (dynamic_cast<const ShapeError*>(&e)) return DYNET_SHAPE_ERROR;
  if (dynamic_cast<const IndexError*>(&e)) return DYNET_INDEX_ERROR;
  if (dynamic_cast<const ArgumentError*>(&e)) return DYNET_ARGUMENT_ERROR;
  if (dynamic_cast<const StaleExpressionError*>(&e)) return DYNET_STALE_EXPRESSION;
  if (dynamic_cast<const GradientError*>(&e)) return DYNET_GRADIENT_ERROR;
  if (dynamic_cast<const NumericError*>(&e)) return DYNET_NUMERIC_ERROR;
  if (dynamic_cast<const FileError*>(&e)) return DYNET_FILE_ERROR;
  if (dynamic_cast<const OutOfMemoryError*>(&e)) return DYNET_OUT_OF_MEMORY;
  if (dynamic_cast<const DeviceError*>(&e)) return DYNET_DEVICE_ERROR;
  return DYNET_INTERNAL_ERROR;
}

// The caller's struct may be older and shorter, or have more room for the message.
void fill(dynet_error* error, int code, const char* message) {
  constexpr std::size_t kMessage = offsetof(dynet_error, message);
  if (!error) return;
  error->code = code;
  if (error->size <= kMessage) return;
  const std::size_t room = error->size - kMessage - 1;
  const std::size_t length = std::min(room, std::strlen(message));
  std::memcpy(error->message, message, length);
  error->message[length] = 0;
}

}  // namespace

dynet_expression wrapped(const Expression& e) { return std::bit_cast<dynet_expression>(e); }

Expression unwrapped(const dynet_expression& e) { return std::bit_cast<Expression>(e); }

std::vector<Expression> unwrapped(const dynet_expression* list, std::size_t count) {
  std::vector<Expression> result;
  if (count > 0) need(list, "the list of expressions");
  for (std::size_t i = 0; i < count; ++i) result.push_back(unwrapped(list[i]));
  return result;
}

SourceLocation location(const dynet_error* error) {
  if (!error || error->size <= offsetof(dynet_error, message) || !error->file) return {};
  return {error->file, error->line};
}

void set_error(dynet_error* error) noexcept {
  try {
    throw;
  } catch (const Error& e) {
    fill(error, code_of(e), e.what());
  } catch (const std::bad_alloc&) {
    fill(error, DYNET_OUT_OF_MEMORY, "there is not enough memory");
  } catch (const std::exception& e) {
    fill(error, DYNET_INTERNAL_ERROR, e.what());
  } catch (...) {
    fill(error, DYNET_INTERNAL_ERROR, "an unknown error");
  }
}

}  // namespace dynet::c
