// Goal: an agent with a free choice writes through the cache if that is right or faster, otherwise past it. The
// measurement is bounded and leaves nothing. After an error the agent writes past the cache. Method: the simulated
// disk, with direct writes that are slow, hidden from other descriptors, refused or failing.

#include <doctest/doctest.h>

#include <thread>

#include "path/agent/direct_choice.hpp"
#include "support/agent_node.hpp"
#include "support/caching_store.hpp"
#include "support/committed_run.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using agent::choose_direct;
using test::SimStore;

namespace {

constexpr std::uint64_t large_bytes = 64u << 20;

/// Writes past the cache take `past`, writes through it take `through`, for each MiB.
class SlowStore final : public test::PassingStore {
public:
    SlowStore(sys::Store& store, std::chrono::milliseconds past, std::chrono::milliseconds through)
        : PassingStore(store), past_(past), through_(through) {}
    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        auto file = PassingStore::open(path, access);
        if (!file || !sys::is_writing(access)) return file;
        return std::unique_ptr<sys::File>(
            std::make_unique<SlowFile>(std::move(*file), sys::is_direct(access) ? past_ : through_));
    }

private:
    class SlowFile final : public test::PassingFile {
    public:
        SlowFile(std::unique_ptr<sys::File> file, std::chrono::milliseconds pause)
            : PassingFile(std::move(file)), pause_(pause) {}
        Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
            std::this_thread::sleep_for(pause_ * (static_cast<double>(bytes.size()) / (1u << 20)));
            return PassingFile::write(offset, bytes);
        }

    private:
        const std::chrono::milliseconds pause_;
    };
    const std::chrono::milliseconds past_, through_;
};

agent::DirectChoice chosen(sys::Store& store, std::uint64_t file_bytes = large_bytes,
                           const move::WriteOptions& options = {.in_flight = 1}) {
    return choose_direct(store, "run", options, file_bytes).value();
}

bool is_empty(const SimStore& disk) { return disk.paths() == std::vector<std::string>{"run/"}; }

}  // namespace

TEST_CASE("the faster way is taken; past the cache where both are alike") {
    for (const auto& [past, through, direct] :
         {std::tuple{400ms, 0ms, false}, std::tuple{0ms, 400ms, true}, std::tuple{50ms, 45ms, true}}) {
        SimStore disk("run");
        disk.support_direct(true);
        SlowStore slow(disk, past, through);
        const auto choice = chosen(slow);
        CHECK(choice.direct == direct);
        CHECK(choice.why.find(direct ? "go past" : "go through") != std::string::npos);
        CHECK(is_empty(disk));
        CHECK(disk.bytes_written() <= large_bytes / 8 + 3 * limits::page_bytes);
    }
}

TEST_CASE("where direct writes are not seen by other descriptors, they are not made, and no speed is asked") {
    SimStore disk("run");
    disk.support_direct(true);
    test::CachingStore hiding(disk);
    const auto choice = chosen(hiding);
    CHECK_FALSE(choice.direct);
    CHECK(choice.why.find("does not read back") != std::string::npos);
    CHECK(disk.bytes_written() <= 2 * limits::page_bytes);
    CHECK(is_empty(disk));
}

TEST_CASE("nothing to choose: no direct writes at the target, a limit of the rate, a small file") {
    SimStore disk("run");
    CHECK(chosen(disk).direct);
    CHECK(disk.bytes_written() == 0);
    disk.support_direct(true);
    SlowStore slow(disk, 500ms, 0ms);
    CHECK(chosen(slow, large_bytes, {.in_flight = 1, .rate_bytes_per_second = 1}).direct);
    CHECK(chosen(slow, agent::chosen_bytes_min - 1).direct);
    CHECK(disk.bytes_written() == 4 * limits::page_bytes);  // the test of visibility
    CHECK(is_empty(disk));
}

TEST_CASE("slow targets: what the first MiB of each way took bounds the rest") {
    SimStore disk("run");
    disk.support_direct(true);
    SlowStore slow(disk, 700ms, 700ms);
    CHECK(chosen(slow).direct);
    CHECK(disk.bytes_written() == 2 * (1u << 20) + 2 * limits::page_bytes);
}

TEST_CASE("a fault is an error, and the file goes") {
    for (const auto op : {test::Op::open, test::Op::write, test::Op::sync, test::Op::read, test::Op::remove})
        for (int at = 0; at < (op == test::Op::remove ? 1 : 2); ++at) {
            SimStore disk("run");
            disk.support_direct(true);
            disk.fail(op, at, {ErrorKind::full, "Disk quota exceeded"});
            const auto choice = choose_direct(disk, "run", {.in_flight = 1}, large_bytes);
            REQUIRE_FALSE(choice);
            CHECK(choice.error().what == "Disk quota exceeded");
            CHECK(is_empty(disk) == (op != test::Op::remove));
        }
}

TEST_CASE("an agent measures once, before its first large node file, and says so") {
    const test::SmallSnapshot large{.id = 2, .step = 20, .elements_per_rank = 1'100'000};  // 17 MB
    auto options = test::agent_options();
    options.block_bytes = 4u << 20;
    for (const auto direct : {Direct::automatic, Direct::yes}) {
        SimStore disk("run");
        disk.support_direct(true);
        test::Node node(options);
        node.session.agent.direct = direct;
        node.seal({.id = 1, .step = 10});
        REQUIRE_MESSAGE(node.drain(disk), node.log);
        CHECK(node.log.find("page cache") == std::string::npos);
        node.seal(large);
        REQUIRE_MESSAGE(node.drain(disk), node.log);
        CHECK((node.log.find("step 20 of stream 'restart': writes go ") != std::string::npos) ==
              (direct == Direct::automatic));
        CHECK(test::is_whole(disk, test::node_run, large));
    }
}

TEST_CASE("what cannot be measured is told, and drained past the cache") {
    const test::SmallSnapshot large{.id = 2, .step = 20, .elements_per_rank = 1'100'000};
    auto options = test::agent_options();
    options.block_bytes = 4u << 20;
    SimStore disk("run");
    disk.support_direct(true);
    disk.fail(test::Op::write, 0, {ErrorKind::full, "Disk quota exceeded"});
    test::Node node(options);
    node.session.agent.direct = Direct::automatic;
    node.seal(large);
    REQUIRE_MESSAGE(node.drain(disk), node.log);
    CHECK(node.log.find("could not be measured: Disk quota exceeded") != std::string::npos);
    CHECK(test::is_whole(disk, test::node_run, large));
}
