#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

#include "way.hpp"

namespace bench {

namespace {

class ParallelHdf5 final : public Way {
public:
    ParallelHdf5(MPI_Comm comm, const Settings& settings, Data& data) : comm_(comm), settings_(settings), data_(data) {
        MPI_Comm_rank(comm, &rank_);
    }

    void save(int turn) override {
        const auto file = create(path_of(turn));
        const hsize_t all = data_.rows_all(), own_rows = data_.rows(), before = data_.rows_before();
        const auto whole = good(H5Screate_simple(1, &all, nullptr), "describing a column");
        const auto part = good(H5Screate_simple(1, &own_rows, nullptr), "describing a column");
        good(H5Sselect_hyperslab(whole, H5S_SELECT_SET, &before, nullptr, &own_rows, nullptr), "choosing rows");
        const auto transfer = good(H5Pcreate(H5P_DATASET_XFER), "describing the transfer");
        good(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "describing the transfer");
        const auto group = good(H5Gcreate2(file, "Step#0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "making the group");
        for (std::size_t c = 0; c < columns; ++c) {
            const auto type = column_of[c].is_integer ? H5T_NATIVE_INT32 : H5T_NATIVE_FLOAT;
            const auto dataset =
                good(H5Dcreate2(group, column_of[c].name, type, whole, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     "making a dataset");
            good(H5Dwrite(dataset, type, part, whole, transfer, data_.column(c).data()), "writing a column");
            good(H5Dclose(dataset), "closing a dataset");
        }
        good(H5Gclose(group), "closing the group");
        good(H5Pclose(transfer), "ending the transfer");
        good(H5Sclose(part), "ending the transfer");
        good(H5Sclose(whole), "ending the transfer");
        good(H5Fclose(file), "closing the file");
        if (rank_ == 0) sync_file(path_of(turn));
        MPI_Barrier(comm_);
    }

    void remove(int turn) override {
        if (rank_ == 0) ::unlink(path_of(turn).c_str());
        MPI_Barrier(comm_);
    }

private:
    template <class T>
    static T good(T status, const char* doing) {
        if (status < 0) fail(fmt::format("HDF5, {}", doing));  // it has printed why
        return status;
    }

    hid_t create(const std::string& path) const {
        auto info = buffering_hints(settings_);
        const auto access = good(H5Pcreate(H5P_FILE_ACCESS), "describing the file");
        good(H5Pset_fapl_mpio(access, comm_, info), "describing the file");
        good(H5Pset_alignment(access, settings_.stripe_bytes / 2, settings_.stripe_bytes), "describing the file");
        const auto file = good(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "creating the file");
        good(H5Pclose(access), "describing the file");
        MPI_Info_free(&info);
        return file;
    }

    std::string path_of(int turn) const { return fmt::format("{}/step-{:03}.h5", settings_.folder, turn); }

    MPI_Comm comm_;
    Settings settings_;
    Data& data_;
    int rank_ = 0;
};

}  // namespace

std::unique_ptr<Way> parallel_hdf5(MPI_Comm comm, const Settings& settings, Data& data) {
    return std::make_unique<ParallelHdf5>(comm, settings, data);
}

}  // namespace bench
