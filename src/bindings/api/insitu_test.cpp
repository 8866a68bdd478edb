// Goal: analyses beside the simulation give the same bits as `forebay insitu` afterwards, for any number of ranks and
// nodes, and with an agent thread or process. They cost the run nothing else: a worker that cannot be started is
// counted, and nothing more happens. Method: virtual nodes over the real file system; results of all runs are compared
// with each other and with the program's.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>

#include "core/describe/geometry.hpp"
#include "core/format/packed.hpp"
#include "support/insitu_results.hpp"
#include "support/sessions.hpp"
#include "support/soon.hpp"
#include "support/staging_of.hpp"

using namespace forebay;
using test::Results;
using test::results_in;

namespace {

constexpr std::uint64_t planes = 12, rows = 8, columns = 20, particles = 900;
constexpr int last_step = 6;

constexpr const char* analyses = R"(
[streams.fields]
slots = 2
keep = 0
view = false

[streams.fields.insitu.means]
kind = "statistics"
variables = ["t", "gas/x"]

[streams.fields.insitu.counts]
kind = "histogram"
variables = ["t"]
bins = 32
every = 2

[streams.fields.insitu.cut]
kind = "slice"
variables = ["t"]
axis = 1

[streams.fields.insitu.sky]
kind = "density"
variables = ["gas/x", "gas/y", "gas/z"]
length = [4.0]
pixels = 64

[streams.fields.insitu.power]
kind = "spectrum"
variables = ["t"]

[streams.fields.insitu.groups]
kind = "halos"
variables = ["gas/x", "gas/y", "gas/z"]
length = [4.0]
members = 8
)";

double value_of(std::uint64_t i, std::int64_t step) {
    return static_cast<double>((i * 2654435761U + static_cast<std::uint64_t>(step) * 97) % 10007) / 100.0 - 20;
}

class Waves {
public:
    Waves(Stream& stream, comm::Group& world) : stream_(stream) {
        const auto rank = static_cast<std::uint32_t>(world.rank()), ranks = static_cast<std::uint32_t>(world.size());
        const auto share = balanced_share(rows, rank, ranks);
        box_ = {{0, share.first, 0}, {planes, share.count, columns}};
        t_.resize(volume(box_.size));
        stream.array("t", f64, {planes, rows, columns}, {packed(box_, t_.data())}, {.unit = "K"}).value();
        own_ = balanced_share(particles, rank, ranks);
        for (auto& axis : position_) axis.resize(own_.count);
        gas_.emplace(stream.particles("gas", {{"x", f32}, {"y", f32}, {"z", f32}}).value());
    }

    Saved save(std::int64_t step) {
        std::size_t i = 0;
        for (std::uint64_t z = 0; z < planes; ++z)
            for (std::uint64_t y = 0; y < box_.size[1]; ++y)
                for (std::uint64_t x = 0; x < columns; ++x)
                    t_[i++] = value_of((z * rows + box_.lo[1] + y) * columns + x, step);
        for (std::uint64_t p = 0; p < own_.count; ++p)
            for (std::uint64_t axis = 0; axis < 3; ++axis)
                position_[axis][p] =
                    static_cast<float>((value_of(3 * ((own_.first + p) / 5) + axis, step) + 20) / 25.02 * 0.99 +
                                       0.001 * static_cast<double>(p % 5));
        gas_->bind(own_.count, {position_[0].data(), position_[1].data(), position_[2].data()}).value();
        return stream_.save(step, 0.5 * static_cast<double>(step)).value();
    }

private:
    Stream& stream_;
    Box box_;
    RowRange own_;
    std::vector<double> t_;
    std::array<std::vector<float>, 3> position_;
    std::optional<Particles> gas_;
};

std::string configuration_in(const test::TempDirectory& folder) {
    const auto path = folder / "forebay.toml";
    std::ofstream(path) << analyses;
    return path;
}

Options options_of(const test::TempDirectory& folder, const std::string& run, int nodes) {
    auto options = load_options(configuration_in(folder)).value();
    const auto own = test::options_in(folder, nodes, run);
    options.run = own.run;
    options.staging = own.staging;
    options.virtual_nodes = nodes;
    options.agent.mode = AgentMode::thread;
    return options;
}

