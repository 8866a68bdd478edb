#include <fmt/format.h>
#include <unistd.h>

#include "way.hpp"

namespace bench {

namespace {

void check(int status, const char* doing) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(status, text, &length);
    fail(fmt::format("{}: {}", doing, text));
}

class MpiIo final : public Way {
public:
    MpiIo(MPI_Comm comm, const Settings& settings, Data& data) : comm_(comm), settings_(settings), data_(data) {
        MPI_Comm_rank(comm, &rank_);
    }

    void save(int turn) override {
        MPI_File file = MPI_FILE_NULL;
        auto info = buffering_hints(settings_);
        const auto path = path_of(turn);
        check(MPI_File_open(comm_, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file), "opening the file");
        MPI_Info_free(&info);
        check(MPI_File_set_size(file, static_cast<MPI_Offset>(data_.bytes_all())), "setting the size");
        for (std::size_t c = 0; c < columns; ++c) {
            const auto offset = (c * data_.rows_all() + data_.rows_before()) * element_bytes;
            check(MPI_File_write_at_all(file, static_cast<MPI_Offset>(offset), data_.column(c).data(),
                                        static_cast<int>(data_.rows()), MPI_UINT32_T, MPI_STATUS_IGNORE),
                  "writing a column");
        }
        check(MPI_File_sync(file), "syncing the file");
        check(MPI_File_close(&file), "closing the file");
    }

    void remove(int turn) override {
        if (rank_ == 0) ::unlink(path_of(turn).c_str());
        MPI_Barrier(comm_);
    }

private:
    std::string path_of(int turn) const { return fmt::format("{}/step-{:03}.bin", settings_.folder, turn); }

    MPI_Comm comm_;
    Settings settings_;
    Data& data_;
    int rank_ = 0;
};

}  // namespace

MPI_Info buffering_hints(const Settings& settings) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    const auto stripe = std::to_string(settings.stripe_bytes);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "cb_buffer_size", stripe.c_str());
    MPI_Info_set(info, "striping_unit", stripe.c_str());
    return info;
}

std::unique_ptr<Way> mpi_io(MPI_Comm comm, const Settings& settings, Data& data) {
    return std::make_unique<MpiIo>(comm, settings, data);
}

}  // namespace bench
