// Goal: the writer moves exactly the ranges, checks each block before it is written, stops at the lowest error, keeps
//       its rate evenly, and obeys its stop flag soon.

#include "core/move/writer.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/base/bytes.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using namespace forebay::move;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::uint64_t page = 4096;

std::vector<std::byte> pattern(std::size_t bytes) {
    std::vector<std::byte> memory(bytes);
    for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<std::byte>(i * 131 + i / 4096 * 7 + 1);
    return memory;
}

struct Leaving {
    explicit Leaving(std::atomic<int>& number) : active(number) {}
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ~Leaving() { --active; }
    std::atomic<int>& active;
};

std::mutex affinities_mutex;
std::vector<std::vector<int>> affinities;  // the CPUs that threads were bound to

/// Records each write, and fails at chosen offsets.
class Recorder final : public sys::File {
public:
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        {
            const std::lock_guard lock(mutex);
            writes.push_back({offset, bytes.size()});
            times.push_back(Clock::now());
            threads.insert(std::this_thread::get_id());
            ++active;
        }
        const Leaving leaving(active);
        if (slow.contains(offset)) std::this_thread::sleep_for(slow.at(offset));
        if (bad.contains(offset)) return Error{ErrorKind::retry, "bad at " + std::to_string(offset)};
        const std::lock_guard lock(mutex);
        if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
        std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(offset));
        return {};
    }
    Result<> read(std::uint64_t, std::span<std::byte>) override { return {}; }
    Result<std::uint64_t> size() override { return std::uint64_t{content.size()}; }
    Result<> truncate(std::uint64_t) override { return {}; }
    void reserve(std::uint64_t, std::uint64_t) override {}
    Result<> sync() override { return {}; }
    bool direct() const override { return false; }
    Result<> close() override { return {}; }

    std::mutex mutex;
    std::vector<ByteRange> writes;
    std::vector<Clock::time_point> times;
    std::set<std::thread::id> threads;
    std::vector<std::byte> content;
    std::atomic<int> active = 0;  // writes under way
    std::set<std::uint64_t> bad;
    std::map<std::uint64_t, std::chrono::milliseconds> slow;
};

std::vector<ByteRange> sorted(std::vector<ByteRange> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
    return ranges;
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

// The library finds this function before libc's.
extern "C" int sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t* set) noexcept {
    std::vector<int> cpus;
    for (int cpu = 0; cpu < static_cast<int>(bytes * 8); ++cpu)
        if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
    {
        const std::lock_guard lock(affinities_mutex);
        affinities.push_back(cpus);
    }
    return static_cast<int>(::syscall(SYS_sched_setaffinity, thread, bytes, set));
}

TEST_CASE("the ranges and nothing else, cut at multiples of the block, whatever is in flight") {
    const auto memory = pattern(64 * page);
    const std::array<ByteRange, 4> ranges{
        {{page, 3 * page}, {8 * page, 0}, {10 * page, 20 * page}, {40 * page, 24 * page}}};
    for (const int in_flight : {1, 2, 3, 17}) {
        CAPTURE(in_flight);
        Recorder file;
        std::atomic<std::uint64_t> done = 0;
        REQUIRE(write_ranges(file, memory, ranges, {8 * page, in_flight, 0}, {}, &done));
        CHECK(done == 47 * page);
        for (std::uint64_t at = 0; at < memory.size(); ++at) {
            const bool wanted = std::any_of(ranges.begin(), ranges.end(), [&](const ByteRange& r) {
                return at >= r.offset && at < r.offset + r.bytes;
            });
            if (file.content[at] != (wanted ? memory[at] : std::byte{0})) FAIL("byte " << at);
        }
        const auto writes = sorted(file.writes);
        REQUIRE(writes.size() == 7);
        CHECK(writes[1].offset == 10 * page);
        CHECK(writes[1].bytes == 6 * page);  // to the next multiple of 8 pages
        CHECK(writes[2].offset == 16 * page);
        CHECK(writes[2].bytes == 8 * page);
        CHECK(file.threads.size() <= static_cast<std::size_t>(in_flight));
    }
}

