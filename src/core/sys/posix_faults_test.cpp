// Goal: faults of a machine (short writes, interruptions, errors, lost write-backs) are handled or reported.
// Method: this executable defines some of libc's calls, and the library finds these first. Each test sets the results
//         of the next calls.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <deque>

#include "core/base/bytes.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/posix_error.hpp"
#include "core/sys/store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;

namespace {

struct Step {
    int number = 0;       // errno, or 0 to make the call
    long bytes_max = -1;  // limit of a pwrite that is made
};
std::deque<Step> pwrites;  // results of the next calls; later calls are real
std::deque<int> syncs;
std::deque<int> fallocates;
std::deque<int> populates;
int close_fails = 0;
std::string unreachable;                                       // stat fails here, as on a mount without its server
std::vector<std::pair<std::uint64_t, std::uint64_t>> written;  // requested offset and bytes
std::vector<std::pair<std::uint64_t, std::uint64_t>> allocated;

template <class T>
T next(std::deque<T>& script) {
    if (script.empty()) return {};
    const T step = script.front();
    script.pop_front();
    return step;
}

int answer(int number) {
    errno = number;
    return number == 0 ? 0 : -1;
}

}  // namespace

extern "C" ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
    const Step step = next(pwrites);
    written.emplace_back(offset, bytes);
    if (step.number != 0) return answer(step.number);
    if (step.bytes_max >= 0) bytes = std::min(bytes, static_cast<size_t>(step.bytes_max));
    if (bytes == 0) return 0;
    if (step.bytes_max >= 0) {  // a real direct descriptor would refuse a short write
        const int flags = ::fcntl(fd, F_GETFL);
        ::fcntl(fd, F_SETFL, flags & ~O_DIRECT);
        const ssize_t wrote = ::syscall(SYS_pwrite64, fd, data, bytes, offset);
        ::fcntl(fd, F_SETFL, flags);
        return wrote;
    }
    return ::syscall(SYS_pwrite64, fd, data, bytes, offset);
}

extern "C" int fdatasync(int fd) {
    const int number = next(syncs);
    return number != 0 ? answer(number) : static_cast<int>(::syscall(SYS_fdatasync, fd));
}

extern "C" int posix_fallocate(int fd, off_t offset, off_t bytes) noexcept(noexcept(::posix_fallocate(0, 0, 0))) {
    allocated.emplace_back(offset, bytes);
    if (const int number = next(fallocates)) return number;
    return ::syscall(SYS_fallocate, fd, 0, offset, bytes) == 0 ? 0 : errno;
}

extern "C" int fallocate(int fd, int mode, off_t offset, off_t bytes) {
    CHECK(mode == 0);
    allocated.emplace_back(offset, bytes);
    if (const int number = next(fallocates)) return answer(number);
    return static_cast<int>(::syscall(SYS_fallocate, fd, mode, offset, bytes));
}

extern "C" int madvise(void* address, size_t bytes, int advice) noexcept {
    if (advice == 23)  // MADV_POPULATE_WRITE
        if (const int number = next(populates)) return answer(number);
    return static_cast<int>(::syscall(SYS_madvise, address, bytes, advice));
}

extern "C" int fstatat(int folder, const char* path, struct stat* about, int flags) noexcept {
    if (path == unreachable) return answer(ENOTCONN);
    return static_cast<int>(::syscall(SYS_newfstatat, folder, path, about, flags));
}

extern "C" int stat(const char* path, struct stat* about) noexcept { return ::fstatat(AT_FDCWD, path, about, 0); }

extern "C" int close(int fd) {
    const int done = static_cast<int>(::syscall(SYS_close, fd));
    return close_fails != 0 ? answer(std::exchange(close_fails, 0)) : done;
}

namespace {

struct Pages {
    explicit Pages(std::size_t bytes) : data(static_cast<std::byte*>(std::aligned_alloc(4096, bytes))), size(bytes) {
        for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 31 + i / 4096);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() { std::free(data); }
    std::span<const std::byte> span() const { return {data, size}; }
    std::byte* data;
    std::size_t size;
};

std::unique_ptr<File> make(const std::string& path, Access access) {
    pwrites.clear();
    syncs.clear();
    written.clear();
    return posix_store().open(path, access).value();
}

std::string get(const std::string& path) { return read_text(posix_store(), path, 1 << 24).value(); }

long minor_faults() {
    struct rusage use {};
    ::getrusage(RUSAGE_SELF, &use);
    return use.ru_minflt;
}

}  // namespace

