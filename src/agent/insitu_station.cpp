#include "agent/insitu_station.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "describe/analysis_list.hpp"
#include "node/analysis_rules.hpp"
#include "node/raised.hpp"
#include "sys/clock.hpp"

namespace forebay::agent {

namespace {

using Said = WorkerAnswer::Kind;

// Texts of a worker that are told, each once. They say what is wrong with the analyses as they were asked for, and
// there are few of them; numbers in them could make each one another.
constexpr std::size_t notes_max = 32;
// Of a worker about one snapshot: a problem for each of some hundred analyses of some hundred variables. One that says
// more has lost its way, and would keep the agent busy until the end of its time.
constexpr std::uint64_t answers_max = 65'536;

}  // namespace

/// The station's right to have a slot read, and the account of what becomes of the snapshot. Whoever clears the bit of
/// a lease counts the snapshot as not analysed: a save when it takes the slot, the station where the analysis fails.
/// The bit stays until the worker's last word, so that the agent that comes after a killed one has the rest made; the
/// count of a save that takes what was read by then is taken back when the results are there.
class InsituStation::Lease {
public:
    Lease(Slots& slots, std::uint32_t slot, const format::Line& line)
        : line_(line),
          event_(slots.event(What::analysed, slot)),
          slot_(slots.control(slot)),
          not_analysed_(slots.stream(slot).not_analysed),
          snapshot_id_(slot_.snapshot_id.load()) {}

    std::uint64_t snapshot_id() const { return snapshot_id_; }
    std::uint32_t stream() const { return slot_.stream; }
    const format::Line& line() const { return line_; }
    std::int64_t step() const { return event_.step; }
    Event event(What what) const {
        auto event = event_;
        event.what = what;
        return event;
    }
    sys::Clock::duration age() const { return sys::Clock::now() - begun_; }

