#include "comm/mpi_group.hpp"

#include <algorithm>

namespace forebay::comm {

namespace {

// MPI-3 counts are ints; longer messages go in pieces of this size.
constexpr std::size_t piece_bytes = 1u << 30;

class MpiGroup final : public Group {
public:
    explicit MpiGroup(MPI_Comm owned) : comm_(owned) {
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
    }
    MpiGroup(const MpiGroup&) = delete;
    MpiGroup& operator=(const MpiGroup&) = delete;
    ~MpiGroup() override {
        // A session that outlives MPI_Finalize cannot free its communicators any more.
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized == 0) MPI_Comm_free(&comm_);
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void barrier() override { MPI_Barrier(comm_); }
    void max(std::span<std::int64_t> numbers) override { reduce(numbers, MPI_MAX); }
    void sum(std::span<std::int64_t> numbers) override { reduce(numbers, MPI_SUM); }

    void gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
        const auto ranks = static_cast<std::size_t>(size_);
        if (mine.size() <= piece_bytes / ranks || mine.size() < 2) {
            MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(),
                          static_cast<int>(mine.size()), MPI_BYTE, comm_);
            return;
        }
        for (int root = 0; root < size_; ++root) {
            const auto part = all.subspan(static_cast<std::size_t>(root) * mine.size(), mine.size());
            if (root == rank_) std::ranges::copy(mine, part.begin());
            broadcast(part, root);
        }
    }

    void broadcast(std::span<std::byte> bytes, int root) override {
        while (!bytes.empty()) {
            const auto now = std::min(bytes.size(), piece_bytes);
            MPI_Bcast(bytes.data(), static_cast<int>(now), MPI_BYTE, root, comm_);
            bytes = bytes.subspan(now);
        }
    }

    std::unique_ptr<Group> split(int colour) override {
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Comm_split(comm_, colour < 0 ? MPI_UNDEFINED : colour, rank_, &part);
        return part == MPI_COMM_NULL ? nullptr : std::make_unique<MpiGroup>(part);
    }

    std::unique_ptr<Group> split_shared() override {
        MPI_Comm machine = MPI_COMM_NULL;
        MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
        return std::make_unique<MpiGroup>(machine);
    }

private:
    void reduce(std::span<std::int64_t> numbers, MPI_Op op) {
        MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, op, comm_);
    }

    MPI_Comm comm_;
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace

std::unique_ptr<Group> mpi_group(MPI_Comm comm) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &own);
    return std::make_unique<MpiGroup>(own);
}

}  // namespace forebay::comm
