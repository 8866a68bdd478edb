// A crash before every operation of an act, and a fault of every call: for test programs of doctest over a SimStore.
//
//     test::crash_at_each(before, test::reboots(9), [](SimStore& disk) { return act(disk); },
//                         [](SimStore& disk, const Result<>& answer) { ...what must hold after the reboot... });
//
// An act of 20 operations is played 21 times 9: on a copy of `before` each time, its power cut before one of the
// operations, in the last round before none.

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

/// Ways to come back: numbers as of SimStore::reboot_by(), or `programs_killed`, after which the machine lives on.
using Reboots = std::vector<std::uint64_t>;
inline constexpr std::uint64_t programs_killed = std::numeric_limits<std::uint64_t>::max();
inline constexpr int all_cuts = std::numeric_limits<int>::max();

/// `count` of them, of which the first four are the states of POSIX and the others torn.
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

/// Plays `act(*world)` in a world for each cut and each reboot. `make` gives it, as a std::unique_ptr: a SimStore, or
/// what has one as its member `disk`. Then `check(*world, answer)` looks at it, or `check(*world)` where `act` answers
/// nothing. With `cuts_max` only the last so many operations are cut. Gives the number of operations of `act`.
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

/// The same on copies of a disk.
template <class Act, class Check>
int crash_at_each(const SimStore& before, const Reboots& ways, const Act& act, const Check& check,
                  int cuts_max = all_cuts) {
    return crash_worlds_at_each([&] { return before.clone(); }, ways, act, check, cuts_max);
}

/// Plays `act` on copies of `before`, once for each call of each of `kinds` that it makes, which fails with
/// ErrorKind::retry. Then `check(disk, answer)` looks at the disk.
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
