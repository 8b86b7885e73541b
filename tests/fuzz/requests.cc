// Entry point of libFuzzer: the bytes are a request to `annotate serve`, see requests.h. The model
// is one of the corpus of the program.

#include "tests/fuzz/requests.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "examples/nlp/common/model_file.h"
#include "examples/nlp/common/silence.h"

namespace {

std::unique_ptr<annotate::Model> load() {
  const auto folder = std::filesystem::path(__FILE__).parent_path();
  return nlp::load_model<annotate::Model>(folder / "corpus" / "annotate" / "good-all");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const nlp::Silence& silence = *new nlp::Silence;
  static annotate::Model& model = *load().release();
  static_cast<void>(silence);
  dynet::fuzz::answer_request({reinterpret_cast<const char*>(data), size}, model);
  return 0;
}
