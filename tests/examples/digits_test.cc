// Input of the program digits: pictures and labelled pictures in all formats, and broken ones; its
// network.

#include "examples/nlp/common/training.h"
#include "examples/vision/digits/drawing.h"
#include "examples/vision/digits/model.h"
#include "examples/vision/digits/train.h"
#include "tests/examples/digits_data.h"

namespace digits_test {

using namespace digits;

std::vector<unsigned> shades(const Picture& picture) {
  return {picture.pixels.begin(), picture.pixels.end()};
}

std::string shown(const Corpus& corpus) {
  std::string text;
  for (const auto& [label, picture, place] : corpus) {
    text += label + " of " + std::to_string(picture.height) + " x " + std::to_string(picture.width);
    text += ":";
    for (const unsigned shade : shades(picture)) text += " " + std::to_string(shade);
    text += "; ";
  }
  return text;
}

Picture parse(const std::string& bytes) { return parse_picture(bytes, "p"); }
std::string refusal(const std::string& bytes) {
  return error_from([&] { parse(bytes); });
}

/// 256 pixels, of which the first `ones` are 1, and what is behind them.
std::string semeion_line(unsigned ones, const std::string& end) {
  std::string line;
  for (unsigned i = 0; i < 256; ++i) line += i < ones ? "1.0000 " : "0 ";
  return line + end + "\n";
}

std::string optdigits_line(const std::string& first, const std::string& end) {
  std::string line = first;
  for (unsigned i = 1; i < 64; ++i) line += ",16";
  return line + end + "\n";
}

TEST_CASE("Pictures: all kinds of PGM and PPM") {
  const std::vector<unsigned> wanted = {0, 255, 51, 102, 153, 204};
  const Picture plain = parse("P2 # shades\n3 2\n5\n0 5 1\n2 3 4\n");
  CHECK((plain.height == 2 && plain.width == 3));
  CHECK(shades(plain) == wanted);
  using namespace std::string_literals;
  CHECK(shades(parse("P5\n3 2 5\n\x00\x05\x01\x02\x03\x04"s)) == wanted);
  CHECK(shades(parse("P5 2 1 65535\n\xff\xff\x80\x00"s)) == std::vector<unsigned>{255, 128});
  // Luma of red, green, blue and white.
  CHECK(shades(parse("P3 4 1 255 255 0 0 0 255 0 0 0 255 255 255 255")) ==
        std::vector<unsigned>{76, 150, 29, 255});
  CHECK(shades(parse("P6 1 2 255\n\xff\x00\x00\xff\xff\xff"s)) == std::vector<unsigned>{76, 255});
}

TEST_CASE("Pictures: broken ones are refused with one sentence") {
  using namespace std::string_literals;
  const std::string broken = "p is a broken picture: ";
  CHECK(refusal("P5 3 2 255\n12345") == broken + "it ends before its last pixel");
  CHECK(refusal("P2 2 1 9\n1") == broken + "it ends before its last pixel");
  CHECK(refusal("P5 3") == broken + "it ends before its last pixel");
  CHECK(refusal("P2 2 1 9\n1 x") == broken + "expected a number, found 'x'");
  CHECK(refusal("P2 2 1 9\n1 10") == broken + "a number is above 9");
  CHECK(refusal("P5 1 1 9\n\x0a"s) == broken + "a value is above 9");
  CHECK(refusal("P2 1 1 0\n0") == broken + "its largest value is 0");
  CHECK(refusal("P2 1 1 65536\n0") == broken + "a number is above 65535");
  CHECK(refusal("P2 0 1 9\n") == "p has 1 rows and 0 columns: expected 1 to 8192 of each");
  CHECK(refusal("P5 8193 1 9\n") == "p has 1 rows and 8193 columns: expected 1 to 8192 of each");
  CHECK(refusal("P5 99999999999 1 9\n") == broken + "a number is above 1073741824");
  for (const char* other : {"", "P", "P4 1 1\n1", "GIF89a", "P55 1 1 1"})
    CHECK(contains(refusal(other), "p is no picture in the format "));
  const TemporaryFolder folder;
  CHECK(error_from([] { read_picture("/nowhere.pgm"); }) ==
        "cannot open /nowhere.pgm: No such file or directory");
  CHECK(error_from([] { read_picture("/"); }) == "cannot read /: it is a directory");
  CHECK(contains(error_from([&] { read_picture(folder.write("cut.gz", "\x1f\x8b\x08")); }),
                 "cut.gz"));
}

TEST_CASE("Pictures: PNG, as the program was built") {
  const std::string png = one_png();
  if (!reads_png()) {
    CHECK(contains(refusal(png), "built without libpng"));
    return;
  }
  const Picture picture = parse(png);
  CHECK((picture.height == 1 && picture.width == 2));
  CHECK(shades(picture) == std::vector<unsigned>{0, 200});
  std::string damaged = png;
  damaged[20] = static_cast<char>(damaged[20] ^ 1);
  for (const std::string& bad : {damaged, png.substr(0, 30), png.substr(0, 50)})
    CHECK(contains(refusal(bad), "p is a broken picture: libpng says "));
}

TEST_CASE("Pictures: another size has means of areas") {
  const Picture picture{2, 4, {0, 100, 200, 40, 20, 80, 100, 60}};
  CHECK(shades(scaled(picture, 2, 4)) == shades(picture));
  CHECK(shades(scaled(picture, 1, 2)) == std::vector<unsigned>{50, 100});
  CHECK(shades(scaled({1, 1, {7}}, 2, 2)) == std::vector<unsigned>(4, 7));
  // Thirds of three pixels in two: 1 and 1/2 of them each.
  CHECK(shades(scaled({1, 3, {0, 90, 240}}, 1, 2)) == std::vector<unsigned>{30, 190});
  CHECK(shades(scaled({3, 1, {255, 255, 255}}, 7, 5)) == std::vector<unsigned>(35, 255));
  CHECK(shades(inverted(picture))[1] == 155);
}

TEST_CASE("Labelled pictures: IDX files, compressed or not") {
  const TemporaryFolder folder;
  const std::string images = folder.write("i:mages", idx({2, 1, 3}, {1, 2, 3, 4, 5, 6}));
  const std::string labels = folder.write("labels", idx({2}, {9, 0}));
  const Corpus corpus = read_corpus(images + ":" + labels, Format::kAuto);
  CHECK(shown(corpus) == "9 of 1 x 3: 1 2 3; 0 of 1 x 3: 4 5 6; ");
  const std::string packed = folder.path("packed.gz");
  write_gzip(packed, read_file(images));
  CHECK(shown(read_corpus(packed + ":" + labels, Format::kIdx)) == shown(corpus));

  const auto fails = [&](const std::string& a, const std::string& b, const std::string& message) {
    CHECK(contains(error_from([&] { read_corpus(a + ":" + b, Format::kAuto); }), message));
  };
  const std::string bytes = read_file(images);
  const auto damaged = [&](const std::string& text) { return folder.write("damaged", text); };
  fails(damaged(bytes.substr(0, 17)), labels, "its header promises 6 values, and there are 1");
  fails(damaged(bytes + "x"), labels, "its header promises 6 values, and there are 7");
  fails(damaged(bytes.substr(0, 9)), labels, "damaged is cut: it has no whole header");
  fails(damaged("P5 1 1 1\n1"), labels, "is no IDX file of pictures");
  fails(labels, labels, "labels is no IDX file of pictures");
  fails(images, images, "is no IDX file of labels");
  fails(images, damaged(idx({3}, {1, 2, 3})), "has 2 pictures, and ");
  fails(damaged(idx({2, 0, 3}, {})), labels, "pictures of 0 rows and 3 columns");
  fails(damaged(idx({0, 1, 3}, {})), folder.write("none", idx({0}, {})), "holds no picture");
  fails("/nowhere", labels, "cannot open /nowhere: ");
  std::string cut = read_file(packed);
  fails(damaged(cut.substr(0, cut.size() - 9)), labels, "damaged is cut or damaged: ");
  cut[cut.size() - 6] = static_cast<char>(cut[cut.size() - 6] ^ 1);
  fails(damaged(cut), labels, "damaged is cut or damaged: ");
  CHECK(error_from([&] { read_corpus(labels, Format::kIdx); }).rfind("expected IMAGES:LABELS") ==
        0);
}

TEST_CASE("Labelled pictures: lines of semeion and optdigits") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& text, Format format = Format::kAuto) {
    return read_corpus(folder.write("lines", text), format);
  };
  const Corpus semeion =
      read(semeion_line(2, "7") + "\n" + semeion_line(0, "0 0 0 1 0 0 0 0 0 0") + "\r\n");
  REQUIRE(semeion.size() == 2);
  CHECK(semeion[0].label == "7");
  CHECK(semeion[1].label == "3");
  CHECK(semeion[1].place == 3);
  CHECK((semeion[0].picture.height == 16 && semeion[0].picture.width == 16));
  CHECK(semeion[0].picture.at(0, 1) == 255);
  CHECK(semeion[0].picture.at(0, 2) == 0);
  const Corpus optdigits = read(optdigits_line("4", ",5"));
  CHECK(optdigits[0].label == "5");
  CHECK((optdigits[0].picture.height == 8 && optdigits[0].picture.width == 8));
  CHECK(optdigits[0].picture.at(0, 0) == 63);
  CHECK(optdigits[0].picture.at(7, 7) == 255);

  const auto fails = [&](const std::string& text, const std::string& message,
                         Format format = Format::kAuto) {
    CHECK(contains(error_from([&] { read(text, format); }), message));
  };
  fails("", "lines holds no picture");
  fails("1 2 3\n", "lines:1: expected 64 or 256 pixels and a label, found 3 numbers");
  fails(optdigits_line("4", ",5") + "1,2\n", "lines:2: expected 64 pixels and a label, found 2");
  fails(optdigits_line("17", ",5"), "lines:1: expected pixels of 0 to 16, found 17");
  fails(optdigits_line("-1", ",5"), "expected a whole number of 0 to 999, found '-1'");
  fails(optdigits_line("0.5", ",5"), "expected a whole number of 0 to 999, found '0.5'");
  fails(optdigits_line("x", ",5"), "found 'x'");
  fails(optdigits_line("1234", ",5"), "found '1234'");
  fails(semeion_line(1, "1 1 0 0 0 0 0 0 0 0"), "expected a single 1 in the last ten columns");
  fails(semeion_line(1, "0 2 0 0 0 0 0 0 0 0"), "expected a single 1 in the last ten columns");
  fails(optdigits_line("4", ",5"), "expected 256 pixels and a label, found 65", Format::kSemeion);
  fails(semeion_line(1, "1"), "expected 64 pixels and a label, found 257", Format::kOptdigits);
  CHECK(contains(error_from([] { read_corpus("/nowhere", Format::kAuto); }), "cannot open"));
}

