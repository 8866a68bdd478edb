// Goal: the cost of a save and of a snapshot stays the same: messages of a steady save and their bytes, page faults,
// allocations, files of a snapshot. (System calls of a save: api/system_calls_test. Calls and bytes of a drain:
// drain/node_drain_test; of a commit: drain/commit_test.) Each is an exact number. A change of a number is a change of
// the design.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "path/stage/alike.hpp"
#include "path/stage/slot.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using test::options_in;

namespace {

thread_local std::uint64_t allocations = 0;

void* counted(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}

// The calls of one rank on one group.
struct Calls {
    int barrier = 0, max = 0, sum = 0, gather = 0, broadcast = 0, split = 0;
    friend bool operator==(const Calls&, const Calls&) = default;
};

struct AllCalls {
    Calls world, node, leaders;
    std::uint64_t world_numbers = 0;  // of all maxima and sums over the world, 8 bytes each
    std::uint64_t node_bytes = 0;     // that this rank gave to gatherings of the node
};

// Counts the calls that pass through. A split by machine is the node, a split of the world the leaders.
class CountingGroup final : public comm::Group {
public:
    enum class Level { world, machine, node };
    CountingGroup(std::unique_ptr<comm::Group> inner, AllCalls& all, Calls& own, Level level)
        : inner_(std::move(inner)), all_(all), own_(own), level_(level) {}
    int rank() const override { return inner_->rank(); }
    int size() const override { return inner_->size(); }
    void barrier() override {
        ++own_.barrier;
        inner_->barrier();
    }
    void max(std::span<std::int64_t> numbers) override {
        ++own_.max;
        if (level_ == Level::world) all_.world_numbers += numbers.size();
        inner_->max(numbers);
    }
    void sum(std::span<std::int64_t> numbers) override {
        ++own_.sum;
        if (level_ == Level::world) all_.world_numbers += numbers.size();
        inner_->sum(numbers);
    }
    void gather_all(std::span<const std::byte> own_bytes, std::span<std::byte> all) override {
        ++own_.gather;
        if (level_ == Level::node) all_.node_bytes += own_bytes.size();
        inner_->gather_all(own_bytes, all);
    }
    void broadcast(std::span<std::byte> bytes, int root) override {
        ++own_.broadcast;
        inner_->broadcast(bytes, root);
    }
    std::unique_ptr<comm::Group> split(int colour) override {
        ++own_.split;
        auto part = inner_->split(colour);
        if (!part) return nullptr;
        auto& calls = level_ == Level::machine ? all_.node : all_.leaders;
        return std::make_unique<CountingGroup>(std::move(part), all_, calls, Level::node);
    }
    std::unique_ptr<comm::Group> split_shared() override {
        ++own_.split;
        return std::make_unique<CountingGroup>(inner_->split_shared(), all_, own_, Level::machine);
    }

private:
    std::unique_ptr<comm::Group> inner_;
    AllCalls& all_;
    Calls& own_;
    Level level_;
};

long minor_faults() {
    struct rusage used {};
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt;
}

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : sys::posix_store().list(directory).value()) names.push_back(entry.name);
    return names;
}

}  // namespace

