// Neighbours: agents of a job that also write for its excluded or slow nodes. Each helper has a server of the module
// `forward`, and writes its address to a file of its session's run lock. A node that needs help reads the address and
// connects. The token for access is in the session files of the nodes, and never in the run.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/forward/server.hpp"
#include "core/sys/passing_store.hpp"
#include "path/agent/detour.hpp"
#include "path/agent/events.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

/// The nodes that help, as indices in their order: at most `wanted` of the nodes that are not excluded, evenly spread.
/// Empty if there is no second node to help.
std::vector<std::uint32_t> helpers_of(const std::vector<bool>& excluded, std::uint32_t wanted);

/// RUN/forebay/sessions/000005/neighbour-0.json
std::string neighbour_path(const std::string& run, std::uint32_t session, std::uint32_t number);

/// The way through the helper with this number, after it has answered. `missing` if the run does not have its address,
/// `retry` if it does not answer.
Result<NeighbourWay> way_through(sys::Store& store, const node::SessionFile& session, std::uint32_t session_number,
                                 std::uint32_t helper);

/// The server of a helping agent. Life: start() -> clients come and go -> stay(), when its own work is done ->
/// destructor.
class Helper {
public:
    /// `store`, to which it writes for clients, must outlive it, see Server::start(). `virtual_node`: of this agent.
    static Result<std::unique_ptr<Helper>> start(sys::Store& store, const node::SessionFile& session,
                                                 std::uint32_t session_number, const std::string& virtual_node,
                                                 Tell tell);
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;
    /// Removes its address, lets running requests end, and reports the number of node files that it made for other
    /// nodes.
    ~Helper();

    /// Returns when no client is connected, when `leaves` is true, or after `limit`.
    void stay(const std::function<bool()>& leaves, std::chrono::milliseconds limit) const;

private:
    /// Counts node files. Does not create the run again if it is gone and a client connects.
    class HelperStore final : public sys::PassingStore {
    public:
        HelperStore(sys::Store& store, std::string run) : PassingStore(store), run_(std::move(run)) {}
        Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override;
        Result<> make_directories(const std::string& path) override;
        std::uint64_t files() const { return files_; }

    private:
        const std::string run_;
        std::atomic<std::uint64_t> files_{0};
    };

    Helper(std::shared_ptr<HelperStore> served, sys::Store& store, std::string path, Tell tell);

    std::shared_ptr<HelperStore> served_;
    sys::Store& store_;
    const std::string path_;
    const Tell tell_;
    std::optional<forward::Server> server_;
};

}  // namespace forebay::agent
