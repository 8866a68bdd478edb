#include "insight/advice/preflight/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <istream>
#include <mutex>
#include <vector>

#include "core/base/attempt.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"
#include "insight/advice/preflight/node_checks.hpp"
#include "insight/advice/preflight/probes.hpp"

namespace forebay::advice {

namespace {

constexpr std::uint64_t binary_piece_bytes = 1u << 20;
// A probe's share of its question's deadline, so that the answer can name the hanging part.
constexpr double probe_part = 0.9;
// The longest sleep of the answering thread before it checks for the end of questions.
constexpr std::chrono::milliseconds look_pause{100};

// sbatch --exclude takes Slurm's name of a node. It may differ from the name of the host, which may have a domain.
std::string own_name() {
    const char* of_slurm = std::getenv("SLURMD_NODENAME");
    return of_slurm != nullptr && *of_slurm != '\0' ? of_slurm : sys::host_name();
}

// A hash of paths and sizes of the program and its libraries. Contents would have to be read from storage.
std::uint64_t hash_of_programs() {
    const auto maps = sys::kernel_text("/proc/self/maps");
    std::string list;
    for (const auto& path : read_mapped_files(maps ? *maps : ""))
        if (const auto about = sys::look_at(path)) list += fmt::format("{} {}\n", path, about->bytes);
    return short_hash(list);
}

Result<std::uint64_t> hash_of_file(const std::string& path) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::read));
    FB_TRY_ASSIGN(bytes, file->size());
    std::vector<std::byte> piece(binary_piece_bytes);
    std::uint32_t crc = 0;
    for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
        const auto part = std::span(piece).first(std::min<std::uint64_t>(piece.size(), bytes - at));
        FB_TRY(file->read(at, part));
        crc = crc32c(part, crc);
    }
    return short_hash(fmt::format("{} {}", bytes, crc));
}

// The mount of the target. On a node without this mount, the directory lies on another file system.
std::uint64_t hash_of_place(const std::string& path) {
    const auto text = sys::kernel_text("/proc/self/mountinfo");
    const auto mounts = read_mountinfo(text ? *text : "");
    const auto* mount = mount_of(mounts, path);
    return mount == nullptr ? 0 : short_hash(mount->kind + " " + mount->source + " " + mount->place);
}

Result<> check_node(const Question& question, NodeAnswer& answer) {
    auto needs = question.needs;
    const auto& rules = question.rules;
    const auto now = sys::unix_ns();
    // First, because it clears hanging directories: later checks do not touch them.
    check_mounts(needs, rules, answer.findings);
    const auto memory = look_at_memory();
    judge_memory(memory, needs, rules, now, answer.findings);
    check_staging(memory, needs, rules, now, answer.findings);
    check_limits(needs, rules, answer.findings);
    std::uint64_t binary = 0;
    if (!needs.binary.empty()) {
        const auto hash = hash_of_file(needs.binary);
        if (hash) binary = *hash;
        else
            rules.add(answer.findings, CheckKind::mpi, {.severity = format::Severity::fail, .text = hash.error().what});
    }
    for (const auto number : {memory.usable(), needs.memory_bytes(), hash_of_programs(), binary,
                              needs.target.empty() ? 0 : hash_of_place(question.needs.target)})
        answer.numbers.push_back(static_cast<double>(number));
    return {};
}

