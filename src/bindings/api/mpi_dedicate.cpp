// forebay::dedicate(): ranks that are agents, and hosts that are forwarders. The ranks of a machine share the posts of
// its agents through an MPI window. The end of a process shows by an attribute of MPI_COMM_SELF: MPI_Finalize deletes
// it before all else (MPI 4.1, 11.2.4).

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>

#include "bindings/api/alike.hpp"
#include "bindings/api/mpi_forwarders.hpp"
#include "bindings/api/mpi_posts.hpp"
#include "bindings/api/state.hpp"
#include "core/base/try.hpp"
#include "core/comm/mpi_group.hpp"
#include "core/describe/conventions.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "forebay/mpi.hpp"

namespace forebay {

namespace {

// A view of a large snapshot takes long. A view that hangs must not keep its agent.
constexpr std::chrono::minutes view_max{30};

// The posts of this machine, in a window over its ranks. All ranks free it together, when they finalise.
struct Machine {
    MPI_Comm ranks = MPI_COMM_NULL;
    MPI_Win window = MPI_WIN_NULL;
    std::span<agent::Post> posts;

    void free() {
        MPI_Win_free(&window);
        MPI_Comm_free(&ranks);
    }
};

// The result of dedicate() for a computing process.
struct Dedicated {
    std::optional<Machine> machine;
    std::optional<Forwarders> forwarders;
};

int at_finalize(MPI_Comm, int, void* value, void*) {
    const std::unique_ptr<Dedicated> dedicated(static_cast<Dedicated*>(value));
    if (auto& machine = dedicated->machine) {
        for (auto& post : machine->posts) agent::leave(post);
        machine->free();  // waits for the agents, which may need the forwarders
    }
    if (dedicated->forwarders) dedicated->forwarders->leave();
    return MPI_SUCCESS;
}

// The key must be the same in every call, and MPI has no names for keys. So it is static.
int key_of_dedicated() {
    static const int key = [] {
        int new_key = MPI_KEYVAL_INVALID;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &new_key, nullptr);
        return new_key;
    }();
    return key;
}

Dedicated* dedicated_of_process() {
    void* value = nullptr;
    int is_set = 0;
    MPI_Comm_get_attr(MPI_COMM_SELF, key_of_dedicated(), static_cast<void*>(&value), &is_set);
    return is_set != 0 ? static_cast<Dedicated*>(value) : nullptr;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

MPI_Comm split(MPI_Comm world, int colour) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(world, colour, comm::rank_in(world), &part);
    return part;
}

Machine machine_with_posts(MPI_Comm ranks, int cores) {
    Machine machine{.ranks = ranks};
    const int computing = size_of(ranks) - cores;
    // All posts are in rank 0's part of the window. The other ranks map that part.
    const auto bytes = comm::rank_in(ranks) == 0 ? static_cast<MPI_Aint>(sizeof(agent::Post)) * cores : 0;
    void* own = nullptr;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, ranks, static_cast<void*>(&own), &machine.window);
    MPI_Aint size = 0;
    int unit = 0;
    void* first = nullptr;
    MPI_Win_shared_query(machine.window, 0, &size, &unit, static_cast<void*>(&first));
    auto* posts = static_cast<agent::Post*>(first);
    if (comm::rank_in(ranks) == 0)
        for (int i = 0; i < cores; ++i) new (posts + i) agent::Post(static_cast<std::uint32_t>(computing));
    // The barrier makes the posts visible: no rank uses a post before rank 0 has made it.
    MPI_Barrier(ranks);
    machine.posts = {posts, static_cast<std::size_t>(cores)};
    return machine;
}

// The library does not use HDF5, so the program beside it makes views.
Result<> make_view_by(const std::string& program, const std::string& directory, Convention convention) {
    const auto output =
        sys::output_of({program, "view", "--as", describe::known(convention).name, directory}, view_max);
    return output ? Result<>() : Result<>(output.error());
}

// Checks that the ranks of a machine are more than its dedicated cores. Ranks of forwarders are not counted.
Result<> enough_for(int cores, MPI_Comm ranks) {
    const int size = size_of(ranks);
    if (size > cores) return {};
    return Error{ErrorKind::refused,
                 fmt::format("{} has {} ranks of this job, so {} dedicated cores leave no rank to compute",
                             sys::host_name(), size, cores),
                 "", "start more ranks on each machine, or lower agent.cores"};
}

