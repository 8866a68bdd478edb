// Goal: with shared, the nodes of a save write one file in which each variable is one dataset: exactly that file comes
// to be, it holds every variable in its global order, verifies, and restarts on any number of ranks and nodes; also
// when rows change from save to save, and when everybody is killed and the agents come back. Method: virtual nodes,
// each with its own agent, over the real file system.

#include <doctest/doctest.h>

#include <unistd.h>
#include <algorithm>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "catalog/catalog.hpp"
#include "catalog/node_reader.hpp"
#include "format/shared.hpp"
#include "support/killable.hpp"
#include "support/sessions.hpp"
#include "support/shared_state.hpp"

using namespace forebay;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

using test::SharedState;

namespace {

const StreamOptions shared{.slots = 2, .keep = 0, .view = false, .shared = Shared::yes};

std::string directory_of(const std::string& run, std::int64_t step) {
    return run + "/restart/" + catalog::step_name(step);
}

std::set<std::string> files_of(const std::string& run, std::int64_t step) {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(directory_of(run, step)))
        names.insert(entry.path().filename());
    return names;
}

format::Manifest whole(const std::string& run, std::int64_t step) {
    const catalog::Snapshot snapshot{"restart", step, directory_of(run, step)};
    const auto verified = catalog::verify(sys::posix_store(), snapshot, {}).value();
    for (const auto& damage : verified.damage) FAIL_CHECK(damage.text);
    CHECK(verified.segments > 0);
    return catalog::load_manifest(sys::posix_store(), snapshot.directory).value();
}

// The bytes of a variable's dataset.
std::vector<std::byte> dataset(const std::string& run, std::int64_t step, const std::string& name,
                               std::uint64_t bytes) {
    const auto path = directory_of(run, step) + "/shared.h5";
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
            options.agent.direct = direct;
            options.agent.block_bytes = 1u << 16;  // many blocks, windows and stripes
            step += 2;
            save(options, 7, {step - 1, step});
            for (const auto each : {step - 1, step}) {
                CHECK(files_of(options.run, each) == std::set<std::string>{"manifest.json", "shared.h5"});
                const auto manifest = whole(options.run, each);
                CHECK(manifest.nodes.size() == static_cast<std::size_t>(nodes));
                CHECK(std::ranges::all_of(manifest.nodes, format::is_shared));
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
    whole(options.run, 7);
    const catalog::Snapshot snapshot{"restart", 7, directory_of(options.run, 7)};
    const auto path = snapshot.directory + "/shared.h5";
    const auto first = catalog::load_head(sys::posix_store(), path + "/node-00000").value();
    const auto head = catalog::load_head(sys::posix_store(), path + "/node-00001").value();
    struct Flip {
        std::uint64_t at;
        std::string variable;
    };
    std::vector<Flip> flips{{40, ""}, {4200, ""}, {8300, ""}, {head.record.group.offset_of(1) + 4200, ""}};
    for (std::size_t v = 0; v < head.extents.size(); ++v) {
        // Of a replicated variable only the first node's value is stored.
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
    for (const auto& [at, variable] : flips) {
        CAPTURE(at);
        CAPTURE(variable);
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        const auto flip = [&] {
            char byte = 0;
            file.seekg(static_cast<std::streamoff>(at)).get(byte);
            file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte ^ 1)).flush();
        };
        flip();
        const auto verified = catalog::verify(sys::posix_store(), snapshot, {}).value();
        REQUIRE(verified.damage.size() == 1);
        CHECK(verified.damage[0].file == path);
        CHECK(verified.damage[0].first_byte <= at);
        CHECK(verified.damage[0].last_byte >= at);
        CHECK(verified.damage[0].variable == variable);
        flip();
    }
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
    {
        test::Application application([&](const auto& tell) {
            test::with_threads(3, [&](std::unique_ptr<comm::Group> world) {
                const auto own = world->split(0);
                auto session = Session::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
                auto stream = session.stream("restart", shared).value();
                SharedState(stream, *own).save(5).value();
                while (!session.draining()) std::this_thread::sleep_for(1ms);
                own->barrier();
                if (own->rank() == 0) tell(5);
                own->barrier();
                for (;;) ::pause();
            });
        });
        application.hear();
    }
    test::kill_agents(options);
    CHECK_FALSE(fs::exists(directory_of(options.run, 5)));
    const auto directories = test::staged(options);
    REQUIRE(directories.size() == 3);
    test::forebay_command("drain " + directories.back(), 1);
    CHECK_FALSE(fs::exists(directory_of(options.run, 5)));
    const auto recovered = test::forebay_command("recover " + options.run, 1);
    CHECK_MESSAGE(recovered.find("1 of 3 node files have arrived") != std::string::npos, recovered);
    test::forebay_command("drain all --staging " + folder.path());
    CHECK(files_of(options.run, 5) == std::set<std::string>{"manifest.json", "shared.h5"});
    CHECK(whole(options.run, 5).nodes.size() == 3);
    check_datasets(options.run, 5, 3);
}

TEST_CASE("h5part is for one table, and says so") {
    const test::TempDirectory folder;
    test::with_session(2, test::options_in(folder, 2), [&](Session& session, comm::Group& world) {
        auto stream = session.stream("restart", {.keep = 0, .shared = Shared::h5part}).value();
        const auto saved = SharedState(stream, world).save(1);
        REQUIRE_FALSE(saved);
        CHECK(saved.error().kind == ErrorKind::refused);
        CHECK(saved.error().text().find("one particle table, this one has 2") != std::string::npos);
    });
}
