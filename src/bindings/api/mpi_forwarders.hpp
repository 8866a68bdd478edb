// The hosts of a job that write to the target for the other hosts. forebay::dedicate() splits them off.
//
// Life:   make(), on all ranks -> on a rank of a forwarder serve(), which returns when all computing ranks have left;
//         on computing ranks forwarding(), and leave() when MPI is finalised

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
    /// True if this rank's host is a forwarder: the last AgentOptions::forwarders hosts are.
    static bool is_one(const comm::Topology& hosts, const Options& options);
    /// Makes the forwarders. The first rank of each forwarder begins to serve. `computing` is the communicator of the
    /// computing ranks; all other ranks pass MPI_COMM_NULL. All ranks of `hosts.world` get the same result, which
    /// includes the `own_result` of every rank. Collective over it.
    static Result<Forwarders> make(const comm::Topology& hosts, MPI_Comm world, MPI_Comm computing,
                                   const Options& options, Result<> own_result,
                                   const std::function<Result<>(const forward::ViewWanted&)>& make_view);

    const node::Forwarding& forwarding() const { return forwarding_; }
    /// Collective over the computing ranks.
    void leave();
    /// On a rank of a forwarder: sleeps (except the first rank) until all computing ranks have left, and then until the
    /// agents that outlive them are done, at most `agents_max`.
    void serve(std::chrono::milliseconds agents_max);

private:
    static Result<forward::Server> start(const Options& options, const std::string& token, std::string& addresses,
                                         const std::function<Result<>(const forward::ViewWanted&)>& make_view);

    node::Forwarding forwarding_;
    MPI_Comm all_ = MPI_COMM_NULL, computing_ = MPI_COMM_NULL;
    std::vector<int> serving_;  // the ranks of `all_` to release; only on the first computing rank
    std::optional<forward::Server> server_;
};

}  // namespace forebay
