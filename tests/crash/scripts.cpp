#include <fmt/format.h>

#include <random>

#include "crash/enumerate.hpp"

namespace forebay::crash {

namespace {

using test::SmallSnapshot;

// The `number`-th save of a script: later than those before it.
SmallSnapshot save_number(std::uint64_t number, std::int64_t step, std::uint32_t nodes) {
    return {.id = 0x100 + number,
            .step = step,
            .nodes = nodes,
            .elements_per_rank = 8,
            .sealed_unix_ns = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(number) * 1000};
}

void drain_all(World& world, const SmallSnapshot& snapshot, int slot = 0) {
    for (std::uint32_t node = 0; node < snapshot.nodes; ++node) world.drain(snapshot, node, slot);
}

void save_and_commit(World& world, const SmallSnapshot& snapshot) {
    world.save(snapshot);
    drain_all(world, snapshot);
    world.commit(snapshot);
}

// Each node's agent looks whether it was the last.
void nodes(World& world) {
    const auto snapshot = save_number(0, 10, 3);
    world.save(snapshot);
    for (const std::uint32_t node : {1u, 2u, 0u}) {
        world.drain(snapshot, node);
        world.commit(snapshot);
    }
}

// Three nodes in two files, of which the last is of one node alone; and all three in one.
void combined(World& world) {
    for (const std::uint32_t per_file : {2u, 4u}) {
        auto snapshot = save_number(per_file, 10 * per_file, 3);
        snapshot.nodes_per_file = per_file;
        world.save(snapshot);
        for (const std::uint32_t node : {1u, 2u, 0u}) {
            world.drain(snapshot, node);
            world.commit(snapshot);
        }
    }
}

// Three nodes, whose rows and slabs meet within pages, in one file of global datasets.
void shared(World& world) {
    auto snapshot = save_number(3, 10, 3);
    snapshot.nodes_per_file = format::in_shared_file;
    world.save(snapshot);
    for (const std::uint32_t node : {1u, 2u, 0u}) {
        world.drain(snapshot, node);
        world.commit(snapshot);
    }
}

void replacement(World& world) {
    save_and_commit(world, save_number(0, 10, 1));
    save_and_commit(world, save_number(1, 10, 2));
}

void retention(World& world) {
    for (std::uint64_t number = 0; number < 4; ++number) {
        save_and_commit(world, save_number(number, 10 * static_cast<std::int64_t>(number + 1), 1));
        world.prune(2);
    }
}

void replacement_and_retention(World& world) {
    save_and_commit(world, save_number(0, 10, 1));
    save_and_commit(world, save_number(1, 10, 1));
    save_and_commit(world, save_number(2, 20, 1));
    world.prune(1);
}

// The earlier save of a step is complete only after the later one is committed.
void late_comer(World& world) {
    const auto earlier = save_number(0, 10, 2), later = save_number(1, 10, 1);
    world.save(earlier, 0);
    world.drain(earlier, 0, 0);
    world.save(later, 1);
    world.drain(later, 0, 1);
    world.commit(later);
    world.drain(earlier, 1, 0);
    world.commit(earlier);
}

void recovery(World& world) {
    const auto half = save_number(1, 20, 2), whole = save_number(2, 10, 1);
    save_and_commit(world, save_number(0, 10, 1));
    world.save(half, 0);
    world.drain(half, 1, 0);
    world.save(whole, 1);
    world.drain(whole, 0, 1);
    world.recover(false);
    world.recover(true);
}

// Any acts in any order that a session, its agents and a user can bring about. Slots are reused only after a commit.
void anything(World& world, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::uint64_t number = 0; number < 5; ++number) {
        auto snapshot = save_number(number, 10 * static_cast<std::int64_t>(1 + random() % 3),
                                    1 + static_cast<std::uint32_t>(random() % 2));
        snapshot.nodes_per_file = static_cast<std::uint32_t>(random() % 3);  // 0: in one shared file
        const int slot = static_cast<int>(number);
        world.save(snapshot, slot);
        const auto drained = random() % 4;
        for (std::uint32_t node = 0; node < snapshot.nodes; ++node)
            if (drained != 0 || node == 0) world.drain(snapshot, node, slot);
        if (random() % 4 != 0) world.commit(snapshot);
        if (random() % 3 == 0) world.prune(1 + static_cast<int>(random() % 2));
        if (random() % 4 == 0) world.recover(false);
        if (random() % 4 == 0) world.take_over();
    }
}

}  // namespace

std::vector<Script> scripts(std::uint64_t seed) {
    const auto any = [seed](World& world) { anything(world, seed); };
    return {{"one node", [](World& world) { save_and_commit(world, save_number(0, 10, 1)); }},
            {"three nodes", nodes},
            {"combined files", combined},
            {"shared file", shared},
            {"replacement", replacement},
            {"retention", retention},
            {"replacement and retention", replacement_and_retention},
            {"late comer", late_comer},
            {"recovery", recovery},
            {"anything", any},
            {"anything, with faults", any, true}};
}

}  // namespace forebay::crash
