// forebay::dedicate(): ranks that are agents. What the ranks of a machine share is a window of MPI; that a process ends
// is told by the attribute that it hangs on MPI_COMM_SELF, which MPI_Finalize deletes before all else
// (MPI 4.1, 11.2.4).

#include <fmt/format.h>

#include <memory>
#include <new>
#include <span>

#include "api/mpi_posts.hpp"
#include "api/state.hpp"
#include "comm/mpi_group.hpp"
#include "forebay/mpi.hpp"

namespace forebay {

namespace {

// A view may take as long as its snapshot is large; one that hangs must not keep its agent.
constexpr std::chrono::minutes view_max{30};

// The posts of this machine, in a window over its ranks; freed by all of them at once, when they finalise.
struct Machine {
    MPI_Comm ranks = MPI_COMM_NULL;
    MPI_Win window = MPI_WIN_NULL;
    std::span<drain::Post> posts;

    void free() {
        MPI_Win_free(&window);
        MPI_Comm_free(&ranks);
    }
};

int at_finalize(MPI_Comm, int, void* value, void*) {
    const std::unique_ptr<Machine> machine(static_cast<Machine*>(value));
    for (auto& post : machine->posts) drain::leave(post);
    machine->free();  // waits for the agents
    return MPI_SUCCESS;
}

// A key has to be the same in every call, and MPI has no names for keys.
int key_of_machine() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &made, nullptr);
        return made;
    }();
    return key;
}

Machine* machine_of_process() {
    void* value = nullptr;
    int found = 0;
    MPI_Comm_get_attr(MPI_COMM_SELF, key_of_machine(), static_cast<void*>(&value), &found);
    return found != 0 ? static_cast<Machine*>(value) : nullptr;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

MPI_Comm split(MPI_Comm world, int colour) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(world, colour, rank_in(world), &part);
    return part;
}

Machine machine_with_posts(MPI_Comm ranks, int cores) {
    Machine machine{.ranks = ranks};
    const int computing = size_of(ranks) - cores;
    const auto bytes = rank_in(ranks) == 0 ? static_cast<MPI_Aint>(sizeof(drain::Post)) * cores : 0;
    void* own = nullptr;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, ranks, static_cast<void*>(&own), &machine.window);
    MPI_Aint size = 0;
    int unit = 0;
    void* first = nullptr;
    MPI_Win_shared_query(machine.window, 0, &size, &unit, static_cast<void*>(&first));
    auto* posts = static_cast<drain::Post*>(first);
    if (rank_in(ranks) == 0)
        for (int i = 0; i < cores; ++i) new (posts + i) drain::Post(static_cast<std::uint32_t>(computing));
    MPI_Barrier(ranks);
    machine.posts = {posts, static_cast<std::size_t>(cores)};
    return machine;
}

// The library knows no HDF5: the program beside it makes views.
drain::ViewMaker make_view_by(const std::string& program) {
    return [program](sys::Store&, const catalog::Snapshot& snapshot) -> Result<> {
        const auto said = sys::output_of({program, "view", snapshot.directory}, view_max);
        return said ? Result<>() : Result<>(said.error());
    };
}

}  // namespace

std::span<drain::Post> posts_of_process() {
    const auto* machine = machine_of_process();
    return machine != nullptr ? machine->posts : std::span<drain::Post>();
}

Result<MPI_Comm> dedicate(MPI_Comm world, const Options& options) {
    const auto group = comm::mpi_group(world);
    Result<> mine = stage::check(options.agent);
    if (options.agent.mode != AgentMode::dedicated) {
        FB_TRY(comm::agree(*group, mine));
        return split(world, 0);
    }
    const int cores = options.agent.cores;
    MPI_Comm ranks = MPI_COMM_NULL;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank_in(world), MPI_INFO_NULL, &ranks);
    const int size = size_of(ranks);
    if (mine && size <= cores)
        mine =
            Error{ErrorKind::refused,
                  fmt::format("forebay: {} has {} ranks of this job, and {} dedicated cores leave none that computes. "
                              "Next: start more ranks on each machine, or lower agent.cores.",
                              sys::host_name(), size, cores)};
    if (mine && machine_of_process() != nullptr)
        mine = Error{ErrorKind::refused, "forebay: forebay::dedicate() was called before in this process."};
    if (const auto agreed = comm::agree(*group, mine); !agreed) {
        MPI_Comm_free(&ranks);
        return agreed.error();
    }
    auto machine = machine_with_posts(ranks, cores);
    const int agent = rank_in(ranks) - (size - cores);
    MPI_Comm part = split(world, agent < 0 ? 0 : 1);
    if (agent < 0) {
        MPI_Comm_set_attr(MPI_COMM_SELF, key_of_machine(), new Machine(machine));
        return part;
    }
    drain::serve(machine.posts[static_cast<std::size_t>(agent)], make_view_by(agent_program(options.agent.program)));
    machine.free();
    MPI_Comm_free(&part);
    return MPI_COMM_NULL;
}

}  // namespace forebay
