// Goal: conditions of analyses reach all ranks at the end of a step, once, the most urgent first, whichever node found
// them. A condition of an abandoned save is not delivered. Method: workers that are scripts.

#include "bindings/api/conditions.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "path/catalog/flagged.hpp"
#include "support/sessions.hpp"
#include "support/soon.hpp"
#include "support/worker_script.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

// The conditions on all ranks, at the first step that delivers any.
std::vector<Job> hear(int ranks, int nodes, const std::string& on_see, std::size_t wanted) {
    const test::TempDirectory folder;
    const test::WorkerScript worker(on_see);
    auto options = test::options_in(folder, nodes);
    options.agent.program = worker.program();
    std::vector<Job> given;
    test::with_session(ranks, options, [&](Session& session, comm::Group& world) {
        StreamOptions of_stream{.view = false};
        of_stream.insitu = {test::every(1)};
        auto stream = session.stream("restart", of_stream).value();
        const auto rank = static_cast<std::uint64_t>(world.rank());
        std::vector<double> u(100, 1);
        stream.array("u", f64, {static_cast<std::uint64_t>(ranks), 100}, {packed({{rank, 0}, {1, 100}}, u.data())})
            .value();
        stream.save(7).value();
        stream.wait_committed(60s).value();
        std::vector<Job> own;
        if (world.rank() == 0) CHECK(worker.was_asked(static_cast<std::size_t>(nodes)));
        world.barrier();
        for (int i = 0; i < 1000 && own.size() < wanted; ++i) {
            auto job = session.job().value();
            std::array<std::int64_t, 3> flags{job.save, job.stop, job.condition_step};
            world.max(flags);
            CHECK(flags == std::array<std::int64_t, 3>{job.save, job.stop, job.condition_step});
            if (!job.condition.empty()) own.push_back(std::move(job));
            std::this_thread::sleep_for(5ms);
        }
        // Another node reports the same save a moment later: that is the same condition.
        for (int i = 0; i < 20; ++i) {
            CHECK(session.job().value().condition.empty());
            std::this_thread::sleep_for(5ms);
        }
        if (world.rank() == 0) given = own;
    });
    return given;
}

// The conditions of a session's first steps, with a restore first.
std::vector<Job> hear_later(const Options& options, std::int64_t below) {
    std::vector<Job> given;
    test::with_session(1, options, [&](Session& session, comm::Group&) {
        auto stream = session.stream("restart", {.keep = 0, .view = false}).value();
        std::vector<double> u(100);
        stream.array("u", f64, {100}, {packed({{0}, {100}}, u.data())}).value();
        stream.newest(below).value()->read().value();
        for (int i = 0; i < 3; ++i)
            if (auto job = session.job().value(); !job.condition.empty()) given.push_back(std::move(job));
    });
    return given;
}

std::size_t kept_in(const Options& options) {
    std::string problem;
    const auto kept = catalog::kept_flagged(sys::posix_store(), options.run, problem).value().size();
    CHECK(problem.empty());
    return kept;
}

node::Flagged flagged_at(std::int64_t step, Analysis::Action action, const char* text) {
    return {.stream = "restart",
            .step = step,
            .snapshot_id = static_cast<std::uint64_t>(step),
            .line = {1, 0},
            .actions = node::bit_of(action),
            .value = 1.5,
            .text = text};
}

}  // namespace

TEST_CASE("what two nodes raise of one save is given once, to all ranks") {
    const auto given = hear(3, 2, "echo seen; echo 'raise stop 2.5 means: u/max > 2'; echo made 0", 1);
    REQUIRE(given.size() == 1);
    CHECK(given[0].stop);
    CHECK(given[0].value == 2.5);
    CHECK(given[0].condition_step == 7);
    CHECK(given[0].condition == "restart.means: u/max > 2, at step 7");
}

TEST_CASE("what a session was not given any more the next one is given once, unless it goes back before it") {
    for (const bool goes_back : {false, true}) {
        const test::TempDirectory folder;
        auto options = test::options_in(folder, 1);
        const test::WorkerScript worker("echo seen; echo 'raise stop 2.5 means: u/max > 2'; echo made 0");
        auto with_worker = options;
        with_worker.agent.program = worker.program();
        test::with_session(1, with_worker, [&](Session& session, comm::Group&) {
            StreamOptions of_stream{.keep = 0, .view = false};
            of_stream.insitu = {test::every(2)};
            auto stream = session.stream("restart", of_stream).value();
            std::vector<double> u(100);
            stream.array("u", f64, {100}, {packed({{0}, {100}}, u.data())}).value();
            stream.save(7).value();
            stream.save(8).value();
            CHECK(worker.was_asked(1));
            CHECK(test::soon([&] { return kept_in(options) == 1; }));
            stream.save(9).value();
        });
        const auto next = hear_later(options, goes_back ? 8 : 100);
        CHECK(next.size() == (goes_back ? 0 : 1));
        for (const auto& job : next) {
            CHECK(job.stop);
            CHECK(job.condition == "restart.means: u/max > 2, at step 8");
        }
        CHECK(kept_in(options) == 0);
        CHECK(hear_later(options, goes_back ? 8 : 100).empty());
    }
}

