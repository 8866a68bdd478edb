// The hosts of a job that write to the target for the others: forebay::dedicate() splits them off.
//
// Life:   make(), on all ranks -> on a rank of a forwarder serve(), which returns when all that compute have left;
//         on the others forwarding(), and leave() when MPI is finalised

#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/forward/server.hpp"
#include "forebay/options.hpp"
#include "path/node/staging.hpp"

namespace forebay {

class Forwarders {
public:
    /// Whether this rank's host is one: the last AgentOptions::forwarders of all are.
    static bool is_one(const comm::Topology& hosts, const Options& options);
    /// The first rank of each forwarder begins to serve. `computing` are the ranks that compute; others give
    /// MPI_COMM_NULL. The same answer on all ranks of `hosts.world`, whose error `mine` is one of. Collective over it.
    static Result<Forwarders> make(const comm::Topology& hosts, MPI_Comm world, MPI_Comm computing,
                                   const Options& options, Result<> own_result,
                                   const std::function<Result<>(const forward::ViewWanted&)>& make_view);

    const node::Forwarding& forwarding() const { return forwarding_; }
    /// Collective over the ranks that compute.
    void leave();
    /// By a rank of a forwarder: asleep but for the first, until all that compute have left, and then until the agents
    /// that outlive them are done, at most `agents_max`.
    void serve(std::chrono::milliseconds agents_max);

private:
    static Result<forward::Server> start(const Options& options, const std::string& token, std::string& addresses,
                                         const std::function<Result<>(const forward::ViewWanted&)>& make_view);

    node::Forwarding forwarding_;
    MPI_Comm all_ = MPI_COMM_NULL, computing_ = MPI_COMM_NULL;
    std::vector<int> serving_;  // ranks of `all_` that wait for the others, known to the first that computes
    std::optional<forward::Server> server_;
};

}  // namespace forebay
