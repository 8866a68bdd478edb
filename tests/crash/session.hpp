// A session of a World's run, played by scripts. stage::Course computes the lineage of its saves.

#pragma once

#include <cstdint>
#include <limits>

#include "crash/world.hpp"
#include "path/stage/lineage_policy.hpp"

namespace forebay::crash {

class Session {
public:
    explicit Session(World& world, std::uint32_t number = first_session)
        : world_(world), number_(number), lineage_(number) {}
    /// A new session. If the claim was cut, it has number 0 and no effect.
    static Session begin(World& world) { return Session(world, world.claim().value_or(0)); }

    /// Goes on from the newest snapshot below the step.
    void restart(std::int64_t below = std::numeric_limits<std::int64_t>::max()) {
        const auto newest = world_.newest(below);
        if (newest) lineage_.chose(newest->step, newest->lineage.lines);
        else lineage_.chose_nothing();
    }
    void begin_anew() { lineage_.chose_nothing(); }

    /// Saves and returns the saved snapshot.
    test::SmallSnapshot save(std::int64_t step, std::uint32_t nodes = 1, int slot = 0, std::uint32_t per_file = 1) {
        const auto id = world_.new_id();
        test::SmallSnapshot snapshot{.id = id,
                                     .step = step,
                                     .nodes = nodes,
                                     .elements_per_rank = 8,
                                     .sealed_unix_ns = world_.time_of(id),
                                     .nodes_per_file = per_file,
                                     .lineage = {world_.run_id(), ++saves_, lineage_.lines_of(step)}};
        lineage_.saved(step);
        world_.save(snapshot, slot);
        return snapshot;
    }
    void drain(const test::SmallSnapshot& snapshot, int slot = 0) {
        for (std::uint32_t node = 0; node < snapshot.nodes; ++node) world_.drain(snapshot, node, slot);
    }
    test::SmallSnapshot commit(std::int64_t step, std::uint32_t nodes = 1) {
        auto snapshot = save(step, nodes);
        drain(snapshot);
        world_.commit(snapshot);
        return snapshot;
    }
    void end() { world_.end_run_lock(number_); }

private:
    World& world_;
    std::uint32_t number_;
    std::uint64_t saves_ = 0;
    stage::LineagePolicy lineage_;
};

}  // namespace forebay::crash
