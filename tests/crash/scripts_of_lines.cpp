// Sessions one after another. The second goes on, goes back, starts from the beginning, or comes before the first is
// drained. Users remove lines, sessions claim at once, packers want the same step, and another run takes the name.

#include <optional>
#include <random>

#include "crash/enumerate.hpp"
#include "crash/session.hpp"

namespace forebay::crash {

namespace {

using Steps = std::vector<std::int64_t>;

void commit_all(Session& session, const Steps& steps) {
    for (const auto step : steps) session.commit(step);
}

void first_session_saves(World& world, const Steps& steps) {
    Session first(world);
    commit_all(first, steps);
    first.end();
}

void going_on(World& world) {
    first_session_saves(world, {10, 20});
    auto second = Session::begin(world);
    second.restart();
    commit_all(second, {30, 30});
    world.prune({.keep = 1});
}

// Saves the same steps again, with recover between them.
void going_back(World& world) {
    first_session_saves(world, {10, 20, 30});
    auto second = Session::begin(world);
    second.restart(20);
    second.commit(20);
    world.recover(false);
    commit_all(second, {20, 30});
    world.prune({.keep = 2});
}

// A session goes back behind its own saves while an agent still holds one of them.
void going_back_within_a_session(World& world) {
    Session session(world);
    commit_all(session, {10, 20});
    const auto late = session.save(30, 1, 1);
    session.restart(20);
    session.commit(20);
    session.drain(late, 1);
    world.commit(late);
    world.prune({.keep = 2});
}

void beginning_anew(World& world) {
    first_session_saves(world, {10, 20});
    auto second = Session::begin(world);
    second.begin_anew();
    second.commit(10);
    auto third = Session::begin(world);  // a session that saves without a restart
    third.commit(10);
}

// The agents drain two leftovers of the first session after the saves of the second: a step that both sessions saved,
// and a step between.
void leftovers(World& world) {
    Session first(world);
    first.commit(10);
    const auto same = first.save(20, 2, 1), between = first.save(25, 1, 2);
    world.drain(same, 1, 1);
    auto second = Session::begin(world);
    second.restart();
    commit_all(second, {20, 30});
    world.drain(same, 0, 1);
    world.commit(same);
    first.drain(between, 2);
    world.commit(between);
    world.take_over();
}

void retention_of_lines(World& world) {
    first_session_saves(world, {10, 20, 30});
    auto second = Session::begin(world);
    second.restart(20);
    for (const std::int64_t step : {20, 30}) {
        second.commit(step);
        world.prune({.keep = 1, .keep_abandoned = step == 20 ? 1 : 0, .keep_also = step});
    }
}

// Every snapshot is marked, and the next session starts from the beginning.
void marks_on_everything(World& world) {
    Session first(world);
    for (const std::int64_t step : {10, 20}) world.mark(first.commit(step));
    first.end();
    auto second = Session::begin(world);
    second.begin_anew();
    for (const std::int64_t step : {1, 2}) {
        world.mark(second.commit(step));
        world.prune({.keep = 1, .keep_also = step});
    }
    second.commit(3);
    world.prune({.keep = 1, .keep_also = 3});
}

void going_back_for_good(World& world) {
    Session first(world);
    commit_all(first, {10, 20});
    const auto late = first.save(30, 1, 1);
    world.prune_above(10);
    first.drain(late, 1);
    world.commit(late);
    auto second = Session::begin(world);
    second.restart();
    second.commit(20);
}

// The second line is dropped. The first becomes the current line, and a third session goes on from it.
void dropping(World& world) {
    first_session_saves(world, {10, 20});
    auto second = Session::begin(world);
    second.restart(20);
    commit_all(second, {20, 30});
    const auto late = second.save(40, 1, 1);
    world.prune_line({2, 0});
    second.drain(late, 1);
    world.commit(late);
    world.recover(false);
    auto third = Session::begin(world);
    third.restart();
    third.commit(30);
}

// A claim is slow before each of its operations, while another session claims and ends.
void claims(World& world) {
    constexpr int operations_of_a_claim = 16;
    for (int at = 0; at < operations_of_a_claim; ++at) world.claim_around(at);
    Session::begin(world).end();
    Session::begin(world);
}

// The packers of two hosts want the same step, after a batch with a clock far ahead.
void packers(World& world) {
    constexpr std::int64_t ahead = 9'000'000'000'000;
    world.put("a", "log/1");
    world.begin_batch("a", ahead);
    world.finish_batch("a");
    world.put("a", "log/1");
    world.put("a", "log/2");
    world.put("b", "log/2");
    world.begin_batch("a");
    world.begin_batch("b");
    world.finish_batch("b");
    world.finish_batch("a");
}

// Another run takes the name after the agent has checked the identity and before it drains.
void another_run(World& world) {
    Session first(world);
    first.commit(10);
    const auto held = first.save(20, 1, 1);
    world.replace_run();
    world.drain(held, 0, 1, true);
    world.commit(held);
    auto second = Session::begin(world);
    second.commit(10);
    world.take_over();
}

// Sessions go on, go back or start from the beginning. Their saves are drained now, later or never.
void any_sessions(World& world, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto session = std::make_optional<Session>(world);
    for (int slot = 0; slot < 5; ++slot) {
        const auto newest = world.newest(100);
        const auto base = newest ? newest->step : 0;
        const auto choice = random() % 6;
        if (choice < 3 && slot > 0) {
            session.emplace(Session::begin(world));
            if (choice == 0) session->begin_anew();
            else session->restart(choice == 1 ? 100 : base);
        } else if (choice == 3) {
            session->restart(base);
        }
        const auto again = world.newest(choice == 2 || choice == 3 ? base : 100);
        const auto snapshot = session->save(choice == 0 ? 10 : (again ? again->step : 0) + 10,
                                            1 + static_cast<std::uint32_t>(random() % 2), slot);
        if (random() % 4 != 0) session->drain(snapshot, slot);
        if (random() % 4 != 0) world.commit(snapshot);
        if (random() % 4 == 0)
            world.prune(
                {.keep = 1 + static_cast<int>(random() % 2), .keep_abandoned = static_cast<int>(random() % 3) - 1});
        if (random() % 4 == 0) world.recover(false);
        if (random() % 4 == 0) world.take_over();
        if (random() % 8 == 0) world.prune_above(10);
        if (random() % 8 == 0) world.prune_line({1 + static_cast<std::uint32_t>(random() % 3), 0});
    }
}

}  // namespace

std::vector<Script> scripts_of_lines(std::uint64_t seed) {
    const auto any = [seed](World& world) { any_sessions(world, seed); };
    return {{"going on", going_on},
            {"going back", going_back},
            {"going back within a session", going_back_within_a_session},
            {"beginning anew", beginning_anew},
            {"leftovers of an earlier session", leftovers},
            {"retention of lines", retention_of_lines},
            {"marks on everything", marks_on_everything},
            {"going back for good", going_back_for_good},
            {"dropping a line", dropping},
            {"claims", claims},
            {"packers", packers},
            {"another run", another_run},
            {"any sessions", any},
            {"any sessions, with faults", any, true}};
}

}  // namespace forebay::crash
