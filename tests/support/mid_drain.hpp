// An application that is killed while its agents drain, and what `forebay drain` and `forebay recover` do then. For
// doctest programs.

#pragma once

#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "support/killable.hpp"
#include "support/row_rank.hpp"
#include "support/thread_group.hpp"

namespace forebay::test {

/// A forked process whose ranks are threads. When the constructor returns, they have saved `step`, and the agent of
/// every node drains it. They wait to be killed, at the latest by the destructor. Give the options a rate that is low
/// enough to kill the drain halfway.
class MidDrain {
public:
    static constexpr std::int64_t step = 5;
    /// Each rank calls this after its save.
    using Stay = std::function<void(const Session&)>;
    /// Opens a session over the group and saves `step`. Its captures live as long as the process.
    using Save = std::function<void(std::unique_ptr<comm::Group>, const Stay&)>;

    MidDrain(int ranks, const Save& save)
        : application_([&](const Application::Tell& tell) { save_and_stay(ranks, save, tell); }) {
        CHECK(application_.hear() == step);
    }
    /// Each rank saves its row.
    MidDrain(int ranks, const Options& options, const StreamOptions& stream = {.keep = 0})
        : MidDrain(ranks, [&](std::unique_ptr<comm::Group> world, const Stay& stay) {
              RowRank here(std::move(world), options, stream);
              here.save(step).value();
              stay(here.session);
          }) {}

private:
    static void save_and_stay(int ranks, const Save& save, const Application::Tell& tell) {
        with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            const auto own = world->split(0);
            save(std::move(world), [&](const Session& session) {
                while (!session.draining()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                own->barrier();
                if (own->rank() == 0) tell(step);
                for (;;) ::pause();
            });
        });
    }

    Application application_;
};

/// Kills the application and all agents.
inline void kill_mid_drain(const Options& options, int ranks, const MidDrain::Save& save) {
    { const MidDrain killed(ranks, save); }
    kill_agents(options);
}

/// Call it after kill_mid_drain(). `forebay drain` of one node must leave the snapshot's `directory` absent, and
/// recover must report that 1 of `nodes` has arrived. Then `forebay drain all` commits the snapshot.
inline void drain_one_node_then_all(const Options& options, std::size_t nodes, const std::string& directory) {
    CHECK_FALSE(std::filesystem::exists(directory));
    const auto directories = staged(options);
    REQUIRE(directories.size() == nodes);
    forebay_command("drain " + directories.back(), 1);
    CHECK_FALSE(std::filesystem::exists(directory));
    const auto recovered = forebay_command("recover " + options.run, 1);
    const auto wanted = "1 of " + std::to_string(nodes) + " node files have arrived";
    CHECK_MESSAGE(recovered.find(wanted) != std::string::npos, recovered);
    forebay_command("drain all --staging " + options.staging);
    CHECK(std::filesystem::exists(directory));
}

}  // namespace forebay::test
