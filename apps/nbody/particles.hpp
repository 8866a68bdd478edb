// The particles of one rank: nine columns, 38 bytes a particle, as in HACC.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nbody {

struct Particles {
    std::vector<float> x, y, z;     // in cells, in [0, mesh)
    std::vector<float> vx, vy, vz;  // a^2 dx/dt
    std::vector<float> phi;         // psi at the particle
    std::vector<std::int64_t> id;   // its place on the initial lattice
    std::vector<std::uint16_t> mask;

    static constexpr std::size_t row_bytes = 7 * sizeof(float) + sizeof(std::int64_t) + sizeof(std::uint16_t);

    std::size_t size() const { return id.size(); }
    void resize(std::size_t rows) {
        each_column(*this, [rows](auto& column) { column.resize(rows); });
    }

    /// Calls `use` with each column, in the order of the snapshot.
    template <class Rows, class Use>
    static void each_column(Rows& rows, Use&& use) {
        use(rows.x), use(rows.y), use(rows.z), use(rows.vx), use(rows.vy), use(rows.vz), use(rows.phi);
        use(rows.id), use(rows.mask);
    }
};

static_assert(Particles::row_bytes == 38);

}  // namespace nbody