// The other forms of new call this form, except forms with an alignment, which nothing here uses.
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }  // used by sanitizers
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("messages of a save: two maxima over the world, one gathering and one barrier of the node") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        test::with_threads(4, [&](std::unique_ptr<comm::Group> world) {
            AllCalls calls;
            auto counting =
                std::make_unique<CountingGroup>(std::move(world), calls, calls.world, CountingGroup::Level::world);
            const auto rank = static_cast<std::uint64_t>(counting->rank());
            auto session =
                detail::open_over(std::make_unique<GroupHolder>(std::move(counting)), options_in(folder, nodes))
                    .value();
            auto stream = session.stream("restart", {.slots = 2, .view = false}).value();
            std::vector<std::vector<double>> data(50, std::vector<double>(8, 1.0));
            double time = 0, own = static_cast<double>(rank);
            stream.replicated("time", &time).value();
            stream.replicated("own", &own, {}, Replicated::first_rank).value();
            stream.replicated("many", f64, {8}, data[3].data()).value();
            for (std::size_t v = 0; v < data.size(); ++v)
                stream.array("u" + std::to_string(v), f64, {4, 8}, {packed({{rank, 0}, {1, 8}}, data[v].data())})
                    .value();
            auto first = stream.particles("dm", {{"x", f64}, {"y", f64}}).value();
            auto second = stream.particles("gas", {{"x", f64}}).value();
            const auto save = [&](std::int64_t step) {
                // Row counts change with every step, as they do if particles migrate.
                first.bind(rank + static_cast<std::uint64_t>(step), {data[0].data(), data[1].data()}).value();
                second.bind(static_cast<std::uint64_t>(step) % 3, {data[2].data()}).value();
                time = static_cast<double>(step);
                CHECK(stream.save(step).value().kept);
            };
            save(0);
            save(1);  // the first save that takes a slot lays it out
            for (std::int64_t step = 2; step < 5; ++step) {
                calls = {};
                save(step);
                CHECK(calls.world == Calls{.max = 2});
                CHECK(calls.node == Calls{.barrier = 1, .gather = 1});
                CHECK(calls.leaders == Calls{});
                CHECK(calls.world_numbers == 11 + 5);                  // for any number of ranks and variables
                CHECK(calls.node_bytes == 2 * sizeof(std::uint64_t));  // the rows of two tables
            }
            calls = {};
            auto direct = stream.begin(5).value();
            CHECK(calls.world == Calls{.max = 2});
            CHECK(direct.seal().value().kept);
            CHECK(calls.world == Calls{.max = 3});
            CHECK(calls.node == Calls{.barrier = 1, .gather = 1});
            calls = {};
            static_cast<void>(stream.counters());
            static_cast<void>(session.draining());
            CHECK(calls.world == Calls{});
            CHECK_FALSE(session.job().value().save);  // the first call of a session agrees once more
            calls = {};
            CHECK_FALSE(session.job().value().save);
            CHECK(calls.world == Calls{.max = 1});
            CHECK(calls.node == Calls{});
            session.close().value();
        });
    }
}

TEST_CASE("messages of a shared file: one gathering of the first ranks when rows have changed, none when not") {
    const test::TempDirectory folder;
    test::with_threads(4, [&](std::unique_ptr<comm::Group> world) {
        AllCalls calls;
        auto counting =
            std::make_unique<CountingGroup>(std::move(world), calls, calls.world, CountingGroup::Level::world);
        const auto rank = static_cast<std::uint64_t>(counting->rank());
        auto session =
            detail::open_over(std::make_unique<GroupHolder>(std::move(counting)), options_in(folder, 2)).value();
        auto stream = session.stream("restart", {.slots = 2, .view = false, .file = TargetFile::shared()}).value();
        std::vector<double> data(600, 1.0);
        stream.array("u", f64, {4, 8}, {packed({{rank, 0}, {1, 8}}, data.data())}).value();
        auto table = stream.particles("dm", {{"x", f64}, {"y", f64}}).value();
        const auto save = [&](std::int64_t step, std::uint64_t rows) {
            table.bind(rows, {data.data(), data.data()}).value();
            CHECK(stream.save(step).value().kept);
        };
        save(0, 500);
        save(1, 500);
        const bool leads = rank % 2 == 0;
        for (std::int64_t step = 2; step < 6; ++step) {
            calls = {};
            save(step, step < 4 ? 500 : static_cast<std::uint64_t>(500 + step + (rank == 3 ? 1 : 0)));
            // Changed rows need a new plan, on which the ranks agree.
            CHECK(calls.world == Calls{.max = step >= 4 ? 3 : 2});
            CHECK(calls.node == Calls{.barrier = 1, .gather = 1});
            CHECK(calls.leaders == Calls{.gather = leads && step >= 4 ? 1 : 0});
        }
        session.close().value();
    });
}

TEST_CASE("prepare() takes the laying out and every page fault from the first saves") {
    const test::TempDirectory folder("/dev/shm");
    AllCalls calls;
    auto world = std::make_unique<CountingGroup>(comm::alone(), calls, calls.world, CountingGroup::Level::world);
    auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options_in(folder, 1)).value();
    auto stream = session.stream("restart", {.slots = 2}).value();
    std::vector<double> u(2u << 20, 1.0);  // 4,096 pages
    stream.array("u", f64, {u.size()}, {packed({{0}, {u.size()}}, u.data())}).value();
    auto table = stream.particles("dm", {{"x", f64}}).value();
    table.bind(1'000'000).value();
    stream.prepare().value();
    for (std::int64_t step = 0; step < 2; ++step) {
        table.bind(900'000, {u.data()}).value();
        calls = {};
        const auto before = minor_faults();
        CHECK(stream.save(step).value().kept);
        CHECK(minor_faults() - before < 100);
        CHECK(calls.world == Calls{.max = 2});
    }
    session.close().value();
}