TEST_CASE("onto a disk whose direct files refuse what is not aligned; a last odd piece onto one that does not") {
    test::SimStore disk;
    disk.support_direct(true);
    auto file = disk.open("n", sys::Access::create_direct).value();
    void* pages = std::aligned_alloc(page, 32 * page);
    const std::span<std::byte> memory(static_cast<std::byte*>(pages), 32 * page);
    std::ranges::copy(pattern(memory.size()), memory.begin());
    const std::array<ByteRange, 1> all{{{0, 32 * page}}};
    CHECK(write_ranges(*file, memory, all, {4 * page, 3, 0}));
    CHECK(write_ranges(*file, memory, all, {4 * page, 3, 100 * page * 20}));  // paced pieces are whole pages too
    CHECK(disk.peek("n") == text_of(memory));
    disk.support_direct(false);
    file = disk.open("m", sys::Access::create_direct).value();
    const std::array<ByteRange, 1> odd{{{0, 9 * page + 5}}};
    CHECK(write_ranges(*file, memory, odd, {4 * page, 3, 0}));
    CHECK(disk.peek("m") == text_of(memory.first(9 * page + 5)));
    std::free(pages);
}

TEST_CASE("check: every block once, before any of it is written; its error keeps the block out") {
    const auto memory = pattern(64 * page);
    const std::array<ByteRange, 1> all{{{0, 64 * page}}};
    Recorder file;
    std::mutex mutex;
    std::vector<ByteRange> checked;
    bool early = true;
    const Check check = [&](std::uint64_t offset, std::uint64_t bytes) -> Result<> {
        const std::lock_guard lock(mutex);
        checked.push_back({offset, bytes});
        const std::lock_guard file_lock(file.mutex);
        for (const ByteRange& write : file.writes)
            early = early && (write.offset + write.bytes <= offset || write.offset >= offset + bytes);
        if (offset == 40 * page) return Error{ErrorKind::corrupt, "differs"};
        return {};
    };
    const auto failed = write_ranges(file, memory, all, {8 * page, 2, 500 * page * 20}, check);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::corrupt);
    CHECK(early);
    CHECK(file.writes.size() > 0);
    for (const ByteRange& write : file.writes) CHECK((write.offset < 40 * page || write.offset >= 48 * page));
    const auto once = sorted(checked);
    for (std::size_t i = 0; i < once.size(); ++i) CHECK(once[i].offset == i * 8 * page);
}

TEST_CASE("errors: the lowest offset's is returned though it comes last; below it all is written; then it ends") {
    const auto memory = pattern(256 * page);
    const std::array<ByteRange, 1> all{{{0, 256 * page}}};
    for (int round = 0; round < 5; ++round) {
        Recorder file;
        file.bad = {4 * page, 5 * page};
        file.slow = {{4 * page, 60ms}, {3 * page, 30ms}};
        // Writers of the later blocks yield the CPU each time, so that the error of block 5 becomes known soon.
        for (std::uint64_t later = 6; later < 256; ++later) file.slow[later * page] = 1ms;
        std::atomic<int> checks = 0;
        const auto failed = write_ranges(file, memory, all, {page, 4, 0}, [&](auto, auto) {
            ++checks;
            return Result<>();
        });
        REQUIRE_FALSE(failed);
        CHECK(failed.error().what == "bad at 16384");
        CHECK(checks < 100);
        CHECK(std::equal(memory.begin(), memory.begin() + 4 * page, file.content.begin()));
        CHECK(file.writes.size() < 100);
    }
    Recorder file;
    file.bad = {200 * page};
    std::atomic<std::uint64_t> done = 0;
    CHECK(write_ranges(file, memory, all, {page, 1, 0}, {}, &done).error().what == "bad at 819200");
    CHECK(done == 200 * page);
    CHECK(file.writes.size() == 201);
}

