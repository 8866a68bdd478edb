#include "measure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

namespace bench {

namespace {

// The disk's own writing, and the removal of the files of the turn before, are over by then.
constexpr std::chrono::milliseconds pause{400};

/// A mapping of shared memory with its pages there, as a slot is.
class WarmMapping {
public:
    explicit WarmMapping(std::size_t bytes) : bytes_(bytes) {
        place_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (place_ == MAP_FAILED) fail("no memory for the limit");
    }
    WarmMapping(const WarmMapping&) = delete;
    WarmMapping& operator=(const WarmMapping&) = delete;
    ~WarmMapping() { ::munmap(place_, bytes_); }
    std::byte* at(std::uint64_t offset) const { return static_cast<std::byte*>(place_) + offset; }

private:
    std::size_t bytes_;
    void* place_ = nullptr;
};

/// Asleep: ranks that wait in MPI_Barrier keep the cores from the agent.
void rest(MPI_Comm comm) {
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    for (int done = 0; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        std::this_thread::sleep_for(std::chrono::microseconds(200));
}

double slowest(MPI_Comm comm, double seconds) {
    double most = 0;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    return most;
}

std::uint64_t count_files(const std::string& folder) {
    std::uint64_t files = 0;
    for (auto at = std::filesystem::recursive_directory_iterator(folder); at != decltype(at)(); ++at) {
        // Of a run of Forebay what it knows of itself, once, and no part of a save.
        if (at->is_directory() && at->path().filename() == "forebay") at.disable_recursion_pending();
        files += at->is_regular_file() && at->path().filename().string().front() != '.';
    }
    return files;
}

}  // namespace

Samples measure(MPI_Comm comm, const Settings& settings, Data& data, Way& way, int repeats) {
    Samples samples;
    const WarmMapping limit(data.bytes());
    for (int turn = 0; turn <= repeats; ++turn) {
        rest(comm);
        std::this_thread::sleep_for(pause);
        MPI_Barrier(comm);
        const auto begin = MPI_Wtime();
        for (std::size_t c = 0; c < columns; ++c)
            std::memcpy(limit.at(c * data.rows() * element_bytes), data.column(c).data(), data.rows() * element_bytes);
        const auto copied = slowest(comm, MPI_Wtime() - begin);
        MPI_Barrier(comm);
        const auto start = MPI_Wtime();
        way.save(turn);
        const auto visible = MPI_Wtime() - start;
        way.wait_durable();
        const auto durable = MPI_Wtime() - start;
        rest(comm);
        if (turn == 0) {
            samples.files = count_files(settings.folder);
        } else {
            samples.memcpy.push_back(copied);
            samples.visible.push_back(slowest(comm, visible));
            samples.durable.push_back(slowest(comm, durable));
        }
        rest(comm);
        way.remove(turn);
    }
    return samples;
}

void fail(const std::string& why) {
    std::fputs(fmt::format("shared_bench: {}\n", why).c_str(), stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

void sync_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::fdatasync(file) != 0 || ::close(file) != 0) fail("syncing " + path);
}

}  // namespace bench
