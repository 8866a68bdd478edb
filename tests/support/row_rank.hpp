// The smallest application: each rank saves its row of an array. Every element equals the step.

#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/api/state.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::test {

struct RowRank {
    static constexpr std::uint64_t elements = 30'000;  // 240 kB
    static constexpr auto newest = std::numeric_limits<std::int64_t>::max();

    RowRank(std::unique_ptr<comm::Group> given, const Options& options,
            const StreamOptions& stream_options = {.keep = 0})
        : world(given->split(0)),
          data(elements),
          session(detail::open_over(std::make_unique<GroupHolder>(std::move(given)), options).value()),
          stream(session.stream("restart", stream_options).value()) {
        const auto size = static_cast<std::uint64_t>(world->size()), row = static_cast<std::uint64_t>(world->rank());
        stream.array("u", f64, {size, elements}, {packed({{row, 0}, {1, elements}}, data.data())}).value();
    }
    Result<Saved> save(std::int64_t step) {
        std::ranges::fill(data, static_cast<double>(step));
        return stream.save(step);
    }
    /// Restores the newest snapshot below `below` and returns its step. -1 without a snapshot, -2 if the data are of
    /// another step.
    std::int64_t restore(std::int64_t below = newest) {
        auto restart = stream.newest(below).value();
        if (!restart) return -1;
        std::ranges::fill(data, -1.0);
        auto done = restart->read();
        // The agent of an earlier session may remove an old snapshot between the two calls: `keep` no longer protects
        // it.
        while (!done && below != newest && done.error().kind == ErrorKind::missing) {
            restart = stream.older().value();
            if (!restart) return -1;
            done = restart->read();
        }
        done.value();
        const auto right = [&](double value) { return value == static_cast<double>(restart->step()); };
        return std::ranges::all_of(data, right) ? restart->step() : -2;
    }
    /// Rank 0 runs `act` between two barriers of all ranks.
    void once(const std::function<void()>& act) {
        world->barrier();
        if (world->rank() == 0) act();
        world->barrier();
    }

    std::unique_ptr<comm::Group> world;
    std::vector<double> data;
    Session session;
    Stream stream;
};

/// The committed steps, newest first. Verifies every byte of each.
inline std::vector<std::int64_t> committed_steps(const std::string& run) {
    std::vector<std::int64_t> steps;
    for (const auto& snapshot : catalog::snapshots(sys::posix_store(), run, "restart").value()) {
        steps.push_back(snapshot.step);
        CHECK(catalog::verify(sys::posix_store(), snapshot, {}).value().damage.empty());
    }
    return steps;
}

}  // namespace forebay::test