TEST_CASE("conditions that the run keeps: one file each, no more than fit, and damage is told") {
    const test::TempDirectory folder;
    const auto run = folder.path();
    auto& store = sys::posix_store();
    std::string problem;
    CHECK(catalog::kept_flagged(store, run, problem).value().empty());
    auto flagged = flagged_at(10, Analysis::Action::stop, "means: \"u\" > 2");
    flagged.value = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < 2; ++i) catalog::keep_flagged(store, run, flagged).value();
    const auto kept = catalog::kept_flagged(store, run, problem).value();
    REQUIRE(kept.size() == 1);
    CHECK(format::encode_flagged(kept[0]) == format::encode_flagged(flagged));
    for (int i = 1; i < static_cast<int>(catalog::flagged_kept_max); ++i) {  // later steps have smaller ids
        auto later = flagged_at(100 - i, Analysis::Action::tell, "t");
        later.snapshot_id = static_cast<std::uint64_t>(i);
        catalog::keep_flagged(store, run, later).value();
    }
    CHECK(std::ranges::is_sorted(catalog::kept_flagged(store, run, problem).value(), {}, &format::Flagged::step));
    CHECK(catalog::keep_flagged(store, run, flagged_at(99, Analysis::Action::tell, "t")).error().kind ==
          ErrorKind::full);
    CHECK(problem.empty());
    const auto path = run + "/forebay/conditions/" + format::file_name_of(flagged);
    std::filesystem::resize_file(path, 100);
    CHECK(catalog::kept_flagged(store, run, problem).value().size() == catalog::flagged_kept_max - 1);
    CHECK(problem.find(path) != std::string::npos);
    for (int i = 0; i < 2; ++i) catalog::drop_flagged(store, run, flagged).value();
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("to save is not to end, and to be told is neither") {
    const auto given = hear(2, 1,
                            "echo seen; echo 'raise tell nan a'; echo 'raise save,mark 1 b'; echo 'raise mark 1 c'; "
                            "echo 'raise stop 1 d'; sleep 0.2; echo made 0",
                            3);
    REQUIRE(given.size() == 3);
    for (const auto& job : given) {
        CHECK(job.stop == (job.condition[8] == 'd'));
        CHECK(job.save == (job.condition[8] != 'a'));
        CHECK(job.reason.empty() == (job.condition[8] == 'a'));
    }
}

TEST_CASE("the most urgent comes first, the earlier of two that are alike") {
    auto page = std::make_unique<node::Control>();
    Conditions conditions;
    using Action = Analysis::Action;
    for (const auto& flagged : {flagged_at(10, Action::tell, "a"), flagged_at(10, Action::save, "b"),
                                flagged_at(10, Action::stop, "c"), flagged_at(20, Action::stop, "d")})
        CHECK(node::put_flagged(*page, 0, flagged));
    conditions.take(*page);
    std::string order;
    while (conditions.urgency(0, [](const auto&) { return false; }) > 0)
        order += conditions.given(conditions.text()).text;
    CHECK(order == "cdba");
}

TEST_CASE("a condition of a save that was left behind is not given; one that is open waits") {
    auto page = std::make_unique<node::Control>();
    Conditions conditions;
    CHECK(node::put_flagged(*page, 0, flagged_at(10, Analysis::Action::tell, "told")));
    CHECK(node::put_flagged(*page, 0, flagged_at(20, Analysis::Action::stop, "left")));
    conditions.take(*page);
    CHECK(conditions.urgency(3, [](const auto&) { return std::nullopt; }) == -1);
    const auto has_left = [](const node::Flagged& flagged) { return std::optional(flagged.step > 10); };
    const auto urgency = conditions.urgency(3, has_left);
    REQUIRE(urgency > 0);
    CHECK(Conditions::rank_of(urgency) == 3);
    const auto given = conditions.given(conditions.text());
    CHECK(given.text == "told");
    CHECK(given.value == 1.5);
    CHECK(conditions.urgency(3, has_left) == -1);
    CHECK(node::put_flagged(*page, 0, flagged_at(10, Analysis::Action::tell, "told")));
    conditions.take(*page);
    CHECK(conditions.urgency(3, has_left) == -1);
}

TEST_CASE("what was given is given once more if it asks for more then") {
    auto page = std::make_unique<node::Control>();
    Conditions conditions;
    using Action = Analysis::Action;
    std::string order;
    for (const auto action : {Action::tell, Action::stop, Action::save}) {
        CHECK(node::put_flagged(*page, 0, flagged_at(10, action, "a")));
        conditions.take(*page);
        const auto urgency = conditions.urgency(0, [](const auto&) { return false; });
        order += urgency < 0 ? "-" : std::to_string(conditions.given(conditions.text()).actions);
    }
    CHECK(order == fmt::format("{}{}-", node::bit_of(Action::tell), node::bit_of(Action::stop)));
}

TEST_CASE("of more than may wait the least urgent go, the earliest first") {
    auto page = std::make_unique<node::Control>();
    Conditions conditions;
    const auto put = [&](int number, Analysis::Action action) {
        CHECK(node::put_flagged(*page, 0, flagged_at(10, action, std::to_string(number).c_str())));
        conditions.take(*page);
    };
    put(1000, Analysis::Action::save);
    for (int i = 0; i < 200; ++i) put(i, Analysis::Action::tell);
    std::vector<std::string> given;
    while (conditions.urgency(0, [](const auto&) { return false; }) > 0)
        given.push_back(conditions.given(conditions.text()).text);
    REQUIRE(given.size() == conditions_waiting_max);
    CHECK(given[0] == "1000");
    CHECK(given[1] == std::to_string(200 - (conditions_waiting_max - 1)));
    CHECK(given.back() == "199");
}

TEST_CASE("an application that never asks fills the page, and no more") {
    auto page = std::make_unique<node::Control>();
    for (std::size_t i = 0; i < node::flagged_max; ++i)
        CHECK(node::put_flagged(*page, 0, flagged_at(10, Analysis::Action::tell, "a")));
    CHECK_FALSE(node::put_flagged(*page, 0, flagged_at(10, Analysis::Action::tell, "a")));
    CHECK(node::take_flagged(*page).size() == node::flagged_max);
    CHECK(node::put_flagged(*page, 0, flagged_at(10, Analysis::Action::tell, "a")));
}