TEST_CASE("errors: slow blocks above the failed one end within a piece") {
    const auto memory = pattern(32u << 20);
    const std::array<ByteRange, 1> all{{{0, memory.size()}}};
    Recorder file;
    file.bad = {0};
    file.slow = {{0, 300ms}};  // by then the second block is under way
    const auto begin = Clock::now();
    CHECK_FALSE(write_ranges(file, memory, all, {16u << 20, 2, 1'000'000}));  // the second block alone takes 17 s
    CHECK(seconds_since(begin) < 10);
}

TEST_CASE("errors: a throwing check is broken, bad arguments are named before anything is written") {
    const auto memory = pattern(8 * page);
    const std::array<ByteRange, 1> all{{{0, 8 * page}}};
    Recorder file;
    const auto thrown =
        write_ranges(file, memory, all, {page, 2, 0}, [](auto, auto) -> Result<> { throw std::runtime_error("oops"); });
    REQUIRE_FALSE(thrown);
    CHECK(thrown.error().kind == ErrorKind::broken);
    CHECK(thrown.error().text().find("oops") != std::string::npos);
    CHECK(write_ranges(file, memory, all, {0, 2, 0}).error().kind == ErrorKind::refused);
    CHECK(write_ranges(file, memory, all, {1000, 2, 0}).error().kind == ErrorKind::refused);
    CHECK(write_ranges(file, memory, all, {page, 0, 0}).error().kind == ErrorKind::refused);
    const std::array<ByteRange, 2> outside{{{0, page}, {8 * page, 1}}};
    CHECK(write_ranges(file, memory, outside, {page, 2, 0}).error().kind == ErrorKind::broken);
    const std::array<ByteRange, 1> wrapped{{{page, ~0ull}}};
    CHECK(write_ranges(file, memory, wrapped, {page, 2, 0}).error().kind == ErrorKind::broken);
    CHECK(file.writes.empty());
    CHECK(write_ranges(file, memory, {}, {page, 2, 0}));
}

TEST_CASE("rate: kept over all threads, in even pieces of whole pages") {
    const auto memory = pattern(5'000 * 1024);
    const std::array<ByteRange, 1> all{{{0, memory.size()}}};
    for (const int in_flight : {1, 4}) {
        CAPTURE(in_flight);
        Recorder file;
        const auto begin = Clock::now();
        REQUIRE(write_ranges(file, memory, all, {64u << 20, in_flight, 10'000'000}));
        const double seconds = seconds_since(begin);
        CHECK(seconds > 0.38);  // 5.12 MB at 10 MB/s are 0.51 s, less the credit
        CHECK(file.content == memory);
        CHECK(file.writes.size() >= 10);
        for (const ByteRange& write : file.writes) {
            CHECK(write.bytes <= 512u << 10);
            CHECK((write.bytes % page == 0 || write.offset + write.bytes == memory.size()));
        }
        // Even: no tenth of the bytes comes before its time.
        for (std::size_t i = 0; i < file.times.size(); ++i) {
            const double earliest = static_cast<double>(i) * 0.05 - 0.06;
            CHECK(std::chrono::duration<double>(file.times[i] - begin).count() > earliest);
        }
    }
}

TEST_CASE("stop: ends within a piece, as retry, however slow the rate") {
    const auto memory = pattern(1024 * page);
    const std::array<ByteRange, 1> all{{{0, memory.size()}}};
    Recorder file;
    std::atomic<bool> stop = false;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(100ms);
        stop = true;
    });
    const auto begin = Clock::now();
    const auto stopped = write_ranges(file, memory, all, {64 * page, 2, 1000}, {}, nullptr, &stop);  // 70 minutes
    CHECK(seconds_since(begin) < 10);
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().kind == ErrorKind::retry);
    CHECK(stopped.error().text().find("stopped on request") != std::string::npos);
    Recorder other;
    CHECK_FALSE(write_ranges(other, memory, all, {64 * page, 2, 0}, {}, nullptr, &stop));
    CHECK(other.writes.empty());
}

