#include "bindings/api/mpi_forwarders.hpp"

#include <fmt/format.h>

#include <thread>

#include "bindings/api/state.hpp"
#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/comm/mpi_group.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"

namespace forebay {

namespace {

// The pause between two looks of a waiting rank: MPI has no call that sleeps until a message comes.
constexpr std::chrono::milliseconds leaving_look_pause{50};
constexpr int leaving_tag = 1;

MPI_Comm copy_of(MPI_Comm comm) {
    MPI_Comm copy = MPI_COMM_NULL;
    if (comm != MPI_COMM_NULL) MPI_Comm_dup(comm, &copy);
    return copy;
}

// Gives every rank the text of the first rank of each host, in the order of the hosts, without empty texts. Collective.
Result<std::vector<std::string>> addresses_of_hosts(const comm::Topology& hosts, const std::string& own_address) {
    std::string all;
    FB_TRY(comm::agree(*hosts.world, [&]() -> Result<> {
        if (hosts.leads()) {
            FB_TRY_ASSIGN(addresses, hosts.leaders->gather_all_sized(bytes_of(own_address)));
            for (const auto& address : addresses)
                if (!address.empty()) all += std::string(text_of(address)) + "\n";
        }
        return {};
    }));
    std::vector<std::string> texts;
    FB_TRY(comm::agree(*hosts.world, [&]() -> Result<> {
        FB_TRY(hosts.node->broadcast_sized(all, 0));
        for (std::string_view rest = all; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1))
            texts.emplace_back(rest.substr(0, rest.find('\n')));
        return {};
    }));
    return texts;
}

}  // namespace

bool Forwarders::is_one(const comm::Topology& hosts, const Options& options) {
    const auto forwarders = static_cast<std::uint32_t>(std::max(options.agent.forwarders, 0));
    return forwarders > 0 && forwarders < hosts.nodes && hosts.node_index >= hosts.nodes - forwarders;
}

Result<forward::Server> Forwarders::start(const Options& options, const std::string& token, std::string& addresses,
                                          const std::function<Result<>(const forward::ViewWanted&)>& make_view) {
    // No run here: a job may have sessions of several runs. Only the job's own clients have the token.
    auto started = forward::start_reachable(sys::posix_store(), options.agent.forward_address,
                                            {.run = "", .token = token, .make_view = make_view, .log = {}});
    if (!started)
        return with_context(
            started.error(), fmt::format("{} cannot be a forwarder: {}", sys::host_name(), started.error().what), "",
            "set agent.forward_address to an interface or address of the hosts, or agent.forwarders to 0");
    addresses = fmt::format("{}", fmt::join(started->addresses, ","));
    return std::move(started->server);
}

Result<Forwarders> Forwarders::make(const comm::Topology& hosts, MPI_Comm world, MPI_Comm computing,
                                    const Options& options, Result<> own_result,
                                    const std::function<Result<>(const forward::ViewWanted&)>& make_view) {
    Forwarders forwarders;
    auto& group = *hosts.world;
    if (own_result && static_cast<std::uint32_t>(options.agent.forwarders) >= hosts.nodes)
        own_result = Error{ErrorKind::refused,
                           fmt::format("this job has {} hosts, so {} forwarders leave no host to compute", hosts.nodes,
                                       options.agent.forwarders),
                           "", "ask for more hosts, or lower agent.forwarders"};
    FB_TRY(comm::agree(group, [&]() -> Result<> {
        FB_TRY(own_result);
        if (group.rank() == 0) forwarders.forwarding_.token = forward::new_token();
        return {};
    }));
    FB_TRY(group.broadcast_sized(forwarders.forwarding_.token, 0));
    std::string addresses;
    std::vector<char> all;
    FB_TRY(comm::agree(group, [&]() -> Result<> {
        all.resize(static_cast<std::size_t>(group.size()));
        forwarders.serving_.reserve(all.size());
        if (!is_one(hosts, options) || !hosts.leads()) return {};
        FB_TRY_ASSIGN(server, start(options, forwarders.forwarding_.token, addresses, make_view));
        forwarders.server_.emplace(std::move(server));
        return {};
    }));
    FB_TRY_ASSIGN(to, addresses_of_hosts(hosts, addresses));
    forwarders.forwarding_.to = std::move(to);
    forwarders.all_ = copy_of(world);
    forwarders.computing_ = copy_of(computing);
    // The first computing rank must know the ranks to release in leave().
    const char waits = computing == MPI_COMM_NULL ? 1 : 0;
    group.gather_all(std::as_bytes(std::span(&waits, 1)), std::as_writable_bytes(std::span(all)));
    if (computing != MPI_COMM_NULL && comm::rank_in(computing) == 0)
        for (int rank = 0; rank < group.size(); ++rank)
            if (all[static_cast<std::size_t>(rank)] != 0) forwarders.serving_.push_back(rank);
    return forwarders;
}

void Forwarders::leave() {
    // The barrier comes first: a forwarder may leave only after the last computing rank.
    MPI_Barrier(computing_);
    for (const int rank : serving_) MPI_Send(nullptr, 0, MPI_BYTE, rank, leaving_tag, all_);
    MPI_Comm_free(&computing_);
    MPI_Comm_free(&all_);
}

void Forwarders::serve(std::chrono::milliseconds agents_max) {
    for (int left = 0; left == 0;) {
        MPI_Iprobe(MPI_ANY_SOURCE, leaving_tag, all_, &left, MPI_STATUS_IGNORE);
        if (left == 0) std::this_thread::sleep_for(leaving_look_pause);
    }
    MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, leaving_tag, all_, MPI_STATUS_IGNORE);
    if (server_) {
        const auto deadline = sys::Clock::now() + agents_max;
        // Agents that outlive the application still write through this server.
        while (server_->clients() > 0 && sys::Clock::now() < deadline) std::this_thread::sleep_for(leaving_look_pause);
        server_->stop();
        server_.reset();
    }
    MPI_Comm_free(&all_);
}

}  // namespace forebay
