#include "bench/mpi_nodes.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "core/base/splitmix.hpp"
#include "core/base/text_lines.hpp"
#include "core/sys/machine.hpp"

namespace forebay::bench {

namespace {

using advice::NodeAnswer;
using advice::Question;
using advice::Task;
using sys::Clock;

enum Tag : int { question_tag = 1, answer_tag, ring_tag };
constexpr std::size_t question_bytes_max = 256u << 10;
constexpr std::uint64_t ring_words = (1u << 20) / 8;
// Questions about clocks come in a row: after a message the next is awaited without sleep.
constexpr std::chrono::milliseconds awake_time{2};
constexpr std::chrono::microseconds nap{300};
// Time for the last messages of ranks that answer.
constexpr std::chrono::seconds end_max{5};

bool is_done(MPI_Request& request) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
}

// Sleeps, except while messages come and go.
class Rest {
public:
    void stir() { last_ = Clock::now(); }
    void take() const {
        if (Clock::now() - last_ > awake_time) std::this_thread::sleep_for(nap);
        else std::this_thread::yield();
    }

private:
    Clock::time_point last_ = Clock::now();
};

std::vector<std::uint64_t> pattern_of(int rank) {
    std::vector<std::uint64_t> words(ring_words);
    for (std::uint64_t i = 0; i < words.size(); ++i) words[i] = splitmix(static_cast<std::uint64_t>(rank), i);
    return words;
}

}  // namespace

void Meeting::begin(const Question& question) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    answer_ = {.number = question.number, .host = sys::host_name()};
    start_ = Clock::now();
    deadline_ = start_ + std::chrono::milliseconds(question.deadline_ms);
    open_ = true;
    std::vector<int> ranks;
    each_line(question.ranks, [&](std::string_view text) {
        while (!text.empty()) {
            const auto part = text.substr(0, text.find(','));
            const auto dash = part.find('-');
            const auto first = number_of<int>(part.substr(0, dash)).value_or(0);
            const auto last = dash == part.npos ? first : number_of<int>(part.substr(dash + 1)).value_or(first);
            for (int i = first; i <= last && i < size; ++i) ranks.push_back(i);
            text.remove_prefix(std::min(text.size(), part.size() + 1));
        }
    });
    const auto own = std::ranges::find(ranks, rank);
    if (own == ranks.end()) return;
    const auto at = static_cast<std::size_t>(own - ranks.begin());
    const int next = ranks[(at + 1) % ranks.size()], before = ranks[(at + ranks.size() - 1) % ranks.size()];
    sent_ = pattern_of(rank);
    received_.assign(ring_words, 0);
    pending_.resize(2, MPI_REQUEST_NULL);
    MPI_Irecv(received_.data(), static_cast<int>(ring_words), MPI_UINT64_T, before, ring_tag, comm_, &pending_[0]);
    MPI_Isend(sent_.data(), static_cast<int>(ring_words), MPI_UINT64_T, next, ring_tag, comm_, &pending_[1]);
    // A sum over ranks that do not answer would never end.
    sum_ = sum_expected_ = 0;
    if (static_cast<int>(ranks.size()) == size) {
        own_ = rank + 1;
        sum_expected_ = std::int64_t{size} * (size + 1) / 2;
        MPI_Iallreduce(&own_, &sum_, 1, MPI_INT64_T, MPI_SUM, comm_, &pending_.emplace_back(MPI_REQUEST_NULL));
    }
}

std::optional<NodeAnswer> Meeting::look() {
    if (!open_) {
        std::erase_if(pending_, is_done);  // operations that ended after their deadline
        return std::nullopt;
    }
    if (answer_.numbers.empty() && pending_.size() >= 2 && is_done(pending_[0])) {
        const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
        answer_.numbers = {static_cast<double>(ring_words * 8) / std::max(seconds, 1e-9)};
    }
    if (std::ranges::all_of(pending_, is_done)) {
        pending_.clear();
        open_ = false;
        int rank = 0;
        MPI_Comm_rank(comm_, &rank);
        if (sum_ != sum_expected_) answer_.failed = "MPI_Allreduce gives a wrong sum";
        // It came from an earlier rank. Its pattern shows which.
        int size = 1;
        MPI_Comm_size(comm_, &size);
        bool known = received_.empty();
        for (int i = 1; i < size && !known; ++i) {
            const int from = (rank + size - i) % size;
            if (received_[0] == splitmix(static_cast<std::uint64_t>(from), 0)) known = received_ == pattern_of(from);
        }
        if (!known) answer_.failed = "1 MiB over MPI arrived with wrong bytes";
        return answer_;
    }
    if (Clock::now() < deadline_) return std::nullopt;
    open_ = false;
    answer_.hangs = true;
    return answer_;
}

