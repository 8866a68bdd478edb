// Goal: with "shared" the nodes of a save write one file in which each variable is one dataset. Exactly that file
// appears, it holds every variable in its global order, verifies, and restarts on any number of ranks and nodes. This
// also holds if rows change from save to save, and if everything is killed and the agents come back. Method: virtual
// nodes, each with its own agent, over the real file system.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/format/shared.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/node_reader.hpp"
#include "support/mid_drain.hpp"
#include "support/sessions.hpp"
#include "support/shared_state.hpp"
#include "support/stored_step.hpp"

using namespace forebay;
using namespace std::chrono_literals;

using test::SharedState;
using test::StoredStep;

namespace {

const StreamOptions shared{.slots = 2, .keep = 0, .view = false, .file = TargetFile::shared()};

// The bytes of a variable's dataset.
std::vector<std::byte> dataset(const std::string& run, std::int64_t step, const std::string& name,
                               std::uint64_t bytes) {
    const auto path = StoredStep{run, step}.directory() + "/shared.h5";
    const auto head = catalog::load_head(sys::posix_store(), path + "/node-00000").value();
    const auto at = std::ranges::find(head.schema.variables, name, &Variable::name);
    REQUIRE(at != head.schema.variables.end());
    const auto v = static_cast<std::size_t>(at - head.schema.variables.begin());
    std::vector<std::byte> data(bytes);
    auto file = sys::posix_store().open(path, sys::Access::read).value();
    file->read(head.extents[v].shared_offset_bytes, data).value();
    return data;
}

template <class T>
T at(const std::vector<std::byte>& data, std::uint64_t i) {
    return load_le<T>(data.data() + i * sizeof(T));
}

void check_datasets(const std::string& run, std::int64_t step, std::uint32_t ranks) {
    const auto elements = SharedState::rows * SharedState::columns;
    const auto slabs = dataset(run, step, "fields/slabs", elements * 8);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < elements; ++i) wrong += at<double>(slabs, i) != SharedState::value(i, step);
    const auto boxes = dataset(run, step, "fields/boxes", volume(SharedState::boxes_shape) * 4);
    for (std::uint64_t i = 0; i < volume(SharedState::boxes_shape); ++i)
        wrong += at<float>(boxes, i) != static_cast<float>(i) + 0.5F;
    const auto rows = SharedState::rows_before(ranks, step);
    const auto id = dataset(run, step, "gas/id", rows * 8);
    const auto name = dataset(run, step, "gas/name", rows * 5);
    for (std::uint64_t i = 0; i < rows; ++i) {
        wrong += at<std::int64_t>(id, i) != static_cast<std::int64_t>(i);
        wrong += at<std::array<char, 5>>(name, i) != SharedState::name_of(i);
    }
    CHECK(wrong == 0);
}

void save(const Options& options, int ranks, const std::vector<std::int64_t>& steps) {
    test::with_session(ranks, options, [&](Session& session, comm::Group& world) {
        auto stream = session.stream("restart", shared).value();
        SharedState state(stream, world);
        for (const auto step : steps) CHECK(state.save(step).value().kept);
    });
}

}  // namespace

TEST_CASE("one file of global datasets, from any number of nodes, and restarts on others") {
    const test::TempDirectory folder;
    std::int64_t step = 0;
    for (const int nodes : {1, 2, 3, 5}) {
        for (const bool direct : {false, true}) {
            CAPTURE(nodes);
            CAPTURE(direct);
            auto options = test::options_in(folder, nodes);
            options.agent.direct = direct ? Direct::yes : Direct::no;
            options.agent.block_bytes = 1u << 16;  // many blocks, windows and stripes
            step += 2;
            save(options, 7, {step - 1, step});
            for (const auto each : {step - 1, step}) {
                const StoredStep stored{options.run, each};
                CHECK(stored.files() == std::set<std::string>{"shared.h5"});
                const auto manifest = stored.whole();
                CHECK(manifest.nodes.size() == static_cast<std::size_t>(nodes));
                CHECK(std::ranges::all_of(manifest.nodes,
                                          [](const auto& line) { return line.form == format::FormKind::shared; }));
                check_datasets(options.run, each, 7);
            }
        }
        for (const int readers : {1, 3, 7, 8})
            test::with_session(readers, test::options_in(folder, readers == 7 ? 2 : 1),
                               [&](Session& session, comm::Group& world) {
                                   auto stream = session.stream("restart").value();
                                   CHECK(SharedState(stream, world).check_restart(step) == "");
                               });
    }
}

