// Saves the state of support/shared_state.hpp as an application would, for shared_test.py: make_shared BASE NODES
// RANKS. Three streams of BASE/run hold the same step 120: "files" as node files, "one" as a shared file, and "steps"
// as a table of its own, as H5Part readers expect.

#include <cstdio>
#include <cstdlib>

#include "support/sessions.hpp"
#include "support/shared_state.hpp"

using namespace forebay;

namespace {

void save_table(Session& session, comm::Group& world) {
    auto stream = session.stream("steps", {.keep = 0, .view = false, .file = TargetFile::shared_h5part()}).value();
    auto table = stream.particles("electrons", {{"x", f32}, {"id", i64}}).value();
    const auto rank = static_cast<std::uint32_t>(world.rank());
    std::vector<float> x(test::SharedState::rows_of(rank, 120));
    std::vector<std::int64_t> id(x.size());
    const auto first = test::SharedState::rows_before(rank, 120);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(first + i) * 0.25F;
        id[i] = static_cast<std::int64_t>(first + i);
    }
    table.bind(x.size(), {x.data(), id.data()}).value();
    stream.save(120).value();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) return std::fprintf(stderr, "usage: make_shared BASE NODES RANKS\n"), 2;
    const std::string base = arguments[1];
    Options options{.run = base + "/run", .staging = base};
    options.virtual_nodes = std::atoi(arguments[2]);
    options.agent.mode = AgentMode::thread;
    options.agent.block_bytes = 1u << 16;
    test::with_session(std::atoi(arguments[3]), options, [](Session& session, comm::Group& world) {
        for (const auto& file : {TargetFile::own(), TargetFile::shared()}) {
            const auto* name = file == TargetFile::own() ? "files" : "one";
            auto stream = session.stream(name, {.keep = 0, .view = false, .file = file}).value();
            test::SharedState(stream, world).save(120).value();
        }
        save_table(session, world);
    });
    return 0;
}