Result<> perform_task(const Question& question, NodeAnswer& answer) {
    const std::chrono::milliseconds at_most(
        static_cast<std::int64_t>(static_cast<double>(question.deadline_ms) * probe_part));
    switch (question.task) {
        case Task::check: return check_node(question, answer);
        case Task::metadata: {
            FB_TRY_ASSIGN(times, probe_metadata(question.path, at_most));
            answer.numbers = {times.median, times.p99};
            return {};
        }
        case Task::speed: {
            FB_TRY_ASSIGN(speed, probe_node(question.needs.staging, question.needs.target, question.bytes, at_most));
            answer.numbers = {speed.staging, speed.checksum, speed.drain};
            return {};
        }
        case Task::target: {
            FB_TRY_ASSIGN(rate, probe_target(question.path, question.bytes, at_most));
            answer.numbers = {rate};
            return {};
        }
        case Task::clock: {
            const auto now = sys::unix_ns();
            const auto whole_seconds = now / 1'000'000'000;
            answer.numbers = {static_cast<double>(whole_seconds), static_cast<double>(now % 1'000'000'000)};
            return {};
        }
        case Task::meet:
        case Task::end: break;
    }
    return Error{ErrorKind::unsupported, "a single node cannot do this"};
}

class LocalNode final : public Nodes {
public:
    std::size_t size() const override { return 1; }
    std::string name(std::size_t) const override { return own_name(); }
    Result<> ask(std::size_t, const std::string& question) override {
        worker_.take(question);
        return {};
    }
    std::optional<Heard> hear(sys::Clock::time_point until) override {
        auto answer = worker_.answer(until);
        if (!answer) return std::nullopt;
        return Heard{0, std::move(*answer)};
    }

private:
    NodeWorker worker_;
};

}  // namespace

struct NodeWorker::State {
    struct Job {
        Question question;
        sys::Clock::time_point deadline;
        std::optional<NodeAnswer> done = {};
        sys::Thread thread = {};
    };
    mutable std::mutex lock;
    std::condition_variable bell;
    std::vector<std::shared_ptr<Job>> jobs;
};

NodeWorker::NodeWorker() : state_(std::make_shared<State>()) {}

NodeWorker::~NodeWorker() {
    const std::lock_guard hold(state_->lock);
    // A thread that hangs in a dead mount cannot be joined.
    for (const auto& job : state_->jobs)
        if (job->thread.runs()) job->thread.leave();
}

bool NodeWorker::idle() const {
    const std::lock_guard hold(state_->lock);
    return state_->jobs.empty();
}

void NodeWorker::take(const std::string& text) {
    auto question = decode_question(text);
    if (!question) return;
    const auto deadline = std::chrono::milliseconds(question->deadline_ms);
    auto job = std::make_shared<State::Job>(State::Job{std::move(*question), sys::Clock::now() + deadline});
    // Both are shared: a hanging thread may outlive the worker.
    const auto work = [job, state = state_] {
        auto answer = perform(job->question);
        const std::lock_guard hold(state->lock);
        job->done = std::move(answer);
        state->bell.notify_all();
    };
    // A thread start would delay the clock, so this question is answered here.
    if (job->question.task == Task::clock) {
        job->done = perform(job->question);
    } else {
        auto thread = sys::Thread::start(work);
        if (thread) job->thread = std::move(*thread);
        else job->done = NodeAnswer{job->question.number, own_name(), {}, {}, thread.error().what};
    }
    const std::lock_guard hold(state_->lock);
    state_->jobs.push_back(std::move(job));
    state_->bell.notify_all();
}

std::optional<std::string> NodeWorker::answer(sys::Clock::time_point until) {
    std::unique_lock hold(state_->lock);
    auto& jobs = state_->jobs;
    const auto is_ready = [now = sys::Clock::now()](const auto& job) { return job->done || job->deadline <= now; };
    auto ready = std::ranges::find_if(jobs, is_ready);
    if (ready == jobs.end()) {
        // An overdue job is an answer too.
        for (const auto& job : jobs) until = std::min(until, job->deadline);
        state_->bell.wait_until(hold, until);
        ready = std::ranges::find_if(
            jobs, [now = sys::Clock::now()](const auto& job) { return job->done || job->deadline <= now; });
        if (ready == jobs.end()) return std::nullopt;
    }
    const auto job = *ready;
    jobs.erase(ready);
    if (!job->done) {
        job->thread.leave();
        return encode(NodeAnswer{.number = job->question.number, .host = own_name(), .hangs = true});
    }
    auto answer = std::move(*job->done);
    hold.unlock();
    job->thread.join();  // it has no work left
    return encode(std::move(answer));
}

NodeAnswer perform(const Question& question) {
    NodeAnswer answer{.number = question.number, .host = own_name()};
    const auto done = attempt([&] { return perform_task(question, answer); });
    if (!done) answer.failed = done.error().what;
    return answer;
}

void serve_lines(std::istream& in, const std::function<void(const std::string&)>& say) {
    struct Input {
        std::atomic<bool> ended{false};
    };
    const auto input = std::make_shared<Input>();
    const auto worker = std::make_shared<NodeWorker>();
    const auto read = [&in, input, worker] {
        for (std::string line; std::getline(in, line);) worker->take(line);
        input->ended = true;
    };
    auto reader = sys::Thread::start(read);
    if (!reader) {
        read();  // one question after another
    }
    while (!input->ended || !worker->idle())
        if (const auto answer = worker->answer(sys::Clock::now() + look_pause)) say(*answer);
    if (reader) reader->join();
}

std::unique_ptr<Nodes> local_node() { return std::make_unique<LocalNode>(); }

}  // namespace forebay::advice
