// One session: saves, drains, commits, replacements, retention and recovery.

#include <random>

#include "crash/enumerate.hpp"
#include "crash/session.hpp"

namespace forebay::crash {

namespace {

void one_node(World& world) { Session(world).commit(10); }

// The agent of each node tries to commit, since it may be the last.
void commit_node_by_node(World& world, const test::SmallSnapshot& snapshot) {
    for (const std::uint32_t node : {1u, 2u, 0u}) {
        world.drain(snapshot, node);
        world.commit(snapshot);
    }
}

void nodes(World& world) { commit_node_by_node(world, Session(world).save(10, 3)); }

// Three nodes in two files, the last file with only one node; and three nodes in one file.
void combined(World& world) {
    Session session(world);
    for (const std::uint32_t per_file : {2u, 4u})
        commit_node_by_node(world, session.save(10 * per_file, 3, 0, per_file));
}

// Three nodes in one file of global datasets. Their rows and slabs meet within pages.
void shared(World& world) { commit_node_by_node(world, Session(world).save(10, 3, 0, test::all_in_one)); }

void replacement(World& world) {
    Session session(world);
    session.commit(10, 1);
    session.commit(10, 2);
}

// Saves from before sessions had numbers: only clocks show the later save.
void replacement_without_lines(World& world) {
    for (const std::uint32_t nodes : {1u, 2u}) {
        const test::SmallSnapshot snapshot{.id = world.new_id(),
                                           .step = 10,
                                           .nodes = nodes,
                                           .elements_per_rank = 8,
                                           .sealed_unix_ns = 1'700'000'000'000'000'000 + 1000 * nodes,
                                           .lineage = {.run_id = world.run_id()}};
        world.save(snapshot);
        for (std::uint32_t node = 0; node < nodes; ++node) world.drain(snapshot, node);
        world.commit(snapshot);
    }
}

void retention(World& world) {
    Session session(world);
    for (const std::int64_t step : {10, 20, 30, 40}) {
        session.commit(step);
        world.prune({.keep = 2});
    }
}

void replacement_and_retention(World& world) {
    Session session(world);
    for (const std::int64_t step : {10, 10, 20}) session.commit(step);
    world.prune({.keep = 1});
}

// Marks before and after the commit, then an unmarked save of the step, and retention.
void marks(World& world) {
    Session session(world);
    const auto early = session.save(10, 2);
    world.drain(early, 0);
    world.mark(early);
    world.drain(early, 1);
    world.commit(early);
    const auto late = session.commit(20);
    world.mark(late);
    session.commit(20);
    for (const std::int64_t step : {30, 40}) world.mark(session.commit(step));
    world.prune({.keep = 1});
}

// The earlier save of a step becomes complete after the commit of the later one.
void late_comer(World& world) {
    Session session(world);
    const auto earlier = session.save(10, 2, 0), later = session.save(10, 1, 1);
    world.drain(earlier, 0, 0);
    session.drain(later, 1);
    world.commit(later);
    world.drain(earlier, 1, 0);
    world.commit(earlier);
}

void recovery(World& world) {
    Session session(world);
    session.commit(10);
    const auto half = session.save(20, 2, 0);
    world.drain(half, 1, 0);
    session.drain(session.save(10, 1, 1), 1);
    world.recover(false);
    world.recover(true);
}

// Any order of acts that a session, its agents and a user can cause. Slots are reused only after a commit.
void anything(World& world, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Session session(world);
    for (int slot = 0; slot < 5; ++slot) {
        const auto step = 10 * static_cast<std::int64_t>(1 + random() % 3);
        const auto nodes = 1 + static_cast<std::uint32_t>(random() % 2);
        // 0 nodes per file selects one shared file.
        const auto snapshot = session.save(step, nodes, slot, static_cast<std::uint32_t>(random() % 3));
        const auto drained = random() % 4;
        for (std::uint32_t node = 0; node < snapshot.nodes; ++node)
            if (drained != 0 || node == 0) world.drain(snapshot, node, slot);
        if (random() % 4 == 0) world.mark(snapshot);
        if (random() % 4 != 0) world.commit(snapshot);
        if (random() % 4 == 0) world.mark(snapshot);
        if (random() % 3 == 0) world.prune({.keep = 1 + static_cast<int>(random() % 2)});
        if (random() % 4 == 0) world.recover(false);
        if (random() % 4 == 0) world.take_over();
    }
}

}  // namespace

std::vector<Script> scripts(std::uint64_t seed) {
    const auto any = [seed](World& world) { anything(world, seed); };
    std::vector<Script> all{{"one node", one_node},
                            {"three nodes", nodes},
                            {"combined files", combined},
                            {"shared file", shared},
                            {"replacement", replacement},
                            {"replacement without lines", replacement_without_lines},
                            {"retention", retention},
                            {"replacement and retention", replacement_and_retention},
                            {"marks", marks},
                            {"late comer", late_comer},
                            {"recovery", recovery},
                            {"anything", any},
                            {"anything, with faults", any, true}};
    for (auto& script : scripts_of_lines(seed)) all.push_back(std::move(script));
    return all;
}

}  // namespace forebay::crash