/// If this rank is an agent of its machine, it serves here. Other ranks get the communicator of the computing ranks.
MPI_Comm serve_or_compute(MPI_Comm computing, MPI_Comm ranks, const AgentOptions& agent, Dedicated& dedicated) {
    auto machine = machine_with_posts(ranks, agent.cores);
    // The last ranks of the machine are its agents; a negative number is a computing rank.
    const int number = comm::rank_in(ranks) - (size_of(ranks) - agent.cores);
    MPI_Comm part = split(computing, number < 0 ? 0 : 1);
    dedicated.machine = machine;
    if (number < 0) return part;
    // Serving must not end this function early: the other ranks of the machine wait in the calls below.
    static_cast<void>(attempt([&] {
        agent::serve(machine.posts[static_cast<std::size_t>(number)],
                     [program = agent::agent_program(agent.program)](sys::Store&, const catalog::Snapshot& snapshot,
                                                                     Convention convention) {
                         return make_view_by(program, snapshot.directory, convention);
                     });
    }));
    machine.free();
    MPI_Comm_free(&part);
    return MPI_COMM_NULL;
}

}  // namespace

std::span<agent::Post> posts_of_process() {
    const auto* dedicated = dedicated_of_process();
    return dedicated != nullptr && dedicated->machine ? dedicated->machine->posts : std::span<agent::Post>();
}

node::Forwarding forwarding_of_process() {
    const auto* dedicated = dedicated_of_process();
    return dedicated != nullptr && dedicated->forwarders ? dedicated->forwarders->forwarding() : node::Forwarding();
}

namespace {

Result<MPI_Comm> dedicate_ranks(MPI_Comm world, const Result<Options>& given) {
    auto group = comm::mpi_group(world);
    FB_TRY(agree_on_options(*group, given, RunIs::optional));
    const auto& options = *given;
    const auto& agent = options.agent;
    FB_TRY_ASSIGN(hosts, comm::find_topology(std::move(group), options.virtual_nodes));
    const bool has_cores = agent.mode == AgentMode::dedicated, has_forwarders = agent.forwarders > 0;
    const bool forwards = Forwarders::is_one(hosts, options);
    std::unique_ptr<Dedicated> dedicated;
    std::function<Result<>(const forward::ViewWanted&)> make_view;
    FB_TRY(comm::agree(*hosts.world, [&]() -> Result<> {
        if ((has_cores || has_forwarders) && dedicated_of_process() != nullptr)
            return Error{ErrorKind::refused, "forebay::dedicate() was called before in this process."};
        dedicated = std::make_unique<Dedicated>();
        make_view = [program = agent::agent_program(agent.program)](const forward::ViewWanted& wanted) {
            return make_view_by(program, wanted.directory, wanted.convention);
        };
        return {};
    }));
    MPI_Comm computing = split(world, forwards ? 1 : 0);
    MPI_Comm ranks = MPI_COMM_NULL;  // of this machine
    Result<> own_result;
    if (has_cores && !forwards) {
        MPI_Comm_split_type(computing, MPI_COMM_TYPE_SHARED, comm::rank_in(computing), MPI_INFO_NULL, &ranks);
        own_result = attempt([&] { return enough_for(agent.cores, ranks); });
    }
    // Every rank comes here, also with an error of its own: a rank that returned early would leave the other ranks
    // waiting.
    const auto agreed = [&]() -> Result<> {
        if (!has_forwarders) return comm::agree(*hosts.world, own_result);
        FB_TRY_ASSIGN(forwarders, Forwarders::make(hosts, world, forwards ? MPI_COMM_NULL : computing, options,
                                                   own_result, make_view));
        dedicated->forwarders.emplace(std::move(forwarders));
        return {};
    }();
    if (!agreed || forwards) {
        if (ranks != MPI_COMM_NULL) MPI_Comm_free(&ranks);
        MPI_Comm_free(&computing);
    }
    FB_TRY(agreed);
    if (forwards) {
        dedicated->forwarders->serve(options.close_wait);
        return MPI_COMM_NULL;
    }
    if (has_cores) {
        MPI_Comm part = serve_or_compute(computing, ranks, agent, *dedicated);
        MPI_Comm_free(&computing);
        computing = part;
        // An agent leaves with the computing ranks of its machine. The forwarders wait for it as for them.
        if (part == MPI_COMM_NULL) {
            if (dedicated->forwarders) dedicated->forwarders->leave();
            return part;
        }
    }
    // MPI_Finalize deletes the attribute, which calls at_finalize(): it deletes the object.
    if (has_cores || has_forwarders) MPI_Comm_set_attr(MPI_COMM_SELF, key_of_dedicated(), dedicated.release());
    return computing;
}

}  // namespace

Result<MPI_Comm> dedicate(MPI_Comm world, const Options& options) {
    return attempt([&] { return dedicate(world, Result<Options>(options)); });
}

Result<MPI_Comm> dedicate(MPI_Comm world, const Result<Options>& options) {
    FB_TRY(comm::check_mpi());
    return attempt([&] { return dedicate_ranks(world, options); });
}

}  // namespace forebay