TEST_CASE("kinds: what to do about each errno") {
    for (const int number : {EIO, ETIMEDOUT, EAGAIN, ESTALE, ENOTCONN}) CHECK(kind_of(number) == ErrorKind::retry);
    for (const int number : {ENOSPC, EDQUOT}) CHECK(kind_of(number) == ErrorKind::full);
    CHECK(kind_of(ENOENT) == ErrorKind::missing);
    for (const int number : {EACCES, EPERM, ELOOP, EEXIST, EROFS}) CHECK(kind_of(number) == ErrorKind::refused);
    for (const int number : {EBADF, EINVAL, EFAULT}) CHECK(kind_of(number) == ErrorKind::broken);
    CHECK(kind_of(ENOSYS) == ErrorKind::unsupported);
}

TEST_CASE("make_directories: through a mount whose server is gone, what may pass is told") {
    const test::TempDirectory dir;
    REQUIRE(posix_store().make_directories(dir / "mount"));
    unreachable = dir / "mount";
    const auto directories = posix_store().make_directories(unreachable);
    REQUIRE(!directories);
    CHECK(directories.error().kind == ErrorKind::retry);
    CHECK(directories.error().text().find(unreachable) != std::string::npos);
    unreachable.clear();
}

TEST_CASE("write: interrupted and short writes are continued") {
    const test::TempDirectory dir;
    auto file = make(dir / "f", Access::create);
    pwrites = {{EINTR}, {0, 1}, {0, 3}, {EINTR}};
    CHECK(file->write(0, bytes_of("0123456789")));
    CHECK(get(dir / "f") == "0123456789");
    CHECK(written.size() == 5);
}

TEST_CASE("write: an error names the call, where, and errno's text") {
    const test::TempDirectory dir;
    auto file = make(dir / "f", Access::create);
    pwrites = {{0, 4}, {EIO}};
    const auto failed = file->write(100, bytes_of("0123456789"));
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::retry);
    CHECK(failed.error().what == "pwrite of 6 bytes at 104: " + (dir / "f") + ": Input/output error");
    pwrites = {{ENOSPC}};
    CHECK(file->write(0, bytes_of("x")).error().kind == ErrorKind::full);
    pwrites = {{0, 0}};
    CHECK(file->write(0, bytes_of("x")).error().kind == ErrorKind::retry);
    pwrites = {{EINVAL}};  // buffered: nothing to fall back to
    CHECK(file->write(0, bytes_of("x")).error().kind == ErrorKind::broken);
}

TEST_CASE("write, direct: a short write goes on at a page; EINVAL and less than a page go on buffered") {
    const test::TempDirectory dir;
    const Pages pages(64 << 10);
    auto file = make(dir / "f", Access::create_direct);
    if (!file->direct()) {
        MESSAGE("not tested: this file system has no O_DIRECT");
        return;
    }
    pwrites = {{0, 9000}};
    CHECK(file->write(0, pages.span()));
    CHECK(file->direct());
    REQUIRE(written.size() == 2);
    CHECK(written[1].first == 8192);
    CHECK(get(dir / "f") == text_of(pages.span()));

    file = make(dir / "g", Access::create_direct);
    pwrites = {{0, 8192}, {0, 100}, {0, 100}};
    CHECK(file->write(0, pages.span()));
    CHECK_FALSE(file->direct());
    CHECK(get(dir / "g") == text_of(pages.span()));

    file = make(dir / "h", Access::create_direct);
    pwrites = {{EINVAL}};
    CHECK(file->write(0, pages.span()));
    CHECK_FALSE(file->direct());
    CHECK(file->write(pages.size, pages.span().first(100)));  // buffered: any size
    CHECK(get(dir / "h").substr(0, pages.size) == text_of(pages.span()));
}

TEST_CASE("reserve: one call for a file past the page cache, none for another; a refusal is left to the writes") {
    const test::TempDirectory dir;
    const Pages pages(64 << 10);
    allocated.clear();
    make(dir / "cached", Access::create)->reserve(0, pages.size);
    CHECK(allocated.empty());
    for (const int refused : {0, EOPNOTSUPP, ENOSPC}) {
        CAPTURE(refused);
        auto file = make(dir / "f", Access::create_direct);
        if (!file->direct()) {
            MESSAGE("not tested: this file system has no O_DIRECT");
            return;
        }
        allocated.clear();
        written.clear();
        fallocates = {refused};
        file->reserve(4096, pages.size);
        CHECK(allocated == std::vector{std::pair<std::uint64_t, std::uint64_t>(4096, pages.size)});
        CHECK(written.empty());
        if (refused != 0) CHECK(*file->size() == 0);
        CHECK(file->write(4096, pages.span()));
        CHECK(get(dir / "f").substr(4096) == text_of(pages.span()));
    }
}