MpiNodes::MpiNodes(MPI_Comm comm) : comm_(comm), incoming_(advice::answer_bytes_max * 2), meeting_(comm) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    size_ = static_cast<std::size_t>(size);
    MPI_Irecv(incoming_.data(), static_cast<int>(incoming_.size()), MPI_CHAR, MPI_ANY_SOURCE, answer_tag, comm_,
              &receive_);
}

std::string MpiNodes::name(std::size_t node) const { return "rank " + std::to_string(node); }

Result<> MpiNodes::ask(std::size_t node, const std::string& question) {
    if (node == 0) {
        const auto read = advice::decode_question(question);
        if (read && read->task == Task::meet) meeting_.begin(*read);
        else worker_.take(question);
        return {};
    }
    auto& sent = sent_.emplace_back(Sent{MPI_REQUEST_NULL, question});
    MPI_Isend(sent.text.data(), static_cast<int>(sent.text.size()), MPI_CHAR, static_cast<int>(node), question_tag,
              comm_, &sent.request);
    return {};
}

void MpiNodes::forget_sent() {
    sent_.remove_if([](Sent& sent) { return is_done(sent.request); });
}

std::optional<advice::Nodes::Heard> MpiNodes::look() {
    if (auto own = meeting_.look()) return Heard{0, advice::encode(std::move(*own))};
    if (auto own = worker_.answer(Clock::now())) return Heard{0, std::move(*own)};
    int come = 0;
    MPI_Status status;
    MPI_Test(&receive_, &come, &status);
    if (come == 0) return std::nullopt;
    int bytes = 0;
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    Heard heard{static_cast<std::size_t>(status.MPI_SOURCE),
                std::string(incoming_.data(), static_cast<std::size_t>(std::max(bytes, 0)))};
    MPI_Irecv(incoming_.data(), static_cast<int>(incoming_.size()), MPI_CHAR, MPI_ANY_SOURCE, answer_tag, comm_,
              &receive_);
    return heard;
}

std::optional<advice::Nodes::Heard> MpiNodes::hear(Clock::time_point until) {
    const Rest rest;
    do {
        forget_sent();
        if (auto heard = look()) return heard;
        rest.take();
    } while (Clock::now() < until);
    return std::nullopt;
}

bool MpiNodes::end() {
    Question over;
    over.task = Task::end;
    const auto text = advice::encode(over);
    for (std::size_t node = 1; node < size_; ++node) static_cast<void>(ask(node, text));
    const auto deadline = Clock::now() + end_max;
    while ((!sent_.empty() || !meeting_.idle()) && Clock::now() < deadline) {
        forget_sent();
        static_cast<void>(look());
        std::this_thread::sleep_for(nap);
    }
    MPI_Cancel(&receive_);
    MPI_Wait(&receive_, MPI_STATUS_IGNORE);
    return sent_.empty() && meeting_.idle() && worker_.idle();
}

bool answer_rank_0(MPI_Comm comm) {
    advice::NodeWorker worker;
    Meeting meeting(comm);
    std::list<std::pair<MPI_Request, std::string>> answers;
    const auto send = [&](std::string text) {
        auto& sent = answers.emplace_back(MPI_REQUEST_NULL, std::move(text));
        MPI_Isend(sent.second.data(), static_cast<int>(sent.second.size()), MPI_CHAR, 0, answer_tag, comm, &sent.first);
    };
    Rest rest;
    std::vector<char> incoming(question_bytes_max);
    for (bool over = false; !over;) {
        answers.remove_if([](auto& sent) { return is_done(sent.first); });
        if (auto met = meeting.look()) send(advice::encode(std::move(*met)));
        while (auto answer = worker.answer(Clock::now())) {
            send(std::move(*answer));
            rest.stir();
        }
        int come = 0;
        MPI_Status status;
        MPI_Iprobe(0, question_tag, comm, &come, &status);
        if (come == 0) {
            rest.take();
            continue;
        }
        int bytes = 0;
        MPI_Get_count(&status, MPI_CHAR, &bytes);
        incoming.resize(std::max(incoming.size(), static_cast<std::size_t>(bytes)));
        MPI_Recv(incoming.data(), bytes, MPI_CHAR, 0, question_tag, comm, MPI_STATUS_IGNORE);
        rest.stir();
        const std::string text(incoming.data(), static_cast<std::size_t>(bytes));
        const auto question = advice::decode_question(text);
        if (question && question->task == Task::end) over = true;
        else if (question && question->task == Task::meet) meeting.begin(*question);
        else worker.take(text);
    }
    for (auto& [request, text] : answers) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return meeting.idle() && worker.idle();
}

}  // namespace forebay::bench