TEST_CASE("Labelled pictures: a file without an end is not read if it begins wrong") {
  const auto said = [](const std::string& path) {
    return error_from([&] { read_corpus(path, Format::kAuto); });
  };
  CHECK(said("/dev/zero") == "/dev/zero is no text: it has zero bytes");
  CHECK(said("/dev/zero:/dev/zero") ==
        "/dev/zero is no IDX file of pictures: it does not begin as one");
  CHECK(contains(error_from([] { read_picture("/dev/zero"); }), "/dev/zero is no picture"));
}

TEST_CASE("Labelled pictures: a folder for each label") {
  const TemporaryFolder folder;
  namespace fs = std::filesystem;
  for (const char* label : {"b", "a", ".git"}) fs::create_directories(folder.path(label));
  folder.write("b/1.pgm", "P2 1 1 1 1");
  folder.write("a/2.pgm", "P2 1 2 1 1 0");
  folder.write("a/.hidden", "x");
  const std::string root = folder.path(".");
  const Corpus corpus = read_corpus(root, Format::kAuto);
  CHECK(shown(corpus) == "a of 2 x 1: 255 0; b of 1 x 1: 255; ");
  folder.write("a/3.pgm", "no picture");
  CHECK(contains(error_from([&] { read_corpus(root, Format::kFolder); }), "3.pgm is no picture"));
  fs::remove(folder.path("a/3.pgm"));
  folder.write("file", "");
  CHECK(contains(error_from([&] { read_corpus(root, Format::kFolder); }), "file is no folder"));
  fs::create_directories(folder.path("empty"));
  CHECK(contains(error_from([&] { read_corpus(folder.path("empty"), Format::kAuto); }),
                 "empty holds no picture"));
}

