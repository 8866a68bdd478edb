#include "core/comm/mpi_group.hpp"

#include <algorithm>
#include <new>

namespace forebay::comm {

namespace {

// MPI-3 counts are ints, so longer messages go in pieces of this size.
constexpr std::size_t piece_bytes = 1u << 30;

bool is_finalized() {
    int ended = 0;
    MPI_Finalized(&ended);
    return ended != 0;
}

class MpiGroup final : public Group {
public:
    /// Memory for a group that will be made from `over`. If a rank has none, every rank throws bad_alloc: thrown by
    /// only one rank, it would leave the other ranks waiting.
    static std::unique_ptr<MpiGroup> room_on_all(MPI_Comm over) {
        std::unique_ptr<MpiGroup> group(new (std::nothrow) MpiGroup);
        int all = group != nullptr ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, over);
        if (all == 0) throw std::bad_alloc();
        return group;
    }
    void own(MPI_Comm comm) {
        comm_ = comm;
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
    }
    MpiGroup(const MpiGroup&) = delete;
    MpiGroup& operator=(const MpiGroup&) = delete;
    ~MpiGroup() override {
        // After MPI_Finalize a session can no longer free its communicators.
        if (comm_ != MPI_COMM_NULL && !is_finalized()) MPI_Comm_free(&comm_);
    }

    Result<> check() const override { return check_mpi(); }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void barrier() override { MPI_Barrier(comm_); }
    void max(std::span<std::int64_t> numbers) override { reduce(numbers, MPI_MAX); }
    void sum(std::span<std::int64_t> numbers) override { reduce(numbers, MPI_SUM); }

    void gather_all(std::span<const std::byte> own_bytes, std::span<std::byte> all) override {
        const auto ranks = static_cast<std::size_t>(size_);
        // One call if the result is a piece; else a broadcast from each rank, which goes in pieces.
        if (own_bytes.size() <= piece_bytes / ranks || own_bytes.size() < 2) {
            MPI_Allgather(own_bytes.data(), static_cast<int>(own_bytes.size()), MPI_BYTE, all.data(),
                          static_cast<int>(own_bytes.size()), MPI_BYTE, comm_);
            return;
        }
        for (int root = 0; root < size_; ++root) {
            const auto part = all.subspan(static_cast<std::size_t>(root) * own_bytes.size(), own_bytes.size());
            if (root == rank_) std::ranges::copy(own_bytes, part.begin());
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
        auto group = room_on_all(comm_);
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Comm_split(comm_, colour < 0 ? MPI_UNDEFINED : colour, rank_, &part);
        if (part == MPI_COMM_NULL) return nullptr;
        group->own(part);
        return group;
    }

    std::unique_ptr<Group> split_shared() override {
        auto group = room_on_all(comm_);
        MPI_Comm machine = MPI_COMM_NULL;
        MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
        group->own(machine);
        return group;
    }

private:
    MpiGroup() = default;
    void reduce(std::span<std::int64_t> numbers, MPI_Op op) {
        MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, op, comm_);
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

std::unique_ptr<Group> mpi_group(MPI_Comm comm) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &own);
    try {
        auto group = MpiGroup::room_on_all(own);
        group->own(own);
        return group;
    } catch (...) {
        // Collective too: all ranks are here, because all throw alike.
        MPI_Comm_free(&own);
        throw;
    }
}

Result<> check_mpi() {
    int begun = 0;
    MPI_Initialized(&begun);
    if (is_finalized())
        return Error{ErrorKind::refused, "MPI is finalised, and this call needs all ranks",
                     "committed snapshots, and staged snapshots, which the agents commit",
                     "close the session before MPI_Finalize"};
    if (begun == 0) return Error{ErrorKind::refused, "MPI is not initialised", "", "call MPI_Init before"};
    return {};
}

}  // namespace forebay::comm