TEST_CASE("gate: one thread passes while none writes, then all go on; nothing is written twice") {
    class Passing final : public Gate {
    public:
        explicit Passing(Recorder& file) : file_(file) {}
        bool wanted() override { return asked_++ >= 20 && !passed; }
        void pass() override {
            CHECK(file_.active == 0);
            const auto before = file_.writes.size();
            std::this_thread::sleep_for(30ms);
            CHECK(file_.writes.size() == before);
            CHECK(before > 0);
            ++passes;
            passed = true;
        }
        std::atomic<bool> passed = false;
        int passes = 0;

    private:
        Recorder& file_;
        std::atomic<int> asked_ = 0;
    };
    const auto memory = pattern(64 * page);
    const std::array<ByteRange, 1> all{{{0, memory.size()}}};
    for (const int in_flight : {1, 2, 5}) {
        CAPTURE(in_flight);
        Recorder file;
        for (std::uint64_t at = 0; at < memory.size(); at += page) file.slow[at] = 2ms;
        Passing gate(file);
        REQUIRE(write_ranges(file, memory, all, {.block_bytes = page, .in_flight = in_flight, .gate = &gate}));
        CHECK(gate.passes == 1);
        CHECK(file.content == memory);
        CHECK(file.writes.size() == 64);
    }
}

TEST_CASE("pace: shared by calls at once, below each call's own; a change holds from the next piece on") {
    const auto memory = pattern(2'000 * 1024);
    const std::array<ByteRange, 1> all{{{0, memory.size()}}};
    Pace pace(10'000'000);
    auto begin = Clock::now();
    {
        std::vector<std::jthread> calls;
        for (int call = 0; call < 2; ++call)
            calls.emplace_back([&] {
                Recorder file;
                CHECK(write_ranges(file, memory, all, {.pace = &pace}));
                CHECK(file.content == memory);
            });
    }
    CHECK(seconds_since(begin) > 0.3);  // 4.1 MB at 10 MB/s, less the credit
    begin = Clock::now();
    Recorder own;
    REQUIRE(write_ranges(own, memory, all, {.rate_bytes_per_second = 5'000'000, .pace = &pace}));
    CHECK(seconds_since(begin) > 0.3);
    pace.set_rate(20'000);
    begin = Clock::now();
    std::jthread changer([&] {
        std::this_thread::sleep_for(150ms);
        pace.set_rate(0);
    });
    Recorder changed;
    REQUIRE(write_ranges(changed, memory, all, {.pace = &pace}));
    CHECK(seconds_since(begin) > 0.1);
    CHECK(seconds_since(begin) < 50);  // 100 s at the first rate
    CHECK(changed.content == memory);
}

TEST_CASE(
    "a thread whose check had to wait takes the CPUs in turn, a block on each, and may use all of them as before") {
    cpu_set_t before, after;
    REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
    std::vector<int> allowed;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &before)) allowed.push_back(cpu);
    const auto memory = pattern(4 * page);
    const std::array<ByteRange, 1> all{{{0, 4 * page}}};
    Recorder file;
    affinities.clear();
    REQUIRE(write_ranges(file, memory, all, {page, 1, 0}));
    CHECK(affinities.empty());

    const Check waits = [](std::uint64_t, std::uint64_t) -> Result<> {
        std::this_thread::sleep_for(2ms);
        return {};
    };
    REQUIRE(write_ranges(file, memory, all, {page, 1, 0}, waits));
    REQUIRE(affinities.size() == 6);  // before each block but the first
    for (std::size_t turn = 0; turn < 3; ++turn) {
        CHECK(affinities[2 * turn] == std::vector{allowed[turn % allowed.size()]});
        CHECK(affinities[2 * turn + 1] == allowed);
    }
    REQUIRE(::sched_getaffinity(0, sizeof after, &after) == 0);
    CHECK(CPU_EQUAL(&before, &after));
}