TEST_CASE("sync: interrupted is repeated; failed stays failed for this file, since the bytes may be lost") {
    const test::TempDirectory dir;
    auto file = make(dir / "f", Access::create);
    CHECK(file->write(0, bytes_of("x")));
    syncs = {EINTR, EINTR};
    CHECK(file->sync());
    syncs = {EIO};  // and success after it, as in the kernel
    const auto failed = file->sync();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::retry);
    const auto again = file->sync();
    REQUIRE_FALSE(again);
    CHECK(again.error().kind == ErrorKind::retry);
    CHECK(again.error().text().find("write the file again") != std::string::npos);
    file = make(dir / "f", Access::create);
    CHECK(file->sync());
}

TEST_CASE("close: what close(2) says is reported, once") {
    const test::TempDirectory dir;
    auto file = make(dir / "f", Access::create);
    close_fails = EIO;
    const auto closed = file->close();
    REQUIRE_FALSE(closed);
    CHECK(closed.error().what == "close: " + (dir / "f") + ": Input/output error");
    CHECK(file->close());
}

TEST_CASE("write_text_durable: any failure keeps the old text and leaves nothing behind") {
    const test::TempDirectory dir;
    CHECK(write_text_durable(posix_store(), dir / "m", "old"));
    pwrites = {{ENOSPC}};
    CHECK(write_text_durable(posix_store(), dir / "m", "new").error().kind == ErrorKind::full);
    syncs = {EIO};
    CHECK(write_text_durable(posix_store(), dir / "m", "new").error().kind == ErrorKind::retry);
    CHECK(get(dir / "m") == "old");
    CHECK(posix_store().list(dir.path())->size() == 1);
}

TEST_CASE("create: a reservation that a timer interrupts goes on in smaller steps") {
    const test::TempDirectory dir("/dev/shm");
    allocated.clear();
    fallocates = {EINTR, EINTR, 0, EINTR};
    auto mapping = Mapping::create(dir / "m", 40u << 20);
    REQUIRE(mapping);
    CHECK(mapping->bytes().size() == 40u << 20);
    CHECK(allocated[0].second == 40u << 20);
    CHECK(allocated[1].second == 32u << 20);
    CHECK(allocated[2].second == 16u << 20);
    std::uint64_t end = 0;
    for (const auto& [offset, bytes] : allocated) end = std::max(end, offset + bytes);
    CHECK(end == 40u << 20);
    CHECK(std::filesystem::hard_link_count(dir / "m") == 1);
}

TEST_CASE("create: a reservation that fails gives back what it took, and says the sizes") {
    const test::TempDirectory dir("/dev/shm");
    fallocates = {0, ENOSPC};
    const auto failed = Mapping::create(dir / "m", 100u << 20);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::full);
    CHECK(failed.error().text().find("104857600 bytes") != std::string::npos);
    CHECK(failed.error().text().find(dir / "m") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(dir / "m"));

    REQUIRE(Mapping::create(dir / "m", 1u << 20));
    fallocates = {0, ENOSPC};
    CHECK(Mapping::create(dir / "m", 100u << 20).error().kind == ErrorKind::full);
    CHECK(std::filesystem::file_size(dir / "m") == 1u << 20);
}

TEST_CASE("prefault: later stores fault no page, with the kernel's call and with the touch of old kernels") {
    for (const int number : {0, EINVAL, EINTR, -1}) {  // -1: the touch, on a file system that must see writes
        CAPTURE(number);
        const test::TempDirectory dir(number < 0 ? std::filesystem::temp_directory_path() : "/dev/shm");
        constexpr std::size_t bytes = 8u << 20;
        {
            auto other = Mapping::create(dir / "m", bytes);
            REQUIRE(other);
            for (std::size_t at = 0; at < bytes; at += 4096) other->bytes()[at] = static_cast<std::byte>(at >> 12);
        }
        auto mapping = Mapping::create(dir / "m", bytes);
        REQUIRE(mapping);
        if (number != 0) populates = {number < 0 ? EINVAL : number};
        CHECK(mapping->prefault(4096 + 100, bytes - 8192 - 100));  // all but the first and the last page
        const auto view = mapping->bytes();
        const long before = minor_faults();
        bool same = true;
        for (std::size_t at = 4096; at < bytes - 4096; at += 4096) {
            same = same && view[at] == static_cast<std::byte>(at >> 12);
            view[at + 1] = std::byte{1};
        }
#ifndef __SANITIZE_THREAD__                   // which has a shadow of each page
        CHECK(minor_faults() - before < 64);  // of 2046 pages
#else
        static_cast<void>(before);
#endif
        CHECK(same);
    }
}
