#include "path/agent/post.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/show_text.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/log_file.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/thread.hpp"
#include "path/agent/serve.hpp"

namespace forebay::agent {

namespace {

constexpr std::chrono::milliseconds bell_look_pause{500};

bool take_empty(PostEntry& entry) {
    auto state = PostState::empty;
    return entry.state.compare_exchange_strong(state, PostState::writing, std::memory_order_acquire);
}

void answer(Post& post, PostEntry& entry, PostState state) {
    entry.state.store(state, std::memory_order_release);
    node::ring(post.news);
}

// Like the log of an agent process. Without a log the agent still serves.
Log log_into(const std::string& directory) {
    auto opened = sys::LogFile::open(node::agent_log_path(directory));
    if (!opened) return [](const std::string&) {};
    const auto file = std::make_shared<sys::LogFile>(std::move(*opened));
    return [file](const std::string& line) {
        file->write(fmt::format("{} {}", sys::unix_ns() / 1'000'000'000, show_message(line)));
    };
}

// The session waits only for the first answer. It sees a later error in its slots.
void end_with(Post& post, PostEntry& entry, const Error& error) {
    entry.error_kind = static_cast<std::uint32_t>(error.kind);
    node::set_error(entry.error_text, error);
    answer(post, entry, entry.state.load() == PostState::starting ? PostState::refused : PostState::empty);
}

void serve_session(Post& post, PostEntry& entry, const ViewMaker& make_view) {
    const auto served = attempt([&]() -> Result<> {
        const std::string directory = entry.directory.data();
        const auto ready = [&] { answer(post, entry, PostState::served); };
        const auto log = log_into(directory);
        const auto ended = run_agent(directory, ready, make_view, log, Hosted::rank);
        if (ended) return {};
        log(ended.error().line());
        return ended.error();
    });
    if (served) answer(post, entry, PostState::empty);
    else end_with(post, entry, served.error());
}

void end_sessions(Post& post) {
    for (auto& entry : post.entries) {
        if (entry.state.load(std::memory_order_acquire) != PostState::served) continue;
        if (auto staging = node::Staging::join(entry.directory.data())) {
            staging->control().ending = 1;
            node::ring(staging->control().bell);
        }
    }
}

}  // namespace

Result<> ask(Post& post, const std::string& directory, std::chrono::milliseconds timeout, const node::Say& say) {
    const auto entry = std::ranges::find_if(post.entries, take_empty);
    if (entry == post.entries.end())
        return Error{ErrorKind::full, fmt::format("its dedicated agent serves {} sessions already", post_sessions_max)};
    if (directory.size() >= entry->directory.size()) {
        answer(post, *entry, PostState::empty);
        return Error{ErrorKind::refused, fmt::format("the path of its staging directory, {}, is too long", directory)};
    }
    node::set_text(entry->directory, directory);
    entry->state.store(PostState::asked, std::memory_order_release);
    node::ring(post.bell);
    const auto deadline = sys::Clock::now() + timeout;
    node::LongWait wait(say, timeout);
    while (true) {
        wait.turn([&] { return fmt::format("the dedicated agent of {} to serve {}", sys::host_name(), directory); });
        // Read before the state: an answer after this read ends the wait below at once.
        const auto seen = post.news.load(std::memory_order_acquire);
        const auto state = entry->state.load(std::memory_order_acquire);
        if (state == PostState::refused) {
            const auto error = node::error_in(entry->error_kind, entry->error_text);
            entry->state.store(PostState::empty, std::memory_order_release);
            return error;
        }
        if (state != PostState::asked && state != PostState::starting) return {};
        if (wait.is_interrupted()) return node::interrupted("the wait for its dedicated agent");
        if (sys::Clock::now() >= deadline)
            return Error{ErrorKind::retry,
                         fmt::format("its dedicated agent did not answer for {} ms", timeout.count())};
        sys::wait_on(post.news, seen,
                     std::min<std::chrono::nanoseconds>(deadline - sys::Clock::now(), bell_look_pause));
    }
}

void leave(Post& post) {
    ++post.left;
    node::ring(post.bell);
}

void serve(Post& post, const ViewMaker& make_view) {
    struct SessionThread {
        std::atomic<bool> ended{false};
        sys::Thread thread;
    };
    // A list, because each thread keeps a reference to its element.
    std::list<SessionThread> serving;
    bool ending = false;
    while (true) {
        // Read before the entries: a ring after this read ends the wait below at once.
        const auto seen = post.bell.load(std::memory_order_acquire);
        for (auto& entry : post.entries) {
            auto state = PostState::asked;
            if (!entry.state.compare_exchange_strong(state, PostState::starting)) continue;
            const auto begun = attempt([&]() -> Result<> {
                auto& server = serving.emplace_back();
                auto started = sys::Thread::start([&post, &entry, &make_view, &server] {
                    serve_session(post, entry, make_view);
                    server.ended = true;
                    node::ring(post.bell);
                });
                if (!started) {
                    serving.pop_back();
                    return started.error();
                }
                server.thread = std::move(*started);
                return {};
            });
            if (!begun) end_with(post, entry, begun.error());
        }
        std::erase_if(serving, [](const SessionThread& thread) { return thread.ended.load(); });
        const bool all_left = post.left.load() >= post.ranks;
        if (all_left && serving.empty()) return;
        // Sessions that were neither closed nor destroyed: their own agent would wait for them for ever.
        if (all_left && !std::exchange(ending, true)) end_sessions(post);
        sys::wait_on(post.bell, seen, bell_look_pause);
    }
}

}  // namespace forebay::agent
