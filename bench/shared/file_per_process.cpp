#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "way.hpp"

namespace bench {

namespace {

class FilePerProcess final : public Way {
public:
    FilePerProcess(MPI_Comm comm, const Settings& settings, Data& data) : settings_(settings), data_(data) {
        MPI_Comm_rank(comm, &rank_);
    }

    void save(int turn) override {
        const auto path = path_of(turn);
        const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
        if (file < 0) fail(fmt::format("creating {}: {}", path, std::strerror(errno)));
        for (std::size_t c = 0; c < columns; ++c) write_all(file, std::as_bytes(data_.column(c)), path);
        if (::fdatasync(file) != 0 || ::close(file) != 0)
            fail(fmt::format("syncing {}: {}", path, std::strerror(errno)));
    }

    void remove(int turn) override { ::unlink(path_of(turn).c_str()); }

private:
    std::string path_of(int turn) const {
        return fmt::format("{}/step-{:03}-{:04}.bin", settings_.folder, turn, rank_);
    }

    static void write_all(int file, std::span<const std::byte> bytes, const std::string& path) {
        while (!bytes.empty()) {
            const auto written = ::write(file, bytes.data(), bytes.size());
            if (written < 0) fail(fmt::format("writing {}: {}", path, std::strerror(errno)));
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        }
    }

    Settings settings_;
    Data& data_;
    int rank_ = 0;
};

}  // namespace

std::unique_ptr<Way> file_per_process(MPI_Comm comm, const Settings& settings, Data& data) {
    return std::make_unique<FilePerProcess>(comm, settings, data);
}

}  // namespace bench
