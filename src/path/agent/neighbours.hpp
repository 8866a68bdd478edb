// Neighbours: agents of a job that also write for those of its nodes that are excluded or slow. Each of them has a
// server of room `forward`, and says where in a file of its session's claim; who needs one looks there, and connects.
// The token that admits to it goes by the session files of the nodes, and is never in the run.

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

/// Which of the nodes help, as indices in their order: at most `wanted` of those that are not excluded, spread evenly
/// over these. None where no other node is left that one could help.
std::vector<std::uint32_t> helpers_of(const std::vector<bool>& excluded, std::uint32_t wanted);

/// RUN/forebay/sessions/000005/neighbour-0.json
std::string neighbour_path(const std::string& run, std::uint32_t session, std::uint32_t number);

/// The way through the helper with that number, which has answered. `missing` if the run does not have its address,
/// `retry` if it does not answer.
Result<NeighbourWay> way_through(sys::Store& store, const node::SessionFile& session, std::uint32_t session_number,
                                 std::uint32_t helper);

/// A helping agent's server. Life: start() -> clients come and go -> stay(), once its own work is done -> the end.
class Helper {
public:
    /// `store`, where it writes for others, must outlive it, as Server::start() says. `virtual_node`: of this agent.
    static Result<std::unique_ptr<Helper>> start(sys::Store& store, const node::SessionFile& session,
                                                 std::uint32_t session_number, const std::string& virtual_node,
                                                 Tell tell);
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;
    /// Takes its address away, lets requests under way end, and tells how many node files it has made for others.
    ~Helper();

    /// Returns when no client is connected, when it `leaves`, or after `limit`.
    void stay(const std::function<bool()>& leaves, std::chrono::milliseconds limit) const;

private:
    /// Counts node files; and a run that is gone is not made anew by a client that greets.
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
