// Goal: sessions, people and machines act on a run in any order, and its state stays right. No save is lost. No save
// that the run left is preferred. No save of another run comes in. Clocks do not matter. Method: program.hpp plays
// random programs against model.hpp. FOREBAY_CAMPAIGN_SEEDS sets the number of programs, FOREBAY_SEED the first. This
// executable defines clock_gettime(), which takes precedence over the C library's.

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <string>
#include <utility>

#include "campaign/program.hpp"
#include "core/sys/clock.hpp"
#include "support/wished_number.hpp"

namespace {

std::atomic<std::int64_t> ahead{0};

}  // namespace

extern "C" int clock_gettime(clockid_t clock, struct timespec* now) noexcept {
    const auto done = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
    if (done == 0 && clock == CLOCK_REALTIME) now->tv_sec += ahead.load();
    return done;
}

namespace forebay::campaign {

void shift_clock(std::int64_t seconds) { ahead = seconds; }

}  // namespace forebay::campaign

using namespace forebay;

TEST_CASE("the clock of the library is the one that is shifted") {
    const auto before = sys::unix_ns();
    campaign::shift_clock(3600);
    CHECK(sys::unix_ns() - before >= std::int64_t{3600} * 1'000'000'000);
    campaign::shift_clock(0);
}

TEST_CASE("random programs of several sessions over one run") {
    const auto seeds = test::wished_number("FOREBAY_CAMPAIGN_SEEDS", 200);
    const auto first = test::wished_number("FOREBAY_SEED", 1);
    std::uint64_t differences = 0;
    for (auto seed = first; seed < first + seeds; ++seed)
        for (const auto& text : campaign::play(seed)) {
            if (++differences <= 10) MESSAGE("seed ", seed, ": ", text);
        }
    std::cout << seeds << " programs, " << differences << " differences\n";
    CHECK(differences == 0);
}

TEST_CASE("a program of ours that makes one mistake differs") {
    constexpr std::uint64_t seeds = 200;  // at most: the first difference is enough
    for (const auto& [fault, words] : {std::pair{campaign::Fault::none_for_unreadable, "cannot be read"},
                                       std::pair{campaign::Fault::removes_left, "too few came after"},
                                       std::pair{campaign::Fault::copies_over, "copies"}}) {
        CAPTURE(words);
        bool is_caught = false;
        for (std::uint64_t seed = 1; seed <= seeds && !is_caught; ++seed)
            for (const auto& text : campaign::play(seed, fault))
                is_caught = is_caught || text.find(words) != std::string::npos;
        CHECK(is_caught);
    }
}
