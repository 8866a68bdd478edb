#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bindings/api/log.hpp"
#include "bindings/api/session_opening.hpp"
#include "core/base/attempt.hpp"
#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "path/telemetry/left_in_memory.hpp"

namespace forebay {

namespace {

using Left = std::vector<telemetry::SealedLeft>;

// Each status line costs one read. With more of them, `forebay ls` has to look.
constexpr std::size_t statuses_read_max = 1'000;

Result<Left> read_left(SessionState& session) {
    const auto& options = session.options;
    const auto left = std::make_shared<Left>();  // shared with the thread, which may hang
    FB_TRY(within(
        options.open_wait, "the run directory " + options.run,
        [store = session.target(), run = options.run, left]() -> Result<> {
            FB_TRY_ASSIGN(sealed, telemetry::find_left_in_memory(*store, run, sys::unix_ns(), {}, statuses_read_max));
            *left = std::move(sealed);
            return {};
        },
        session.say()));
    return std::move(*left);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

}  // namespace

// Agents of this session drain what its own nodes hold. If the job lacks a node, nobody drains what that node holds.
void tell_left_in_memory(SessionState& session) {
    auto& world = *session.topology.world;
    Left left;
    std::string text;
    if (world.rank() == 0) {
        auto outcome = read_left(session);
        if (outcome) left = std::move(*outcome);
        else session.log([&] { return outcome.error().line(); });
        for (const auto& snapshot : left)
            for (const auto& host : snapshot.hosts) text += host + "\n";
    }
    if (!world.broadcast_sized(text, 0)) return;
    const auto hosts = lines_of(text);
    if (hosts.empty()) return;
    std::vector<std::int64_t> is_here(hosts.size());
    std::ranges::transform(hosts, is_here.begin(), [](const auto& host) { return host == sys::host_name() ? 1 : 0; });
    world.max(is_here);
    if (world.rank() != 0) return;
    std::size_t at = 0;
    for (auto& snapshot : left) std::erase_if(snapshot.hosts, [&](const auto&) { return is_here[at++] != 0; });
    std::erase_if(left, [](const auto& snapshot) { return snapshot.hosts.empty(); });
    if (left.empty()) return;
    std::string note;
    for (const auto& snapshot : left) note += (note.empty() ? "" : " ") + telemetry::text_of(snapshot);
    note = note_line(note, telemetry::next_of(left));
    if (session.say()) session.log([&] { return note; });
    else static_cast<void>(attempt([&] { warn(note); }));
}

}  // namespace forebay
