// Goal: files avoid a storage target from the drain on that found it slow, and return after probes pass. Excluded
// targets are never used. Files of all nodes are spread evenly. Method: made batches and stores.

#include "path/agent/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include <thread>

#include "core/base/bytes.hpp"
#include "core/describe/storage_targets.hpp"
#include "support/lustre_layout.hpp"
#include "support/passing_store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::agent;
using namespace std::chrono_literals;

namespace {

constexpr double fast = 200e6;

// A drain that wrote the same bytes to each target, at the target's rate.
format::TimingBatch drain(const std::map<std::uint32_t, double>& rates, std::uint32_t node = 0,
                          std::uint32_t nodes = 1) {
    format::TimingBatch batch{.step = 7, .node = node, .nodes = nodes};
    for (const auto& [target, rate] : rates)
        batch.targets.push_back({.name = describe::storage_target_name(target),
                                 .bytes = 64u << 20,
                                 .busy_seconds = (64u << 20) / rate,
                                 .writes = 4});
    return batch;
}

struct Told {
    std::vector<Event> events;
    Tell tell() {
        return [this](const Event& event) { events.push_back(event); };
    }
    std::size_t count(What what) const {
        return static_cast<std::size_t>(std::ranges::count(events, what, &Event::what));
    }
};

sys::StripeMap striped(const std::vector<std::uint32_t>& targets) {
    return sys::StripeMap::of_lustre(test::plain_layout(1u << 20, targets, false));
}

// A file system that obeys requested layouts. Writes to the slow target take longer.
class WishingStore final : public test::PassingStore {
public:
    using test::PassingStore::PassingStore;
    Result<> make_striped(const std::string& path, const sys::Stripes& stripes) override {
        if (refuses) return Error{ErrorKind::unsupported, "no wishes here"};
        wishes.push_back(stripes);
        const std::chrono::milliseconds pause(stripes.targets.front() == slow ? 20 : 1);
        std::this_thread::sleep_for(pause);
        return sys::posix_store().open(path, sys::Access::create).value()->close();
    }
    std::optional<sys::StripeDefault> default_stripes(const std::string&) override {
        ++asked;
        return sys::StripeDefault{2u << 20, 2};
    }
    std::vector<sys::Stripes> wishes;
    int asked = 0;
    std::uint32_t slow = UINT32_MAX;
    bool refuses = false;
};

}  // namespace

TEST_CASE("nothing is chosen as long as nothing is asked for and nothing is slow") {
    Told log;
    Placement placement({}, log.tell());
    CHECK_FALSE(placement.next());
    placement.learn(striped({0, 1, 2, 3}));
    placement.learn(drain({{0, fast}, {1, 0.7 * fast}, {2, fast}, {3, 1.1 * fast}}));
    CHECK_FALSE(placement.next());
    CHECK(log.events.empty());
}

TEST_CASE("a target at a tenth is avoided at once, one at 0.4 at the second time") {
    for (const double ratio : {0.1, 0.4}) {
        CAPTURE(ratio);
        Told log;
        Placement placement({}, log.tell());
        placement.learn(striped({0, 1, 2, 3}));
        const auto slow = drain({{0, fast}, {1, fast}, {2, ratio * fast}, {3, fast}});
        placement.learn(slow);
        CHECK(placement.slow().size() == (ratio < 0.25 ? 1 : 0));
        placement.learn(slow);
        CHECK(placement.slow() == std::vector<std::uint32_t>{2});
        CHECK(log.count(What::avoids) == 1);
        CHECK(log.events[0].detail.starts_with("storage target OST0002 wrote step 7 at 0."));
        const auto wish = placement.next();
        REQUIRE(wish);
        CHECK(wish->targets == std::vector<std::uint32_t>{0, 1, 3});
        CHECK(wish->stripe_bytes == 1u << 20);
    }
}

TEST_CASE("a target that is alone in a file is compared with those of files before") {
    Told log;
    Placement placement({}, log.tell());
    for (std::uint32_t target = 0; target < 4; ++target) {
        placement.learn(striped({target}));
        placement.learn(drain({{target, fast}}));
    }
    placement.learn(drain({{2, 0.1 * fast}}));
    CHECK(placement.slow() == std::vector<std::uint32_t>{2});
}

TEST_CASE("a storage system that is slow as a whole names no target") {
    Told log;
    Placement placement({}, log.tell());
    for (int i = 0; i < 4; ++i) placement.learn(drain({{0, fast}, {1, fast}, {2, fast}}));
    for (int i = 0; i < 4; ++i) placement.learn(drain({{0, 0.1 * fast}, {1, 0.1 * fast}, {2, 0.1 * fast}}));
    CHECK(placement.slow().empty());
}

TEST_CASE("files of all nodes are spread evenly over the targets of the options, without those that are excluded") {
    constexpr std::uint32_t nodes = 100, turns = 200, targets = 160;
    PlacementOptions options{.excluded = {3, 77, 78, 79}};
    for (std::uint32_t target = 0; target < targets; ++target) options.targets.push_back(target);
    std::map<std::uint32_t, std::uint64_t> files;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        Placement placement(options, {});
        placement.learn(drain({}, node, nodes));
        for (std::uint32_t turn = 0; turn < turns; ++turn) {
            const auto wish = placement.next();
            REQUIRE(wish);
            for (const auto target : wish->targets) ++files[target];
        }
    }
    CHECK(files.size() == targets - 4);
    CHECK_FALSE(files.contains(77));
    std::uint64_t most = 0, sum = 0;
    for (const auto& [target, count] : files) {
        most = std::max(most, count);
        sum += count;
    }
    CHECK(sum == nodes * turns);
    CHECK(static_cast<double>(most) / (static_cast<double>(sum) / static_cast<double>(files.size())) <= 1.01);
}

