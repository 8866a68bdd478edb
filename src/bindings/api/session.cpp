#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>

#include "bindings/api/alike.hpp"
#include "bindings/api/state.hpp"
#include "core/base/attempt.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/thread.hpp"
#include "core/sys/wait_until.hpp"
#include "path/agent/spool.hpp"
#include "path/node/await.hpp"

namespace forebay {

namespace {

bool has_analyses(const node::Control& page) {
    return std::ranges::any_of(page.streams, [](const auto& stream) { return stream.insitu[0] != '\0'; });
}

// True if some station still has to see the snapshot in a slot.
bool any_held(const node::Control& page) {
    return std::ranges::any_of(page.slots, [](const auto& slot) { return slot.holds.load() != 0; });
}

StreamOptions options_of_stream(const Options& options, const std::string& name) {
    for (const auto& [known, stream] : options.streams)
        if (known == name) return stream;
    return {};
}

}  // namespace

Result<> within(std::chrono::milliseconds limit, const std::string& what, std::function<Result<>()> work,
                const node::Say& say) {
    constexpr std::chrono::milliseconds turn{200};
    const auto task = std::make_shared<std::packaged_task<Result<>()>>(std::move(work));
    auto answer = task->get_future();
    auto started = sys::Thread::start([task] { (*task)(); });
    if (!started)
        return with_context(started.error(),
                            fmt::format("{} cannot be checked: {}. Nothing was written", what, started.error().what),
                            "", "allow this process more threads, then call again");
    // The thread cannot be stopped if it hangs in a dead mount. It owns `task`, so it may outlive this call.
    started->leave();
    for (node::LongWait wait(say, limit); !wait.is_over(); wait.turn([&] { return what + " to answer"; })) {
        if (answer.wait_for(std::min(turn, limit)) == std::future_status::ready) return answer.get();
        if (wait.is_interrupted()) return node::interrupted("the wait for " + what);
    }
    return Error{ErrorKind::retry,
                 fmt::format("{} did not answer for {} s. Nothing was written", what,
                             std::chrono::duration<double>(limit).count()),
                 "", "check that its file system answers. open_wait sets the time to wait"};
}

Result<std::string> absolute_path(const std::string& path, const std::string& what) {
    auto whole = sys::whole_place(path);
    if (whole) return whole;
    return with_context(whole.error(),
                        fmt::format("{}, {}, cannot be used: {}. Nothing was written", what, path, whole.error().what));
}

Result<> place_scripts(const std::string& stream, StreamOptions& options) {
    for (auto& analysis : options.insitu) {
        if (analysis.kind != Analysis::Kind::script) continue;
        FB_TRY_ASSIGN(path, absolute_path(analysis.script, fmt::format("the script of insitu.{} of stream '{}'",
                                                                       analysis.name, stream)));
        analysis.script = path;
    }
    return {};
}

Result<> look_for_scripts(const std::string& stream, const StreamOptions& options) {
    for (const auto& analysis : options.insitu) {
        if (analysis.kind != Analysis::Kind::script) continue;
        const auto file = sys::posix_store().open(analysis.script, sys::Access::read);
        if (!file)
            return with_context(
                file.error(),
                fmt::format("stream '{}': insitu.{}.script is {}, which {} cannot read: {}", stream, analysis.name,
                            show_text(analysis.script), sys::host_name(), file.error().what),
                "", "put it on a path that every node can read, or give another file");
    }
    return {};
}

Result<> SessionState::check_process() const {
    if (in_own_process()) return {};
    return Error{ErrorKind::refused,
                 fmt::format("the session belongs to process {}, the parent of this process. Nothing was done, and the "
                             "session continues there",
                             process_),
                 "", "save there, or open a session of another run here"};
}

Result<> SessionState::check_open() const {
    FB_TRY(check_process());
    if (staging) return topology.world->check();
    return Error{ErrorKind::refused, "the session is closed."};
}

Result<> SessionState::check_lost() const {
    const auto& page = staging->control();
    if (page.lost.load(std::memory_order_acquire) == 0) return {};
    return node::error_in(static_cast<std::uint32_t>(ErrorKind::refused), page.lost_text);
}

Result<> SessionState::check_apart_from_results(const std::string& name, const StreamOptions& wanted) const {
    std::map<std::string, StreamOptions> all(options.streams.begin(), options.streams.end());
    for (const auto& [other, stream] : streams_)
        if (const auto living = stream.lock()) all.insert_or_assign(other, living->stager.options());
    all.insert_or_assign(name, wanted);
    return describe::check_result_streams({all.begin(), all.end()});
}

Result<std::shared_ptr<StreamState>> SessionState::stream(const std::shared_ptr<SessionState>& self,
                                                          const std::string& name,
                                                          const std::optional<Result<StreamOptions>>& wanted) {
    FB_TRY(check_open());
    auto& world = *topology.world;
    std::shared_ptr<StreamState> there;
    Result<StreamOptions> chosen = StreamOptions{};
    FB_TRY(comm::agree(world, [&] {
        there = streams_[name].lock();
        if (wanted) chosen = *wanted;
        else chosen = there ? there->stager.options() : options_of_stream(options, name);
        // Only for a new stream: an open stream keeps its options.
        if (chosen && !there && beside_.profile) beside_.profile->set(name, options.in_file, *chosen, say_);
        return chosen ? place_scripts(name, *chosen) : Result<>();
    }));
    FB_TRY(agree_on_stream(world, name, chosen, there ? &there->stager.options() : nullptr));
    if (there) return there;
    std::shared_ptr<StreamState> state;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY(check_apart_from_results(name, *chosen));
        // Once a node: every node runs the scripts itself.
        if (topology.leads()) FB_TRY(look_for_scripts(name, *chosen));
        state = std::shared_ptr<StreamState>(new StreamState(self, name, *chosen), IfOwn());
        streams_[name] = state;
        return {};
    }));
    FB_TRY(comm::agree(world, [&] { return state->stager.add(); }));
    return state;
}

