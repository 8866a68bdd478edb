// Goal: a limit on the size of files (ulimit -f) is an Error that reports it, never the kernel's SIGXFSZ, which would
//       kill.
// Method: a child with a limit of 100,000 bytes makes files grow. The signal has its usual effect.

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/store.hpp"
#include "support/limited_process.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;

namespace {

constexpr std::uint64_t limit_bytes = 100'000;

/// The exit code of `body` under the limit; 128 and more mean a signal.
int limited(const std::function<int()>& body) {
    return test::in_child([&] { return test::limit_to(RLIMIT_FSIZE, limit_bytes) ? body() : 98; });
}

template <class T>
bool names_the_limit(const Result<T>& answer) {
    if (answer || answer.error().kind != ErrorKind::full) return false;
    const auto& text = answer.error().text();
    return text.find("100000 bytes") != std::string::npos && text.find("ulimit -f") != std::string::npos;
}

}  // namespace

TEST_CASE("write: up to the limit as ever; a byte more is full, and nothing of it is written") {
    for (const char* parent : {"/tmp", "/dev/shm"}) {
        CAPTURE(parent);
        const test::TempDirectory dir(parent);
        CHECK(limited([&] {
                  auto file = posix_store().open(dir / "f", Access::create).value();
                  const std::string text(limit_bytes, 'x');
                  if (!file->write(0, bytes_of(text))) return 1;
                  if (!names_the_limit(file->write(limit_bytes - 9, bytes_of("0123456789")))) return 2;
                  if (!names_the_limit(file->write(limit_bytes + 5, bytes_of("0")))) return 3;
                  if (!file->write(limit_bytes - 10, bytes_of("0123456789"))) return 4;
                  return file->size().value() == limit_bytes ? 0 : 5;
              }) == 0);
    }
}

TEST_CASE("truncate: growth beyond the limit is full, a file that is longer may be cut") {
    const test::TempDirectory dir;
    posix_store().open(dir / "long", Access::create).value()->truncate(3 * limit_bytes).value();
    CHECK(limited([&] {
              auto file = posix_store().open(dir / "long", Access::update).value();
              if (!names_the_limit(file->truncate(4 * limit_bytes))) return 1;
              if (!file->truncate(2 * limit_bytes)) return 2;
              if (!file->truncate(10)) return 3;
              return names_the_limit(file->truncate(limit_bytes + 1)) && *file->size() == 10 ? 0 : 4;
          }) == 0);
}

TEST_CASE("room beyond the limit is not asked for: the kernel would send its signal") {
    const test::TempDirectory dir;
    CHECK(limited([&] {
              auto file = posix_store().open(dir / "f", Access::create_direct).value();
              file->reserve(0, round_up(limit_bytes, limits::page_bytes));
              return *file->size() == 0 ? 0 : 1;
          }) == 0);
}

TEST_CASE("a reservation beyond the limit is full, and takes nothing; one that is there stays usable") {
    for (const char* parent : {"/tmp", "/dev/shm"}) {
        CAPTURE(parent);
        const test::TempDirectory dir(parent);
        REQUIRE(Mapping::create(dir / "there", 3 * limit_bytes));
        CHECK(limited([&] {
                  if (!names_the_limit(Mapping::create(dir / "new", limit_bytes + 1))) return 1;
                  if (std::filesystem::exists(dir / "new")) return 2;
                  if (!Mapping::create(dir / "small", 4096)) return 3;
                  if (!names_the_limit(Mapping::create(dir / "small", 2 * limit_bytes))) return 4;
                  if (std::filesystem::file_size(dir / "small") != 4096) return 5;
                  auto mapped = Mapping::create(dir / "there", 3 * limit_bytes);
                  if (!mapped) return 6;
                  mapped->bytes().back() = std::byte{1};
                  return 0;
              }) == 0);
    }
}

TEST_CASE("texts that are written whole: the old one stays, nothing is left behind") {
    const test::TempDirectory dir;
    REQUIRE(write_text_durable(posix_store(), dir / "t", "old"));
    REQUIRE(write_private(dir / "p", "old"));
    CHECK(limited([&] {
              const std::string text(limit_bytes + 1, 'x');
              if (!names_the_limit(write_text_durable(posix_store(), dir / "t", text))) return 1;
              if (!names_the_limit(write_private(dir / "p", text))) return 2;
              if (*read_text(posix_store(), dir / "t", 10) != "old" || *read_private(dir / "p") != "old") return 3;
              return posix_store().list(dir.path())->size() == 2 ? 0 : 4;
          }) == 0);
}
