#include "path/agent/insitu_station.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/sys/clock.hpp"
#include "path/node/analysis_rules.hpp"
#include "path/node/flagged.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

namespace {

using Said = WorkerAnswer::Kind;

// The most texts of a worker that are reported, each once. They describe faults of the requested analyses, so there are
// few. Texts that differ only in numbers would all be different.
constexpr std::size_t notes_max = 32;
// The most lines of a worker about one snapshot: a problem for each of some hundred analyses of some hundred variables.
// A worker with more lines is broken, and would keep the agent busy until the end of its time.
constexpr std::uint64_t answers_max = 65'536;

}  // namespace

/// The station's right to have a slot read, and the count of unanalysed snapshots. Until the worker has read the slot,
/// the one who clears the lease bit counts the snapshot as not analysed: a save that takes the slot, or the station
/// after a failure. After that only the station counts it. The bit stays until the worker's last line, so the agent
/// after a killed agent has the results made. The lease of scripts ends when they have read the slot: a slot that waits
/// for scripts must differ from a slot that they have read (side_station.hpp).
class InsituStation::Lease {
public:
    Lease(Slots& slots, std::uint32_t slot, const Analysts& analysts)
        : event_(slots.event(What::analysed, slot)),
          slot_(slots.control(slot)),
          place_(analysts.what),
          hold_(analysts.lease),
          stream_(slots.stream(slot)),
          missed_(stream_.counts.*analysts.missed),
          snapshot_id_(slot_.snapshot_id.load()),
          ends_when_seen_(analysts.are_scripts) {
        if (!ends_when_seen_) slot_.holds.fetch_and(~node::lease_read);  // left by a killed agent
    }
    /// Tells retention that the snapshot is under analysis.
    void begin(std::atomic<std::uint64_t> node::StreamControl::*looked_at) {
        looked_at_ = &(stream_.*looked_at);
        *looked_at_ = snapshot_id_;
    }
    ~Lease() {
        if (looked_at_ != nullptr) *looked_at_ = 0;
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::uint64_t snapshot_id() const { return snapshot_id_; }
    std::uint32_t stream() const { return slot_.stream; }
    /// The line of the snapshot, for conditions that it fulfils.
    const format::Line& line() const { return line_; }
    void set_line(const format::Line& line) { line_ = line; }
    std::int64_t step() const { return event_.step; }
    Event event(What what) const {
        auto event = event_;
        event.what = what;
        event.place = place_;
        return event;
    }
    sys::Clock::duration age() const { return sys::Clock::now() - begun_; }

    /// True if a save took the slot.
    bool is_taken() const { return slot_.snapshot_id.load() != snapshot_id_ || (slot_.holds.load() & hold_) == 0; }
    /// True if the worker does not read the slot any more.
    bool is_seen() const { return seen_; }
    void see() {
        seen_ = true;
        if (ends_when_seen_) taken_ = give_back();
        else is_told_ = tell_read();
    }
    // One of these two ends the lease.
    void count_unseen() {
        if (!end() || is_told_) ++missed_;
    }
    void count_made() {
        if (end() && !is_told_) --missed_;
    }

private:
    std::uint32_t own_holds() const { return ends_when_seen_ ? hold_ : hold_ | node::lease_read; }
    // True if a save took the slot, and counted that. If the slot has another save, it has a new lease. Only the agent
    // sets leases, and this is its thread.
    bool give_back() {
        return slot_.snapshot_id.load() != snapshot_id_ || (slot_.holds.fetch_and(~own_holds()) & hold_) == 0;
    }
    // Marks the slot as read for the next save: it takes a read slot first. True if the mark came in time.
    bool tell_read() {
        if (slot_.snapshot_id.load() != snapshot_id_) return false;
        stream_.read_by_analyses = snapshot_id_;
        auto holds = slot_.holds.load();
        while ((holds & hold_) != 0)
            if (slot_.holds.compare_exchange_weak(holds, holds | node::lease_read)) return true;
        stream_.read_by_analyses = 0;
        return false;
    }
    bool end() {
        const bool taken = taken_ ? *taken_ : give_back();
        if (is_told_) stream_.read_by_analyses = 0;
        return taken;
    }

    format::Line line_;
    const Event event_;
    node::SlotControl& slot_;
    const char* const place_;
    const std::uint32_t hold_;
    node::StreamControl& stream_;
    std::atomic<std::uint64_t>& missed_;
    const std::uint64_t snapshot_id_;
    const sys::Clock::time_point begun_ = sys::Clock::now();
    const bool ends_when_seen_;
    std::atomic<std::uint64_t>* looked_at_ = nullptr;
    bool seen_ = false;
    bool is_told_ = false;       // the save that takes the slot does not count
    std::optional<bool> taken_;  // by a save; the result of give_back()
};

InsituStation::InsituStation(Slots& slots, std::string directory, AgentOptions options, Tell tell, InsituPace pace,
                             Analysts analysts)
    : slots_(slots),
      directory_(std::move(directory)),
      options_(std::move(options)),
      tell_(std::move(tell)),
      pace_(pace),
      analysts_(analysts),
      calls_(pace.ends_max) {
    if (!analysts_.are_scripts) count_lost();
}

void InsituStation::leave() {
    if (worker_) worker_->leave();
}

// A killed agent left the lease of an analysed snapshot, unless a save took the slot: then nobody makes the results.
void InsituStation::count_lost() {
    auto& page = slots_.page();
    for (std::uint32_t i = 0; i < page.stream_count.load(std::memory_order_acquire); ++i) {
        auto& stream = page.streams[i];
        const auto id = stream.read_by_analyses.exchange(0);
        if (id == 0) continue;
        // The application may be setting the stream of another slot. So the stream comes last.
        const bool is_there = std::ranges::any_of(page.slots, [&](const node::SlotControl& slot) {
            return slot.snapshot_id.load() == id && (slot.holds.load() & analysts_.lease) != 0 && slot.stream == i;
        });
        if (!is_there) ++(stream.counts.*analysts_.missed);
    }
}

// The analyses that this station runs for the slot's step.
Result<InsituStation::Due> InsituStation::due(std::uint32_t slot) const {
    FB_TRY_ASSIGN(analyses, node::decode_analyses(slots_.stream(slot).insitu.data()));
    Due due{std::move(analyses), {}};
    const auto step = slots_.control(slot).step.load();
    for (std::size_t i = 0; i < due.analyses.size(); ++i) {
        const bool is_script = due.analyses[i].kind == Analysis::Kind::script;
        if (is_script == analysts_.are_scripts && step % due.analyses[i].every == 0) due.indices.push_back(i);
    }
    return due;
}

// The worker rejects an unreadable text, so that somebody sees it.
bool InsituStation::wants(std::uint32_t slot) const {
    const auto analyses = due(slot);
    return analyses ? !analyses->indices.empty() : !analysts_.are_scripts;
}

// Uses its own mapping: the agent's loop may map the slot anew while this station runs on another thread. It is never
// called for a later save: this save takes the lease when it begins.
format::Line InsituStation::line_of(std::uint32_t slot, std::uint64_t snapshot_id) const {
    const auto path = slots_.path(slot);
    const auto mapping = sys::Mapping::open(path, false);
    if (!mapping) return {};
    const auto peeked = format::peek(mapping->bytes(), path);
    return peeked && peeked->record.snapshot_id == snapshot_id ? peeked->record.lineage.line() : format::Line();
}

void InsituStation::leave_out(std::uint32_t slot, const std::string& why) {
    Lease lease(slots_, slot, analysts_);
    if (!lease.is_taken()) leave_unseen(lease, why);
}

Result<> InsituStation::run(std::uint32_t slot, bool, move::Gate& gate, const std::atomic<bool>& stop) {
    Lease lease(slots_, slot, analysts_);
    if (lease.is_taken() || !wants(slot)) return {};
    lease.begin(analysts_.in_analysis);
    lease.set_line(line_of(slot, lease.snapshot_id()));
    if (ends_ >= pace_.ends_max) {
        leave_unseen(lease, fmt::format("there are no more {} in this session", analysts_.what));
        return {};
    }
    const auto ran = [&]() -> Result<> {
        const auto analyses = due(slot);  // on an error the worker reports the reason
        FB_TRY(begin(slot, lease, analyses ? *analyses : Due()));
        return follow(lease, gate, stop);
    }();
    if (ran) return {};
    if (must_leave(stop)) {
        worker_.reset();  // it is inside a snapshot
        if (lease.is_taken()) leave_unseen(lease, "the agent was asked to end");
        return ran;  // otherwise the next agent has it analysed
    }
    call_ended(lease, ran.error());
    leave_unseen(lease, ran.error().line());
    return {};
}

// A station of scripts runs beside the agent's loop: it gets this by `stop`.
bool InsituStation::must_leave(const std::atomic<bool>& stop) const {
    return stop.load() || (!analysts_.are_scripts && slots_.page().ending.load() == node::ending_after_drains);
}

// If a call of a script ended the worker, only that script pays for it.
void InsituStation::call_ended(const Lease& lease, const Error& error) {
    const auto name = calls_.worker_ended();
    if (!name) return end_worker(error);
    worker_.reset();
    if (!calls_.is_switched_off(*name)) {
        tell_({.what = What::worker_ended, .place = analysts_.what, .detail = error.line()});
        return;
    }
    auto off = lease.event(What::script_off);
    off.count = pace_.ends_max;
    off.place = *name;
    off.detail = error.line();
    tell_(off);
}

Result<> InsituStation::begin(std::uint32_t slot, const Lease& lease, const Due& due) {
    calls_.look_at(slots_.control(slot).stream, due.analyses, due.indices);
    if (worker_) {
        const auto answer = worker_->answer({});
        if (!answer) end_worker(answer.error());
        else if (answer->kind != Said::none)
            end_worker({ErrorKind::corrupt, worker_->program() + " sent an unexpected answer"});
    }
    // One interpreter at a time.
    const auto python = analysts_.are_scripts && !due.indices.empty() ? due.analyses[due.indices.front()].python : "";
    if (python != python_) worker_.reset();
    if (!worker_) {
        python_ = python;
        FB_TRY_ASSIGN(started, analysts_.are_scripts ? AnalysisWorker::start_python(directory_, options_, python)
                                                     : AnalysisWorker::start(directory_, options_));
        worker_ = std::move(started);
        tell_({.what = What::worker_begun,
               .count = static_cast<std::uint64_t>(worker_->process()),
               .place = worker_->program()});
    }
    return worker_->see(slot, lease.snapshot_id(), lease.step(), calls_.switched_off());
}

// Runs until the worker's last line on the snapshot. Work of the agent meanwhile does not count as the worker's time.
Result<> InsituStation::follow(Lease& lease, move::Gate& gate, const std::atomic<bool>& stop) {
    sys::Clock::duration passed{0};
    std::optional<sys::Clock::duration> seen_at;
    std::optional<sys::Clock::duration> taken_at;
    std::uint64_t answers = 0;
    while (!must_leave(stop)) {
        if (!taken_at && lease.is_taken()) taken_at = lease.age();
        FB_TRY_ASSIGN(answer, worker_->answer(gate.wanted() ? std::chrono::milliseconds(0) : pace_.look));
        const auto worked = lease.age() - passed - calls_.spent();
        // At its last check the worker may have had the lease, and be about to answer: then the snapshot has its
        // results. So it gets taken_max before it is killed.
        if (answer.kind == Said::none && !lease.is_seen() && taken_at && lease.age() > *taken_at + pace_.taken_max) {
            worker_.reset();
            calls_.forget();
            leave_unseen(lease, "a save needed its slot");
            return {};
        }
        if (const auto why = calls_.overdue()) return Error{ErrorKind::retry, *why};
        if (worked > (seen_at ? *seen_at + pace_.made_max : pace_.seen_max))
            return Error{ErrorKind::retry,
                         fmt::format("{} did not {} it within {} s and was killed", worker_->program(),
                                     seen_at ? "finish" : "read", std::chrono::duration<double>(worked).count())};
        if (answer.kind != Said::none && ++answers > answers_max)
            return Error{ErrorKind::corrupt,
                         fmt::format("{} sent more than {} lines about it", worker_->program(), answers_max)};
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

// True after the worker's last line.
Result<bool> InsituStation::hear(const WorkerAnswer& answer, Lease& lease) {
    const auto misplaced = [&](const char* what) {
        return Error{ErrorKind::corrupt, fmt::format("{} sent {}", worker_->program(), what)};
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
        case Said::flagged:
            if (!lease.is_seen()) return misplaced("'raise' before 'seen'");
            raise(answer, lease);
            return false;
        case Said::calls:
            if (!calls_.begin(answer.count)) return misplaced("'calls' of no script, or in a call");
            return false;
        case Said::returned:
            if (!calls_.end()) return misplaced("'returned' outside a call");
            return false;
        case Said::failed:
            ends_ = 0;
            calls_.survived();
            leave_unseen(lease, answer.text);
            return true;
        case Said::made: break;
    }
    if (!lease.is_seen()) return misplaced("'made' before 'seen'");
    ends_ = 0;
    calls_.survived();
    if (const auto name = calls_.left_out()) {
        leave_unseen(lease, fmt::format("analysis '{}' is switched off", *name));
        return true;
    }
    lease.count_made();
    auto analysed = lease.event(What::analysed);
    analysed.count = answer.count;
    analysed.seconds = std::chrono::duration<double>(lease.age()).count();
    tell_(analysed);
    return true;
}

// Conditions for the application go to the page, for its next step.
void InsituStation::raise(const WorkerAnswer& answer, const Lease& lease) {
    auto flagged = lease.event(What::flagged);
    flagged.detail = answer.text;
    for (const auto& word : describe::action_words)
        if ((answer.actions & node::bit_of(word.value)) != 0) flagged.detail += fmt::format(", {}", word.name);
    const bool is_for_application = (answer.actions & ~node::bit_of(Analysis::Action::mark)) != 0;
    if (is_for_application) {
        const node::Flagged condition{.stream = flagged.stream,
                                      .step = lease.step(),
                                      .snapshot_id = lease.snapshot_id(),
                                      .line = lease.line(),
                                      .actions = answer.actions,
                                      .value = answer.value,
                                      .text = answer.text};
        // The run comes first: the application may at once take the condition from the page, and remove it from the
        // run.
        const auto kept = attempt([&] { return slots_.keep_flagged(condition); });
        if (!kept) flagged.detail += "; a later session would not see it: " + kept.error().line();
        if (!slots_.put_flagged(lease.stream(), condition))
            flagged.detail += "; the application does not see it: it has not fetched the earlier conditions with job()";
    }
    tell_(flagged);
}

void InsituStation::end_worker(const Error& error) {
    worker_.reset();
    const bool is_last = ++ends_ == pace_.ends_max;
    tell_({.what = is_last ? What::analyses_end : What::worker_ended,
           .count = ends_,
           .place = analysts_.what,
           .detail = error.line()});
}

void InsituStation::leave_unseen(Lease& lease, const std::string& why) const {
    lease.count_unseen();
    auto unseen = lease.event(What::not_analysed);
    unseen.detail = why;
    tell_(unseen);
}

}  // namespace forebay::agent