TEST_CASE("a target is used again after two probes, and probes that fail come ever more seldom") {
    Told log;
    Placement placement({.probe_after = 10s}, log.tell());
    placement.learn(striped({0, 1, 2, 3}));
    placement.learn(drain({{0, fast}, {1, fast}, {2, 0.1 * fast}, {3, fast}}));
    const auto now = sys::Clock::now();
    CHECK_FALSE(placement.due(now));
    REQUIRE(placement.due(now + 11s));
    CHECK(placement.due(now + 11s)->slow == 2);
    placement.probed(2, 0.1, now + 11s);
    CHECK_FALSE(placement.due(now + 30s));
    CHECK(placement.due(now + 32s));
    placement.probed(2, 0.9, now + 32s);
    CHECK(placement.slow().size() == 1);
    CHECK(placement.due(now + 33s));
    placement.probed(2, 0.95, now + 33s);
    CHECK(placement.slow().empty());
    CHECK(log.count(What::uses_again) == 0);  // the thread of probes emits nothing
    CHECK_FALSE(placement.next());
    CHECK(log.count(What::uses_again) == 1);
}

TEST_CASE("node files are made where they are to lie, and other files are not; a refusal is told once") {
    test::TempDirectory folder;
    WishingStore store(sys::posix_store());
    Told log;
    Placement placement({.targets = {4, 5, 6}}, log.tell());
    const auto through = placed(store, placement);
    for (const auto* name : {"node-00000.h5.tmp", "manifest.json", "node-00001.h5.tmp"})
        CHECK(through->open(folder.path() + "/" + name, sys::Access::create).value()->close());
    REQUIRE(store.wishes.size() == 2);
    // As many stripes as files get by default in the directory.
    CHECK(store.wishes[0].targets == std::vector<std::uint32_t>{4, 5});
    CHECK(store.wishes[1].targets == std::vector<std::uint32_t>{6, 4});
    CHECK(store.wishes[0].stripe_bytes == 2u << 20);
    CHECK(store.asked == 1);
    store.refuses = true;
    for (const auto* name : {"node-00002.h5.tmp", "node-00003.h5.tmp"})
        CHECK(through->open(folder.path() + "/" + name, sys::Access::create).value()->close());
    CHECK(log.count(What::unplaced) == 1);
    CHECK_FALSE(placement.next());
}

TEST_CASE("targets that are excluded where nobody can say what they are: that is told, once") {
    test::TempDirectory folder;
    Told log;
    Placement placement({.excluded = {1}}, log.tell());
    const auto through = placed(sys::posix_store(), placement);
    for (const auto* name : {"node-00000.h5.tmp", "node-00001.h5.tmp"})
        CHECK(through->open(folder.path() + "/" + name, sys::Access::create).value()->close());
    CHECK(log.count(What::unplaced) == 1);
}

TEST_CASE("a probe compares the slow target with a good one, and leaves nothing behind") {
    test::TempDirectory folder;
    WishingStore store(sys::posix_store());
    Told log;
    Placement placement({.probe_after = 0s}, log.tell());
    placement.learn(striped({0, 1, 2, 3}));
    placement.learn(drain({{0, fast}, {1, fast}, {2, 0.1 * fast}, {3, fast}}));
    probe_one(store, folder.path(), placement);
    REQUIRE(store.wishes.size() == 2);
    CHECK(store.wishes[0].targets == std::vector<std::uint32_t>{0});
    CHECK(store.wishes[1].targets == std::vector<std::uint32_t>{2});
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("after a slow spell of the whole file system no target stays avoided, and exclusions hold") {
    Told log;
    Placement placement({.excluded = {9}}, log.tell());
    for (int i = 0; i < 32; ++i) placement.learn(drain({{static_cast<std::uint32_t>(i % 4), fast}}));
    for (int i = 0; i < 8; ++i) placement.learn(drain({{static_cast<std::uint32_t>(i % 4), 0.2 * fast}}));
    CHECK(placement.slow().size() < 4);
    for (int i = 0; i < 64; ++i) placement.learn(drain({{static_cast<std::uint32_t>(i % 4), fast}}));
    const auto wish = placement.next();
    REQUIRE(wish);
    CHECK(wish->targets.front() != 9);
    if (!placement.slow().empty()) CHECK(placement.due(sys::Clock::now() + 10h));
}

TEST_CASE("a fault that passes lets one file lie anywhere, and no more") {
    class Failing final : public test::PassingStore {
    public:
        using PassingStore::PassingStore;
        Result<> make_striped(const std::string& path, const sys::Stripes&) override {
            return Error{ErrorKind::full, "no room for " + path};
        }
    };
    test::TempDirectory folder;
    Failing store(sys::posix_store());
    Told log;
    Placement placement({.targets = {4}}, log.tell());
    CHECK(placed(store, placement)->open(folder.path() + "/node-00000.h5.tmp", sys::Access::create).value()->close());
    CHECK(log.events.empty());
    CHECK(placement.next());
}