TEST_CASE("Digits: labels in the order of their numbers") {
  Corpus corpus;
  for (const char* label : {"10", "9", "x", "9", "2", "10", "a"})
    corpus.push_back({label, {1, 1, {0}}, 0});
  CHECK(labels_of(corpus) == Strings{"2", "9", "10", "a", "x"});
  CHECK(most_frequent_label(corpus) == "9");
}

TEST_CASE("Digits: folds are of one size, and differ by the seed") {
  const std::vector<unsigned> folds = folds_of(23, 5, 1);
  for (unsigned k = 0; k < 5; ++k)
    CHECK(std::count(folds.begin(), folds.end(), k) == (k < 3 ? 5 : 4));
  CHECK(folds == folds_of(23, 5, 1));
  CHECK(folds != folds_of(23, 5, 2));
}

TEST_CASE("Digits: pictures are moved and mirrored") {
  const Picture picture{2, 3, {0, 51, 102, 153, 204, 255}};
  const Pixels pixels = encode(picture);
  CHECK(pixels.front() == -1);
  CHECK(pixels.back() == 1);
  CHECK(pixels[1] == Approx(0.2));  // below the first
  const auto back = [](const Pixels& p) {
    std::vector<long> rows;
    for (const std::size_t i : {0u, 2u, 4u, 1u, 3u, 5u})
      rows.push_back(std::lround((p[i] + 1) * 127.5f));
    return rows;
  };
  using Rows = std::vector<long>;
  CHECK(back(varied(pixels, 2, 3, 0, 0, false)) == Rows{0, 51, 102, 153, 204, 255});
  CHECK(back(varied(pixels, 2, 3, 1, 0, false)) == Rows{0, 0, 0, 0, 51, 102});
  CHECK(back(varied(pixels, 2, 3, -1, 1, false)) == Rows{0, 153, 204, 0, 0, 0});
  CHECK(back(varied(pixels, 2, 3, 0, 0, true)) == Rows{102, 51, 0, 255, 204, 153});
  CHECK(back(varied(pixels, 2, 3, 0, 1, true)) == Rows{0, 102, 51, 0, 255, 204});
  CHECK(back(varied(pixels, 2, 3, 0, -5, false)) == Rows(6, 0));
}

