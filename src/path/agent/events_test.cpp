// Goal: every event has a name, and a log line with the words that users search for. Method: one event of each kind,
// through the sink of the log.

#include "path/agent/events.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace forebay::agent;

namespace {

constexpr auto last = static_cast<std::uint32_t>(What::writes_again);

Event event_of(What what) {
    return {.what = what,
            .stream = "restart",
            .step = 7,
            .bytes = 2'000'000,
            .count = 3,
            .seconds = 1.5,
            .place = "/dev/shm/x",
            .detail = "detail"};
}

}  // namespace

TEST_CASE("names are told apart") {
    std::set<std::string> names;
    for (std::uint32_t what = 0; what <= last; ++what) names.insert(name_of(static_cast<What>(what)));
    CHECK(names.size() == last + 1);
    CHECK(name_of(What::begun) == std::string("begun"));
    CHECK(name_of(What::committed) == std::string("committed"));
    CHECK(name_of(What::not_freed) == std::string("not_freed"));
    CHECK(name_of(static_cast<What>(last + 1)) == std::string("unknown"));
}

TEST_CASE("lines of the log") {
    const auto line = [](What what) { return line_of(event_of(what)); };
    CHECK(line(What::drained) == "step 7 of stream 'restart': 2.00 MB drained in 1.50 s");
    CHECK(line(What::committed) == "step 7 of stream 'restart' is committed");
    CHECK(line(What::found_committed) == "step 7 of stream 'restart' is committed by another agent");
    CHECK(line(What::helps) == "it also writes for other nodes of this job, at detail");
    CHECK(line(What::helped) == "it wrote for neighbours: detail");
    CHECK(line(What::helps_not) == "it cannot write for other nodes of this job: detail");
    CHECK(line(What::detours) == "its node files go detail");
    CHECK(line(What::no_detour) == "it writes its node files itself: detail");
    CHECK(line(What::writes_again) == "it writes its node files itself again: detail");
    CHECK(line(What::analysed) == "step 7 of stream 'restart' is analysed: 3 results in 1.50 s");
    CHECK(line(What::not_analysed) == "step 7 of stream 'restart' is not analysed: detail");
    CHECK(line(What::flagged) == "step 7 of stream 'restart' fulfils a condition: detail");
    CHECK(line(What::analysis_note) == "analyses of step 7 of stream 'restart': detail");
    CHECK(line(What::worker_ended) ==
          "the program of the /dev/shm/x has failed. The next snapshot gets a new program: detail");
    CHECK(line(What::analyses_end) ==
          "no more /dev/shm/x in this session, as their program has failed 3 times in a row: detail");
    CHECK(line(What::script_off) ==
          "analysis '/dev/shm/x' of stream 'restart' is switched off for this session, as its "
          "script has ended its process 3 times in a row: detail");
    CHECK(line_of({.what = What::not_analysed, .stream = "s", .step = 7, .place = "scripts", .detail = "why"}) ==
          "step 7 of stream 's' is not analysed by its scripts: why");
    CHECK(line_of({.what = What::analysed, .stream = "s", .step = 7, .count = 2, .seconds = 1, .place = "scripts"}) ==
          "step 7 of stream 's' is analysed by its scripts: 2 results in 1.00 s");
    CHECK(line(What::overtook) == "step 7 of stream 'restart' overtakes detail, which has written 2.00 MB");
    CHECK(line(What::late) == "step 7 of stream 'restart' misses its deadline, 1.50 s after its seal: it is detail");
    CHECK(line(What::not_viewed) == "no view /dev/shm/x of step 7: detail");
    CHECK(line(What::not_pruned) == "retention of stream 'restart' failed: detail");
    CHECK(line(What::packed) == "3 files of the spool, 2.00 MB, are packed and committed");
    CHECK(line(What::not_packed) == "the spool in /dev/shm/x is not packed: detail");
    CHECK(line_of({.what = What::not_packed, .detail = "why"}) == "the spool is not packed: why");
    CHECK(line(What::serves) == "agent 3 serves /dev/shm/x for run detail");
    CHECK(line(What::lingers) == "everything is committed. The staged copies are kept 1.5 s more for a restart");
    CHECK(line(What::leaves_work) == "the agent ends; next: forebay drain /dev/shm/x");
    CHECK(line(What::failed) == "detail");
    CHECK(line(What::retried) == "step 7 of stream 'restart' is drained again after detail");
    CHECK(line(What::slow) == "slow: detail");
    CHECK(line(What::untimed) == "timings are not kept in /dev/shm/x: detail");
    CHECK(line(What::unshown) == "monitors cannot see it in /dev/shm/x: detail");
    CHECK(line(What::avoids) == "new node files avoid it: detail");
    CHECK(line(What::uses_again) == "it gets node files again: detail");
    CHECK(line(What::unplaced) == "the file system places the node files: detail");
}

TEST_CASE("the log hears all but what people need not read; every other hearer hears all") {
    std::set<std::string> silent;
    std::uint32_t heard = 0;
    bool logged = false;
    const auto tell = to_all({to_log([&](const std::string&) { logged = true; }), [&](const Event&) { ++heard; }});
    for (std::uint32_t what = 0; what <= last; ++what) {
        logged = false;
        tell(event_of(static_cast<What>(what)));
        if (!logged) silent.insert(name_of(static_cast<What>(what)));
    }
    CHECK(heard == last + 1);
    CHECK(silent == std::set<std::string>{"begun", "viewed", "pruned", "settled", "worker_begun"});
}
