// One way to write the particles of all ranks.

#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "data.hpp"

namespace bench {

struct Settings {
    std::string folder;  // at the target; exists
    std::uint64_t stripe_bytes = 16u << 20;
};

class Way {
public:
    virtual ~Way() = default;
    /// What the application waits for. Collective; ends the program on any error.
    virtual void save(int turn) = 0;
    /// Until all of it is on the disk. Collective.
    virtual void wait_durable() {}
    /// Collective.
    virtual void remove(int turn) = 0;
};

/// By each rank: write(2), fdatasync.
std::unique_ptr<Way> file_per_process(MPI_Comm comm, const Settings& settings, Data& data);
/// One file: MPI_File_write_at_all for each column, with collective buffering.
std::unique_ptr<Way> mpi_io(MPI_Comm comm, const Settings& settings, Data& data);
/// One file: a dataset for each column, written collectively. Null where there is no parallel HDF5.
std::unique_ptr<Way> parallel_hdf5(MPI_Comm comm, const Settings& settings, Data& data);
/// By Forebay's agents: a shared file, or node files. `toml` says how.
std::unique_ptr<Way> forebay_way(MPI_Comm comm, const Settings& settings, Data& data, const std::string& toml);

/// For an agent's rank it returns after all others have finalised; MPI_COMM_NULL then.
MPI_Comm without_agents(MPI_Comm world, const Settings& settings, const std::string& toml);

/// Ends all ranks, with the reason.
[[noreturn]] void fail(const std::string& why);

/// fdatasync of a file that other ranks of this machine wrote, too.
void sync_file(const std::string& path);

/// The hints of collective buffering that fit stripes of this size. The caller frees it.
MPI_Info buffering_hints(const Settings& settings);

}  // namespace bench