TEST_CASE("Digits: the network reads pictures of any size, alone as in a batch") {
  for (const auto& [height, width] :
       {std::pair{8u, 8u}, {16u, 16u}, {28u, 28u}, {5u, 40u}, {1u, 1u}}) {
    INFO(height << " x " << width);
    Description description;
    description.settings.channels = 3;
    description.height = height, description.width = width;
    description.labels = {"a", "b", "c"};
    Model model(description, 1);
    std::vector<Pixels> pictures(3, Pixels(std::size_t{height} * width));
    Dice dice(5);
    for (Pixels& p : pictures)
      for (float& x : p) x = static_cast<float>(dice.below(200)) / 100 - 1;
    ComputationGraph graph;
    const std::vector<Prediction> all = model.predict(graph, pictures);
    REQUIRE(all.size() == 3);
    for (unsigned i = 0; i < 3; ++i) {
      CHECK(all[i].probabilities == model.predict(graph, {&pictures[i], 1})[0].probabilities);
      float sum = 0;
      for (const float p : all[i].probabilities) sum += p;
      CHECK(sum == Approx(1));
      CHECK(all[i].probabilities[all[i].label] ==
            *std::max_element(all[i].probabilities.begin(), all[i].probabilities.end()));
    }
    CHECK(model.predict(graph, {}).empty());
  }
}

TEST_CASE("Digits: sizes on the command line") {
  unsigned height = 0, width = 0;
  parse_size("28x16", height, width);
  CHECK((height == 28 && width == 16));
  for (const char* wrong : {"", "28", "0x5", "5x0", "x", "28x28x1", "-1x3", "513x1", "2 x 3"})
    CHECK_THROWS_AS(parse_size(wrong, height, width), nlp::UserError);
  CHECK((height == 28 && width == 16));
}

TEST_CASE("Digits: a drawing has every filter and every pair of labels that came") {
  nlp::LabelScores scores("pictures");
  for (int i = 0; i < 7; ++i) scores.count("<a>", "<a>");
  scores.count("<a>", "b");
  const std::string svg = drawing({0, 1, 2, 3, 5, 5, 5, 5}, 2, 2, scores);
  CHECK(svg.starts_with("<svg "));
  CHECK(contains(svg, "&lt;a&gt;"));
  CHECK_FALSE(contains(svg, "<a>"));
  CHECK(contains(svg, ">7</text>"));
  CHECK(contains(svg, ">1</text>"));
  CHECK(occurrences(svg, "<rect x") == 2 * 4 + 2 * 2);
  for (const char* shade : {"rgb(0,0,0)", "rgb(85,85,85)", "rgb(170,170,170)", "rgb(255,255,255)"})
    CHECK(contains(svg, shade));
  // Filters in two rows, with every coordinate.
  Floats filters(24 * 4);
  for (std::size_t i = 0; i < filters.size(); ++i) filters[i] = static_cast<float>(i * i % 7);
  nlp::Fingerprint all;
  all.add(drawing(filters, 2, 2, scores));
  CHECK(all.value() == 0xcb4bdb1dbab80342);
}

}  // namespace digits_test
