// Plays an act with a power cut before every operation, or with a fault in every call. For doctest programs over a
// SimStore.
//
//     test::crash_at_each(before, test::reboots(9), [](SimStore& disk) { return act(disk); },
//                         [](SimStore& disk, const Result<>& answer) { ...what must hold after the reboot... });
//
// An act of 20 operations is played 21 * 9 times, each time on a copy of `before`. The power is cut before one of the
// operations; in the last round it is not cut.

#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "support/sim_store.hpp"

namespace forebay::test {

/// Kinds of restart: a number for SimStore::reboot_by(), or `programs_killed` if only the programs die.
using Reboots = std::vector<std::uint64_t>;
inline constexpr std::uint64_t programs_killed = std::numeric_limits<std::uint64_t>::max();
inline constexpr int all_cuts = std::numeric_limits<int>::max();

/// `count` reboots. The first four are the states that POSIX allows, the rest are torn.
inline Reboots reboots(std::size_t count) {
    Reboots ways(count);
    std::iota(ways.begin(), ways.end(), 0);
    return ways;
}
inline Reboots torn_reboots(std::size_t count) {
    Reboots ways(count);
    std::iota(ways.begin(), ways.end(), SimStore::whole_reboots);
    return ways;
}

/// Plays `act(*world)` in a new world for each cut and each reboot. `make` returns a std::unique_ptr to a SimStore, or
/// to an object with a SimStore as member `disk`. After the reboot it calls `check(*world, answer)`, or `check(*world)`
/// if `act` returns nothing. `cuts_max` limits the cuts to the last operations. Returns the number of operations of
/// `act`.
template <class Make, class Act, class Check>
int crash_worlds_at_each(const Make& make, const Reboots& ways, const Act& act, const Check& check,
                         int cuts_max = all_cuts) {
    const auto disk_of = [](auto& world) -> SimStore& {
        if constexpr (requires { world.disk; }) return world.disk;
        else return world;
    };
    const auto clean = make();
    const int first = disk_of(*clean).operations();
    static_cast<void>(act(*clean));
    const int last = disk_of(*clean).operations();
    for (int cut = std::max(first, last - std::min(cuts_max, last)); cut <= last; ++cut) {
        for (const auto way : ways) {
            CAPTURE(cut);
            CAPTURE(way);
            const auto world = make();
            const auto come_back = [&disk = disk_of(*world), way] {
                if (way == programs_killed) disk.kill_programs();
                else disk.reboot_by(way);
            };
            disk_of(*world).crash_before(cut);
            if constexpr (std::is_void_v<decltype(act(*world))>) {
                act(*world);
                come_back();
                check(*world);
            } else {
                const auto answer = act(*world);
                come_back();
                check(*world, answer);
            }
        }
    }
    return last - first;
}

/// As crash_worlds_at_each(), on copies of one disk.
template <class Act, class Check>
int crash_at_each(const SimStore& before, const Reboots& ways, const Act& act, const Check& check,
                  int cuts_max = all_cuts) {
    return crash_worlds_at_each([&] { return before.clone(); }, ways, act, check, cuts_max);
}

/// Plays `act` on copies of `before`, once for each of its calls of `kinds`. That call fails with ErrorKind::retry.
/// Then `check(disk, answer)` inspects the disk.
template <class Act, class Check>
void fault_at_each(const SimStore& before, std::initializer_list<Op> kinds, const Act& act, const Check& check) {
    const auto clean = before.clone();
    REQUIRE(act(*clean));
    for (const auto kind : kinds) {
        for (int nth = 0; nth < clean->calls(kind); ++nth) {
            CAPTURE(static_cast<int>(kind));
            CAPTURE(nth);
            const auto disk = before.clone();
            disk->fail(kind, nth, {ErrorKind::retry, "Input/output error"});
            const auto answer = act(*disk);
            check(*disk, answer);
        }
    }
}

}  // namespace forebay::test
