#include "plain_saving.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace nbody {

namespace {

bool write_all(int file, const void* data, std::size_t bytes) {
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const auto written = ::write(file, from, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        from += written;
        bytes -= static_cast<std::size_t>(written);
    }
    return true;
}

}  // namespace

std::string PlainSaving::save() {
    const auto& slab = simulation_.slab;
    const auto path = directory_ + "/save-" + std::to_string(saves_++ % 2) + ".rank-" + std::to_string(slab.rank);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool good = file >= 0;
    const auto put = [&](const void* data, std::size_t bytes) { good = good && write_all(file, data, bytes); };
    const auto cells = static_cast<std::size_t>(slab.cells());
    put(&simulation_.state.step, sizeof simulation_.state.step);
    put(simulation_.density.data(), cells * sizeof(float));
    put(simulation_.psi.at(0, 0, 0), cells * sizeof(double));
    Particles::each_column(simulation_.particles,
                           [&](const auto& column) { put(column.data(), column.size() * sizeof(column[0])); });
    good = good && ::fsync(file) == 0;
    const int trouble = good ? 0 : errno;
    // Before close(), which may change errno.
    if (file >= 0) ::close(file);
    MPI_Barrier(slab.comm);
    return good ? std::string() : "cannot write " + path + ": " + std::strerror(trouble);
}

}  // namespace nbody
