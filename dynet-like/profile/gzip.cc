#include "dynet-like/profile/gzip.h"

#ifdef DYNET_ZLIB
#include <zlib.h>

#include <new>
#endif

#include "dynet-like/base/errors.h"

namespace dynet {

#ifdef DYNET_ZLIB

std::string gzip(const std::string& bytes) {
  constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string result(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int code = deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw FileError("gzip: zlib cannot compress the trace");
  return result;
}

#else

std::string gzip(const std::string&) {
  throw FileError("this library was built without zlib; give the file a name without .gz");
}

#endif

}  // namespace dynet