TEST_CASE("a save whose slot is known: no page fault, and what it allocates does not grow") {
    const test::TempDirectory folder("/dev/shm");
    auto session = detail::open_over(std::make_unique<GroupHolder>(comm::alone()), options_in(folder, 1)).value();
    for (const std::size_t variables : {1u, 40u}) {
        auto stream = session.stream("restart" + std::to_string(variables), {.slots = 1, .view = false}).value();
        std::vector<double> u(1u << 20, 1.0);  // 2,048 pages
        for (std::size_t v = 0; v < variables; ++v)
            stream.array("u" + std::to_string(v), f64, {u.size()}, {packed({{0}, {u.size()}}, u.data())}).value();
        auto table = stream.particles("dm", {{"x", f64}}).value();
        for (std::int64_t step = 0; step < 4; ++step) {
            table.bind(900'000 + static_cast<std::uint64_t>(step), {u.data()}).value();
            stream.wait_committed(std::chrono::seconds(60)).value();
            allocations = 0;
            const auto faults_before = minor_faults();
            const auto kept = stream.save(step).value().kept;
            const auto faults = minor_faults() - faults_before;
            const auto allocated = allocations;
            CHECK(kept);
            if (step == 0) continue;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
            CHECK(faults <= 2);  // the sanitizer's shadow memory causes some
#else
            CHECK(faults == 0);
#endif
            CHECK(allocated == 2);
        }
    }
    session.close().value();
}

TEST_CASE("describing: what a variable allocates does not grow with the number of those before") {
    const test::TempDirectory folder;
    auto session = Session::open(options_in(folder, 1)).value();
    auto stream = session.stream("restart").value();
    double value = 0;
    const auto describe = [&](int first, int end) {
        const auto before = allocations;
        for (int i = first; i < end; ++i)
            stream.replicated("group/variable" + std::to_string(i + 10'000), &value).value();
        return allocations - before;
    };
    describe(0, 512);
    const auto few = describe(512, 1024), more = describe(1024, 1536);
    CHECK(few <= more + 32);  // vectors grow now and then
    CHECK(more <= few + 32);
    CHECK(more <= 512 * 20);
    session.close().value();
}

TEST_CASE("a restart variable by variable exchanges the heads once and opens one window") {
    const test::TempDirectory folder;
    std::vector<double> u(3000), v(3000), w(3000);
    const auto describe = [&](Stream& stream, std::uint64_t rank) {
        for (auto& [name, data] : {std::pair("u", &u), std::pair("v", &v), std::pair("w", &w)})
            stream.array(name, f64, {3000}, {packed({{1000 * rank}, {1000}}, data->data() + 1000 * rank)}).value();
    };
    test::with_session(3, options_in(folder, 1), [&](Session& session, comm::Group& world) {
        auto stream = session.stream("restart").value();
        describe(stream, static_cast<std::uint64_t>(world.rank()));
        std::fill_n(v.data() + 1000 * world.rank(), 1000, 2.5);
        stream.save(1).value();
    });
    std::ranges::fill(v, 0);
    test::with_threads(3, [&](std::unique_ptr<comm::Group> world) {
        AllCalls calls;
        const auto rank = static_cast<std::uint64_t>(world->rank());
        auto counting =
            std::make_unique<CountingGroup>(std::move(world), calls, calls.world, CountingGroup::Level::world);
        auto session =
            detail::open_over(std::make_unique<GroupHolder>(std::move(counting)), options_in(folder, 1)).value();
        auto stream = session.stream("restart").value();
        describe(stream, rank);
        auto restart = stream.newest().value();
        REQUIRE(restart);
        restart->read({"u"}).value();
        calls = {};
        restart->read({"v"}).value();
        const auto counted = calls;
        CHECK(counted.node.broadcast == 0);
        CHECK(v[1000 * rank + 7] == 2.5);
        calls = {};
        restart->read({"w"}).value();
        CHECK(calls.node == counted.node);
        CHECK(calls.world == counted.world);
        stream.save(2).value();  // releases the memory
        calls = {};
        restart->read({"v"}).value();
        CHECK(calls.node.broadcast > 0);
        session.close().value();
    });
}

TEST_CASE("comparing and copying a rank's blocks into the slot allocates nothing") {
    Schema schema{.stream = "restart", .tables = {"dm", "gas"}, .variables = {}};
    schema.variables.push_back({.name = "time", .type = f64, .kind = Kind::replicated});
    schema.variables.push_back({.name = "u", .type = f32, .kind = Kind::array, .shape = {600, 600}});
    describe::Binding binding;
    double time = 1;
    std::vector<float> field(602 * 604, 2.0F);
    binding.data = {&time, nullptr};
    binding.pieces = {
        {}, {with_halo({{0, 0}, {300, 600}}, {1, 2}, field.data()), packed({{300, 0}, {300, 600}}, field.data())}};
    binding.tables.resize(2);
    std::vector<std::byte> rows(5000 * 8 * 40);
    for (std::uint32_t c = 0; c < 40; ++c) {  // more columns than one gathering takes
        for (std::uint32_t t = 0; t < 2; ++t) {
            auto& table = binding.tables[t];
            table.variables.push_back(static_cast<std::uint32_t>(schema.variables.size()));
            schema.variables.push_back(
                {.name = schema.tables[t] + "/" + std::to_string(c), .type = f64, .kind = Kind::particles, .table = t});
            table.rows = 5000;
            table.columns.emplace_back(rows.data() + 8 * c * (t == 0 ? 1 : 5000), t == 0 ? 320 : 0);
        }
    }
    binding.data.resize(schema.variables.size());
    binding.pieces.resize(schema.variables.size());
    format::RankPart part{.boxes = std::vector<std::vector<Box>>(schema.variables.size()), .rows = {5000, 5000}};
    for (const auto& piece : binding.pieces[1]) part.boxes[1].push_back(piece.box);
    const test::TempDirectory folder;
    stage::Slot slot;
    sys::Crew crew(3, sys::own_cpus());
    slot.plan(schema, std::vector{part}, {}, 0, 1).value();
    slot.create(folder / "slot").value();
    const std::vector<char> direct(schema.variables.size(), 0);
    for (int save = 0; save < 2; ++save) {
        allocations = 0;
        CHECK(stage::sum_values(schema, binding, direct) != 0);
        slot.put(binding, direct, crew);
        CHECK(allocations == 0);
    }
    const std::vector<std::uint64_t> fewer{4000, 100};
    allocations = 0;
    slot.change_rows(fewer).value();
    CHECK(allocations == 0);
}

TEST_CASE("files of a snapshot: one a node and the manifest; of a session: one a slot, five small ones, a spool") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 2);
    test::with_threads(4, [&](std::unique_ptr<comm::Group> world) {
        const auto own = world->split(0);
        auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
        auto stream = session.stream("restart", {.slots = 2}).value();
        double time = 1;
        stream.replicated("time", &time).value();
        for (std::int64_t step = 1; step <= 5; ++step) stream.save(step).value();
        stream.wait_committed(std::chrono::seconds(60)).value();
        own->barrier();
        if (own->rank() == 0) {
            const auto staged = node::staging_directories(folder.path()).value();
            REQUIRE(staged.size() == 2);
            CHECK(names_in(staged[0]) == std::vector<std::string>{"agent.lock", "application.lock", "control",
                                                                  "restart.0.h5", "restart.1.h5", "session.json",
                                                                  "spool", "timings"});
        }
        own->barrier();
        session.close().value();
    });
    CHECK(names_in(folder / "run") == std::vector<std::string>{"forebay", "restart"});
    CHECK(names_in(folder / "run/restart") == std::vector<std::string>{"step-000003", "step-000004", "step-000005"});
    auto names = names_in(folder / "run/restart/step-000005");
    // An agent that was overtaken at its manifest leaves its files until `forebay recover` removes them.
    std::erase_if(names, [](const auto& name) { return name.starts_with('.'); });
    CHECK(names == std::vector<std::string>{"manifest.json", "node-00000.h5", "node-00001.h5"});
}