    /// Whether a save has taken the slot.
    bool is_taken() const {
        return slot_.snapshot_id.load() != snapshot_id_ || (slot_.holds.load() & node::lease_hold) == 0;
    }
    /// The worker reads the slot no more.
    bool is_seen() const { return seen_; }
    void see() { seen_ = true; }
    // One of these two ends the lease.
    void count_unseen() {
        if (!give_back()) ++not_analysed_;
    }
    void count_made() {
        if (give_back()) --not_analysed_;
    }

private:
    // Whether a save has taken the slot, and counted that. Of another save the slot has a lease of its own; the agent,
    // whose thread this is, alone sets them.
    bool give_back() {
        return slot_.snapshot_id.load() != snapshot_id_ ||
               (slot_.holds.fetch_and(~node::lease_hold) & node::lease_hold) == 0;
    }
    const format::Line line_;
    const Event event_;
    node::SlotControl& slot_;
    std::atomic<std::uint64_t>& not_analysed_;
    const std::uint64_t snapshot_id_;
    const sys::Clock::time_point begun_ = sys::Clock::now();
    bool seen_ = false;
};

InsituStation::InsituStation(Slots& slots, std::string directory, AgentOptions options, Tell tell, InsituPace pace)
    : slots_(slots),
      directory_(std::move(directory)),
      options_(std::move(options)),
      tell_(std::move(tell)),
      pace_(pace) {}

// A text that cannot be read is for the worker to refuse: then somebody is told.
bool InsituStation::wants(std::uint32_t slot) const {
    const auto& text = slots_.stream(slot).insitu;
    if (text[0] == '\0') return false;
    const auto analyses = node::decode_analyses(text.data());
    const auto step = slots_.control(slot).step.load();
    return !analyses || std::ranges::any_of(*analyses, [&](const Analysis& one) { return step % one.every == 0; });
}

Result<> InsituStation::run(std::uint32_t slot, bool, move::Gate& gate, const std::atomic<bool>& stop) {
    // Of the save that is there now; a later one takes the lease as it begins, so its line is never asked for.
    auto peeked = slots_.peek(slot);
    if (!peeked && slots_.map(slot)) peeked = slots_.peek(slot);  // a killed agent had drained it
    Lease lease(slots_, slot, peeked ? peeked->record.lineage.line() : format::Line());
    if (lease.is_taken() || !wants(slot)) return {};
    if (ends_ >= pace_.ends_max) {
        leave_unseen(lease, "there are no more analyses in this session");
        return {};
    }
    const auto ran = [&]() -> Result<> {
        FB_TRY(begin(slot, lease));
        return follow(lease, gate, stop);
    }();
    if (ran) return {};
    if (stop.load()) {
        worker_.reset();  // it is in the middle of a snapshot
        if (lease.is_taken()) leave_unseen(lease, "the agent was told to leave");
        return ran;  // else the next agent has it analysed
    }
    end_worker(ran.error());
    leave_unseen(lease, ran.error().line());
    return {};
}

Result<> InsituStation::begin(std::uint32_t slot, const Lease& lease) {
    if (worker_) {
        const auto said = worker_->answer({});
        if (!said) end_worker(said.error());
        else if (said->kind != Said::none)
            end_worker({ErrorKind::corrupt, worker_->program() + " said something that it was not asked"});
    }
    if (!worker_) {
        FB_TRY_ASSIGN(started, AnalysisWorker::start(directory_, options_));
        worker_ = std::move(started);
        tell_({.what = What::worker_begun,
               .count = static_cast<std::uint64_t>(worker_->process()),
               .place = worker_->program()});
    }
    return worker_->see(slot, lease.snapshot_id(), lease.step());
}

// Until its last word on the snapshot. What waits for the agent meanwhile takes none of the worker's time.
Result<> InsituStation::follow(Lease& lease, move::Gate& gate, const std::atomic<bool>& stop) {
    sys::Clock::duration passed{0};
    std::optional<sys::Clock::duration> seen_at;
    std::uint64_t answers = 0;
    while (!stop.load()) {
        const bool taken = lease.is_taken();  // before the look for a `seen` that may have been said before
        FB_TRY_ASSIGN(answer, worker_->answer(gate.wanted() ? std::chrono::milliseconds(0) : pace_.look));
        const auto worked = lease.age() - passed;
        if (answer.kind == Said::none && taken && !lease.is_seen()) {
            worker_.reset();
            leave_unseen(lease, "a save needed its slot");
            return {};
        }
        if (worked > (seen_at ? *seen_at + pace_.made_max : pace_.seen_max))
            return Error{ErrorKind::retry,
                         fmt::format("{} had not {} it after {} s and was killed", worker_->program(),
                                     seen_at ? "finished" : "read", std::chrono::duration<double>(worked).count())};
        if (answer.kind != Said::none && ++answers > answers_max)
            return Error{ErrorKind::corrupt,
                         fmt::format("{} said more than {} lines about it", worker_->program(), answers_max)};
        FB_TRY_ASSIGN(done, hear(answer, lease));
        if (done) return {};
        if (!seen_at && lease.is_seen()) seen_at = worked;
        if (!gate.wanted()) continue;
        const auto before = lease.age();
        gate.pass();
        passed += lease.age() - before;
    }
    return Error{ErrorKind::retry, "stopped on request"};
}

// Whether it was the last word.
Result<bool> InsituStation::hear(const WorkerAnswer& answer, Lease& lease) {
    const auto misplaced = [&](const char* what) {
        return Error{ErrorKind::corrupt, fmt::format("{} said {}", worker_->program(), what)};
    };
    switch (answer.kind) {
        case Said::none: return false;
        case Said::problem:
            if (notes_told_.size() < notes_max && notes_told_.insert(answer.text).second) {
                auto note = lease.event(What::analysis_note);
                note.detail = answer.text;
                tell_(note);
            }
            return false;
        case Said::seen:
            if (lease.is_seen()) return misplaced("'seen' twice");
            lease.see();
            return false;
        case Said::raised:
            if (!lease.is_seen()) return misplaced("'raise' before 'seen'");
            raise(answer, lease);
            return false;
        case Said::failed:
            ends_ = 0;
            leave_unseen(lease, answer.text);
            return true;
        case Said::made: break;
    }
    if (!lease.is_seen()) return misplaced("'made' before 'seen'");
    ends_ = 0;
    lease.count_made();
    auto analysed = lease.event(What::analysed);
    analysed.count = answer.count;
    analysed.seconds = std::chrono::duration<double>(lease.age()).count();
    tell_(analysed);
    return true;
}

// What is for the application goes on the page, for its next step.
void InsituStation::raise(const WorkerAnswer& answer, const Lease& lease) {
    auto raised = lease.event(What::raised);
    raised.detail = answer.text;
    for (const auto& word : describe::action_words)
        if ((answer.actions & node::bit_of(word.value)) != 0) raised.detail += fmt::format(", {}", word.name);
    const bool is_for_application = (answer.actions & ~node::bit_of(Analysis::Action::mark)) != 0;
    auto& page = slots_.page();
    if (is_for_application && !node::put_raised(page, lease.stream(),
                                                {.step = lease.step(),
                                                 .snapshot_id = lease.snapshot_id(),
                                                 .line = lease.line(),
                                                 .actions = answer.actions,
                                                 .value = answer.value,
                                                 .text = answer.text}))
        raised.detail += "; the application is not told: it has not taken what was found before, by Session::job()";
    tell_(raised);
}

void InsituStation::end_worker(const Error& error) {
    worker_.reset();
    const bool is_last = ++ends_ == pace_.ends_max;
    tell_({.what = is_last ? What::analyses_end : What::worker_ended, .count = ends_, .detail = error.line()});
}

void InsituStation::leave_unseen(Lease& lease, const std::string& why) {
    lease.count_unseen();
    auto unseen = lease.event(What::not_analysed);
    unseen.detail = why;
    tell_(unseen);
}

}  // namespace forebay::agent
