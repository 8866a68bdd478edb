// The class with MPI: its constructor, and the hook in MPI_Finalize that waits for unfinished files.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "bindings/api/mpi_behind.hpp"
#include "bindings/compat/genericio/binding.hpp"
#include "bindings/compat/genericio/pending.hpp"
#include "core/base/show_text.hpp"

namespace gio {

namespace own = forebay::genericio;

namespace {

void finish_all_by_ranks() {
    const auto finished = own::finish_all(forebay::made::Which::by_ranks);
    // MPI_Finalize cannot return our error, so print it.
    if (!finished) std::fprintf(stderr, "%s\n", forebay::show_message(finished.error().text()).c_str());
}

own::GridRanks ranks_of(MPI_Comm comm) {
    own::GridRanks ranks{forebay::behind::ranks_of(comm)};
    int topology = MPI_UNDEFINED, count = 0;
    MPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) MPI_Cartdim_get(comm, &count);
    if (count != 3) return ranks;
    int dims[3], periods[3], coords[3];
    MPI_Cart_get(comm, 3, dims, periods, coords);
    ranks.is_grid = true;
    for (std::size_t d = 0; d < 3; ++d) {
        ranks.dims[d] = static_cast<std::uint64_t>(dims[d]);
        ranks.coords[d] = static_cast<std::uint64_t>(coords[d]);
    }
    return ranks;
}

}  // namespace

GenericIO::GenericIO(const MPI_Comm& comm, const std::string& file, unsigned) : state_(new State) {
    static const bool once = (forebay::behind::at_finalize(finish_all_by_ranks), true);
    static_cast<void>(once);
    state_->data = make_data(ranks_of(comm), file);
}

// As in GenericIO: about 256 partitions, by the sum of the bytes of the node's name. For debugging, the rank modulo a
// number is added.
void GenericIO::setNaturalDefaultPartition() {
    const auto number = [](const char* name, int otherwise) {
        const char* text = std::getenv(name);
        return text == nullptr ? otherwise : std::atoi(text);
    };
    int partition = own::defaults().partition;
    if (number("GENERICIO_PARTITIONS_USE_NAME", 1) != 0) {
        char name[MPI_MAX_PROCESSOR_NAME];
        int length = 0;
        MPI_Get_processor_name(name, &length);
        partition = std::accumulate(name, name + length, 0, [](int sum, unsigned char c) { return (sum + c) % 256; });
    }
    const int modulo = number("GENERICIO_RANK_PARTITIONS", 0);
    if (modulo > 0) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        partition += rank % modulo;
    }
    setDefaultPartition(partition);
}

}  // namespace gio