void SessionState::leave_computing(std::optional<std::uint32_t> stream) {
    if (topology.leads()) step_clock_.leave(staging->control(), sys::Clock::now(), stream);
}

void SessionState::compute_again() {
    if (topology.leads()) step_clock_.come_back(staging->control(), sys::Clock::now());
}

std::shared_ptr<StreamState> SessionState::living(const std::string& stream) const {
    const auto match = streams_.find(stream);
    return match == streams_.end() ? nullptr : match->second.lock();
}

void SessionState::end_save(const std::string& stream, const Result<Saved>& saved) {
    if (saved) job_.note_save(stream, *saved);
    compute_again();
    if (saved && beside_.profile) beside_.profile->compare(*saved, staging->control(), topology, say_);
}

Result<Job> SessionState::job(bool stop_wanted) {
    FB_TRY(check_open());
    FB_TRY_ASSIGN(job, job_.ask(stop_wanted));
    if (topology.leads()) step_clock_.step(staging->control(), sys::Clock::now());
    return job;
}

Result<> SessionState::free_staging() {
    // Files that were not packed stay, and the staging directory with them: close() reports them.
    if (!staging->agent_lives()) {
        if (any_held(staging->control())) {
            log([&] {
                return fmt::format(
                    "the staged copies in {} are committed, but not analysed yet. To do it: forebay drain {}",
                    staging->directory(), staging->directory());
            });
            return {};
        }
        FB_TRY(agent::remove_spools(staging->directory()));
        return staging->remove();
    }
    FB_TRY(agent::check_spools(staging->directory()));
    log([&] {  // it may be writing a view of thousands of variables
        return fmt::format("the agent on {} still works, and frees {} when it ends", sys::host_name(),
                           staging->directory());
    });
    return {};
}

Result<> SessionState::close() {
    FB_TRY(check_open());
    auto& page = staging->control();
    // A save without seal() would hold its slot for ever, and close() would wait for it.
    for (const auto& [name, stream] : streams_)
        if (const auto living = stream.lock()) living->stager.abandon();
    const bool leads = topology.leads();
    std::vector<std::uint32_t> slots;
    FB_TRY(comm::agree(*topology.world, [&] {
        for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) slots.push_back(i);
    }));
    const auto committed = node::await_commits(*topology.world, *staging, slots, options.close_wait, host(), say_);
    const bool all_here = node::show_pending(*staging, slots).empty();  // all snapshots of this node are committed
    for (const auto& stream : streams_) {
        const auto living = stream.second.lock();
        if (!living) continue;
        if (const auto late = living->counters().deadlines_missed; late != 0)
            log([&] {
                return fmt::format("stream '{}': {} snapshots were not durable by their deadline", stream.first, late);
            });
        living->stager.release();
    }
    const auto spool_is_packed = [this] {
        return attempt([this] { return agent::check_spools(staging->directory()); });
    };
    Result<> removed;
    bool was_interrupted = false;  // if interrupted, an agent that is a process goes on alone
    if (leads) {
        page.ending = 1;
        node::ring(page.bell);
        constexpr std::chrono::milliseconds look_pause{1};
        const auto begin = sys::Clock::now();
        node::LongWait wait(say_, options.close_wait);
        sys::wait_until(begin + std::max<sys::Clock::duration>(agent_end_max, options.close_wait), {look_pause}, [&] {
            if (!all_here || !staging->agent_lives()) return true;
            // An agent may take longer only to pack the spool, or to finish analyses: as a thread it cannot go on
            // alone.
            const bool analyses = has_analyses(page);
            const bool goes_on = options.agent.mode == AgentMode::thread && analyses;
            const auto timeout = analyses ? analyses_end_max : agent_end_max;
            if (sys::Clock::now() >= begin + timeout && !goes_on && spool_is_packed()) return true;
            wait.turn([&] { return "the agent on " + sys::host_name() + " to end, in " + staging->directory(); });
            was_interrupted = wait.is_interrupted();
            return was_interrupted;
        });
    }
    // A stuck agent never leaves, so it gets only a moment.
    if (leads) beside_.host->end(all_here && !was_interrupted ? agent_end_max : stuck_agent_end_max);
    // After the barrier no agent of this node counts any more, except a process that goes on.
    topology.node->barrier();
    // So the counters are final, with the analyses that the agent missed.
    for (const auto& [name, stream] : streams_)
        if (const auto living = stream.lock()) living->at_close = living->counters();
    const auto lost = attempt([this] { return check_lost(); });  // before the page goes with the directory
    if (leads && all_here) removed = attempt([this] { return free_staging(); });
    if (removed) removed = lost;
    beside_.crew.reset();
    job_.stop();
    target_.reset();
    timings.reset();
    staging.reset();
    // The wait for commits is collective, so its error is on all ranks and all return here.
    FB_TRY(committed);
    return comm::agree(*topology.world, removed);
}

}  // namespace forebay
