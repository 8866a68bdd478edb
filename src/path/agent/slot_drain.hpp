// The drain of one slot, the first of the stations: from the staged file to the node file at the target, durable under
// its name. It compresses if the stream asks for it, and moves at the agent's speed.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/sys/store.hpp"
#include "path/agent/events.hpp"
#include "path/agent/schedule.hpp"
#include "path/agent/slots.hpp"
#include "path/agent/speed.hpp"
#include "path/agent/station.hpp"
#include "path/drain/compress.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

class SlotDrain final : public Station {
public:
    /// All arguments must outlive it.
    SlotDrain(sys::Store& store, node::Staging& staging, const node::SessionFile& session, const Schedule& schedule,
              Slots& slots, Speed& speed, const Tell& tell);

    const char* name() const override { return "drain"; }
    /// None: the state of the slot shows that the drain holds it.
    std::uint32_t hold() const override { return 0; }
    Result<> run(std::uint32_t slot, bool again, move::Gate& gate, const std::atomic<bool>& stop) override;

private:
    Result<> map(std::uint32_t slot);
    Result<> check_run();
    Result<> write(std::uint32_t slot, const format::Peek& peeked, move::Gate& gate, const std::atomic<bool>& stop);
    drain::CompressionMemory& compression_memory(std::uint32_t slot);
    std::optional<double> seconds_to_compress(std::uint32_t slot) const;
    bool is_direct(std::uint32_t slot, const move::WriteOptions& options);
    void note(std::uint32_t slot, const std::string& text) const;

    sys::Store& store_;
    node::Staging& staging_;
    const node::SessionFile& session_;
    const Schedule& schedule_;
    Slots& slots_;
    Speed& speed_;
    const Tell& tell_;
    std::array<drain::CompressionMemory, node::streams_max> compression_;
    std::optional<bool> direct_;  // the choice of this agent
    bool saw_run_ = false;        // its directory, with its identity
};

}  // namespace forebay::agent
