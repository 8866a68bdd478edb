#include "migrate.hpp"

#include <cstring>
#include <numeric>

namespace nbody {

namespace {

void pack(const Particles& particles, std::size_t row, std::byte* to) {
    Particles::each_column(particles, [&](const auto& column) {
        std::memcpy(to, &column[row], sizeof column[row]);
        to += sizeof column[row];
    });
}

void unpack(const std::byte* from, Particles& particles, std::size_t row) {
    Particles::each_column(particles, [&](auto& column) {
        std::memcpy(&column[row], from, sizeof column[row]);
        from += sizeof column[row];
    });
}

std::vector<int> starts_of(const std::vector<int>& counts) {
    std::vector<int> starts(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
    return starts;
}

/// Moves the leaving rows out of `particles`. The rows that stay close up in order.
std::vector<std::byte> take_leaving(const Slab& slab, const std::vector<int>& owners, std::vector<int> next,
                                    std::size_t leaving, Particles& particles) {
    std::vector<std::byte> rows(leaving * Particles::row_bytes);
    std::size_t kept = 0;
    for (std::size_t row = 0; row < particles.size(); ++row) {
        const int owner = owners[row];
        if (owner != slab.rank) {
            pack(particles, row, rows.data() + static_cast<std::size_t>(next[owner]++) * Particles::row_bytes);
            continue;
        }
        if (kept != row) Particles::each_column(particles, [&](auto& column) { column[kept] = column[row]; });
        ++kept;
    }
    particles.resize(kept);
    return rows;
}

}  // namespace

void migrate(const Slab& slab, Particles& particles) {
    std::vector<int> owners(particles.size()), leave(slab.ranks, 0), arrive(slab.ranks, 0);
    for (std::size_t row = 0; row < particles.size(); ++row) {
        owners[row] = slab.owner(static_cast<std::int64_t>(particles.x[row]));
        if (owners[row] != slab.rank) ++leave[owners[row]];
    }
    MPI_Alltoall(leave.data(), 1, MPI_INT, arrive.data(), 1, MPI_INT, slab.comm);

    const auto leave_starts = starts_of(leave), arrive_starts = starts_of(arrive);
    const auto leaving = static_cast<std::size_t>(leave.back()) + static_cast<std::size_t>(leave_starts.back());
    const auto arriving = static_cast<std::size_t>(arrive.back()) + static_cast<std::size_t>(arrive_starts.back());
    const auto sent = take_leaving(slab, owners, leave_starts, leaving, particles);

    // MPI counts rows, not bytes: an int then suffices for two billion particles a rank.
    std::vector<std::byte> arrived(arriving * Particles::row_bytes);
    MPI_Datatype row_type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(Particles::row_bytes, MPI_BYTE, &row_type);
    MPI_Type_commit(&row_type);
    MPI_Alltoallv(sent.data(), leave.data(), leave_starts.data(), row_type, arrived.data(), arrive.data(),
                  arrive_starts.data(), row_type, slab.comm);
    MPI_Type_free(&row_type);

    const std::size_t stayed = particles.size();
    particles.resize(stayed + arriving);
    for (std::size_t i = 0; i < arriving; ++i) unpack(arrived.data() + i * Particles::row_bytes, particles, stayed + i);
}

}  // namespace nbody