// So no save takes a slot from its analysis.
void wait_for_means(const std::string& run, std::int64_t step) {
    const auto path = run + "/fields.means/" + catalog::step_name(step);
    CHECK(test::soon([&] { return sys::posix_store().exists(path).value(); }));
}

Counters save_all(const Options& options, int ranks, bool waits = true) {
    Counters counters;
    test::with_session(ranks, options, [&](Session& session, comm::Group& world) {
        auto stream = session.stream("fields").value();
        Waves waves(stream, world);
        for (std::int64_t step = 1; step <= last_step; ++step) {
            CHECK(waves.save(step).kept);
            if (waits && world.rank() == 0) wait_for_means(options.run, step);
            world.barrier();
        }
        if (!waits) CHECK(test::soon([&] { return stream.counters().not_analysed == last_step; }));
        if (world.rank() == 0) counters = stream.counters();
    });
    return counters;
}

Results afterwards(const test::TempDirectory& folder, const std::string& run) {
    return test::results_afterwards(configuration_in(folder), run, "fields", folder.path());
}

}  // namespace

TEST_CASE("the same bits beside the simulation and afterwards, on any ranks and nodes") {
    Results first;
    for (const int ranks : {1, 3, 5}) {
        const int nodes = (ranks + 1) / 2;
        INFO("ranks " << ranks << ", nodes " << nodes);
        const test::TempDirectory folder;
        const auto options = options_of(folder, "run", nodes);
        save_all(options, ranks);
        const auto results = results_in(options.run, "fields");
        // Six steps with six analyses each, one of them at every second step. A save that needs a slot may cost an
        // analysis, but here none does.
        std::size_t means = 0;
        for (const auto& [name, bytes] : results) means += name.ends_with(" t/mean") ? 1 : 0;
        CHECK(means == last_step);
        CHECK(results == afterwards(folder, options.run));
        if (first.empty()) first = results;
        CHECK(results == first);
    }
}

TEST_CASE("an agent that is a process analyses as one that is a thread, and packs its pictures") {
    const test::TempDirectory folder;
    auto options = options_of(folder, "run", 1);
    options.agent.mode = AgentMode::process;
    save_all(options, 2);
    CHECK(results_in(options.run, "fields") == afterwards(folder, options.run));
    const auto packed = catalog::streams(sys::posix_store(), options.run).value();
    CHECK(std::ranges::any_of(packed, [](const auto& name) { return name.starts_with(format::packed_prefix); }));
}

TEST_CASE("a worker that cannot be started costs the analyses alone, and each is counted") {
    const test::TempDirectory folder;
    auto options = options_of(folder, "run", 1);
    options.agent.program = "/nowhere/forebay";
    const auto counters = save_all(options, 2, false);
    CHECK(counters.not_analysed == last_step);
    CHECK(counters.aborts == 0);
    CHECK(test::committed(options, "fields").size() == last_step);
    CHECK(results_in(options.run, "fields").empty());
}

TEST_CASE("each snapshot has its results or is counted, with one slot and two, and a thread or a process") {
    for (const auto mode : {AgentMode::thread, AgentMode::process})
        for (const int slots : {1, 2}) {
            CAPTURE(static_cast<int>(mode));
            CAPTURE(slots);
            const test::TempDirectory folder;
            auto options = options_of(folder, "run", 1);
            options.agent.mode = mode;
            options.agent.linger = std::chrono::milliseconds(0);
            for (auto& [name, stream] : options.streams) stream.slots = slots;
            const auto directory = test::staging_of(options);
            std::optional<Stream> kept;
            test::with_session(2, options, [&](Session& session, comm::Group& world) {
                auto stream = session.stream("fields").value();
                Waves waves(stream, world);
                for (std::int64_t step = 1; step <= last_step; ++step) CHECK(waves.save(step).kept);
                if (world.rank() == 0) kept = stream;
            });
            // An agent process goes on after the session, and then frees the staged snapshots.
            CHECK(test::soon([&] { return !std::filesystem::exists(directory); }));
            CHECK(test::result_steps(options.run, "fields.means").size() + kept->counters().not_analysed == last_step);
            CHECK(test::result_steps(options.run, "fields.means").contains(last_step));
            const auto all = afterwards(folder, options.run);
            for (const auto& [name, bytes] : results_in(options.run, "fields"))
                CHECK_MESSAGE(all.at(name) == bytes, name);
        }
}