TEST_CASE("damage in data, in a head, in the page and in what HDF5 sees is found and told with its place") {
    const test::TempDirectory folder;
    const auto options = test::options_in(folder, 3);
    save(options, 5, {7});
    const StoredStep stored{options.run, 7};
    stored.whole();
    const auto path = stored.directory() + "/shared.h5";
    const auto first = catalog::load_head(sys::posix_store(), path + "/node-00000").value();
    const auto head = catalog::load_head(sys::posix_store(), path + "/node-00001").value();
    struct Flip {
        std::uint64_t at;
        std::string variable;
    };
    std::vector<Flip> flips{{40, ""}, {4200, ""}, {8300, ""}, {format::region_offset(head.record.form, 1) + 4200, ""}};
    for (std::size_t v = 0; v < head.extents.size(); ++v) {
        // A replicated variable has only the first node's value.
        const auto& of = head.schema.variables[v].kind == Kind::replicated ? first : head;
        if (of.extents[v].used_bytes == 0) continue;
        const auto& block = of.blocks[of.first_block[v + 1] - 1];
        if (block.size_bytes == 0) continue;
        std::uint64_t last = 0;
        format::for_each_stretch(of, block.offset_bytes, block.size_bytes, [&](const format::Stretch& stretch) {
            last = stretch.offset + stretch.bytes - 1;
            return true;
        });
        flips.push_back({last, head.schema.variables[v].name});
    }
    CHECK(flips.size() >= 8);
    for (const auto& [at, variable] : flips) stored.check_flip(path, at, variable);
    CHECK(catalog::load_head(sys::posix_store(), path).error().text().find("/node-00000") != std::string::npos);
    CHECK(catalog::load_head(sys::posix_store(), path + "/node-00003").error().kind == ErrorKind::missing);
}

TEST_CASE("agents killed while they write one file: the next ones write what is missing, and commit") {
    const test::TempDirectory folder;
    auto options = test::options_in(folder, 3);
    options.agent.mode = AgentMode::process;
    options.agent.rate_bytes_per_second = 300'000;
    options.agent.block_bytes = 1u << 16;
    options.close_wait = 60s;
    test::kill_mid_drain(options, 3, [&](std::unique_ptr<comm::Group> world, const auto& stay) {
        const auto own = world->split(0);
        auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
        auto stream = session.stream("restart", shared).value();
        SharedState state(stream, *own);
        state.save(test::MidDrain::step).value();
        stay(session);
    });
    const StoredStep stored{options.run, test::MidDrain::step};
    test::drain_one_node_then_all(options, 3, stored.directory());
    CHECK(stored.files() == std::set<std::string>{"shared.h5"});
    CHECK(stored.whole().nodes.size() == 3);
    check_datasets(options.run, stored.step, 3);
}

TEST_CASE("h5part is for one table, and says so") {
    const test::TempDirectory folder;
    test::with_session(2, test::options_in(folder, 2), [&](Session& session, comm::Group& world) {
        auto stream = session.stream("restart", {.keep = 0, .file = TargetFile::shared_h5part()}).value();
        const auto saved = SharedState(stream, world).save(1);
        REQUIRE_FALSE(saved);
        CHECK(saved.error().kind == ErrorKind::refused);
        CHECK(saved.error().text().find("one particle table, but this stream has 2") != std::string::npos);
    });
}
