// A staging directory filled by hand, and an agent over it. For tests of the agent without an application.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "core/describe/analysis_list.hpp"
#include "core/describe/option_list.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/mapping.hpp"
#include "path/agent/agent.hpp"
#include "path/node/staging.hpp"
#include "support/small_run.hpp"
#include "support/temp_directory.hpp"

namespace forebay::test {

inline const std::string node_run = "/run";

inline AgentOptions agent_options(int in_flight = 2) {
    AgentOptions options;
    options.block_bytes = 64u << 10;
    options.in_flight = in_flight;
    options.retries = 0;
    options.retry_pause = std::chrono::milliseconds(1);
    return options;
}

/// A node's staging directory. No application runs, but the agent finds one that never ends.
class Node {
public:
    explicit Node(const AgentOptions& options = agent_options())
        : session{.run = node_run, .host = "here", .process = 1, .agent = options},
          staging(node::Staging::create(node::LockedDirectory::lock(folder / "staging", node_run).value(), session,
                                        std::chrono::milliseconds(0))
                      .value()) {}

    void seal(const SmallSnapshot& snapshot, const StreamOptions& options = {},
              std::int64_t sealed_unix_ns = sys::unix_ns(), std::size_t slot_of_stream = 0, bool damaged = false) {
        const auto index = staging.slots_of(stream_of(snapshot.stream, options, slot_of_stream))[slot_of_stream];
        auto image = small_node_file(snapshot, 0);
        const auto block = format::open_head(image, "image").value().blocks.front().offset_bytes;
        if (damaged) image[block] ^= std::byte{1};
        std::ranges::copy(image, sys::Mapping::create(staging.slot_path(index), image.size()).value().bytes().begin());
        auto& slot = page().slots[index];
        slot.step = snapshot.step;
        slot.snapshot_id = snapshot.id;
        slot.inherited = 0;
        slot.given_up = 0;
        slot.sealed_unix_ns = sealed_unix_ns;
        slot.state = node::SlotState::sealed;
        node::ring(page().bell);
    }
    node::Control& page() { return staging.control(); }
    node::StreamControl& stream(const std::string& name) {
        return *std::ranges::find_if(page().streams, [&](const auto& stream) { return name == stream.name.data(); });
    }

    /// Runs the agent until all snapshots are committed or have failed.
    bool drain(sys::Store& store) {
        page().ending = 1;
        const std::atomic<bool> never{false};
        const auto tell = agent::to_log([this](const std::string& line) { log += line + "\n"; });
        return agent::Agent(store, staging, session, {}, tell).run(never, std::chrono::seconds(0));
    }

    TempDirectory folder;
    node::SessionFile session;
    node::Staging staging;
    std::string log;

private:
    // The stream must be described before the agent serves: a session also describes a stream before its first save.
    std::uint32_t stream_of(const std::string& name, const StreamOptions& options, std::size_t slot) {
        auto settings = describe::settings_of(options);
        std::ranges::move(describe::settings_of(options.insitu), std::back_inserter(settings));
        auto& known = streams_[name];
        if (!known || known->settings != settings || staging.slots_of(known->index).size() <= slot)
            known = {settings, staging.add_stream(name, options).value()};
        return known->index;
    }
    struct Known {
        describe::Settings settings;
        std::uint32_t index;
    };
    std::map<std::string, std::optional<Known>> streams_;
};

}  // namespace forebay::test
