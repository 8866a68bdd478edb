#include "transfer/program/mpi_team.hpp"

#include <array>
#include <thread>

namespace forebay::cli {

namespace {

constexpr int team_tag = 4;
// Messages answer each other: after a message the next is awaited without sleep.
constexpr std::chrono::milliseconds awake_time{1};
constexpr std::chrono::microseconds nap{200};

}  // namespace

MpiTeam::MpiTeam(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
    int bytes = 0;
    MPI_Get_processor_name(host.data(), &bytes);
    if (rank_ == 0) hosts_.resize(host.size() * static_cast<std::size_t>(size_));
    MPI_Gather(host.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, hosts_.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0, comm);
}

std::string MpiTeam::name(std::size_t process) const {
    return "rank " + std::to_string(process) + " on " + &hosts_[process * MPI_MAX_PROCESSOR_NAME];
}

MpiTeam::~MpiTeam() {
    begin_sends();
    for (auto& sent : sent_)
        if (!lost_.contains(sent.to)) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
}

void MpiTeam::send(std::size_t process, const tree::TeamMessage& message) {
    auto bytes = encode(message);
    const std::lock_guard lock(mutex_);
    unsent_.emplace_back(static_cast<int>(process), std::move(bytes));
}

void MpiTeam::begin_sends() {
    sent_.remove_if([](Sent& sent) {
        int is_done = 0;
        MPI_Test(&sent.request, &is_done, MPI_STATUS_IGNORE);
        return is_done != 0;
    });
    const std::lock_guard lock(mutex_);
    for (; !unsent_.empty(); unsent_.pop_front()) {
        auto& sent = sent_.emplace_back();
        sent.to = unsent_.front().first;
        sent.bytes = std::move(unsent_.front().second);
        MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, sent.to, team_tag, comm_,
                  &sent.request);
    }
}

bool MpiTeam::has_unsent() {
    const std::lock_guard lock(mutex_);
    return !unsent_.empty() || !sent_.empty();
}

std::optional<tree::TeamPort::Heard> MpiTeam::look() {
    int has_come = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_Improbe(MPI_ANY_SOURCE, team_tag, comm_, &has_come, &message, &status);
    // Probe and receive are matched, so that the size belongs to the received message.
    if (has_come == 0) return std::nullopt;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::vector<std::byte> bytes(static_cast<std::size_t>(count));
    MPI_Mrecv(bytes.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return Heard{static_cast<std::size_t>(status.MPI_SOURCE), tree::decode_team_message(bytes)};
}

std::optional<tree::TeamPort::Heard> MpiTeam::hear(sys::Clock::time_point until) {
    const auto awake_until = sys::Clock::now() + awake_time;
    while (true) {
        begin_sends();
        if (auto heard = look()) return heard;
        const auto now = sys::Clock::now();
        if (was_woken_.exchange(false) || now >= until) return std::nullopt;
        if (now < awake_until) std::this_thread::yield();
        else std::this_thread::sleep_for(nap);
    }
}

}  // namespace forebay::cli
