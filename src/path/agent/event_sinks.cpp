#include "path/agent/event_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/bytes.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/format/json_text.hpp"
#include "core/sys/clock.hpp"
#include "path/catalog/run.hpp"
#include "path/node/event_ring.hpp"

namespace forebay::agent {

namespace {

std::uint32_t index_of(const node::Control& page, const std::string& stream) {
    const auto count = page.stream_count.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i)
        if (stream == page.streams[i].name.data()) return i;
    return node::streams_max;
}

void put_any_text(std::string& out, const std::string& text) {
    format::json::put_text(out, format::json::is_text(text) ? text : show_text(text));
}

// Outcomes of snapshots and of their analyses, and the reasons. They are kept because the agent's log goes with the
// session.
bool is_recorded(What what) {
    switch (what) {
        case What::committed:
        case What::set_aside:
        case What::failed:
        case What::not_analysed:
        case What::flagged:
        case What::analysis_note:
        case What::left_unseen:
        case What::worker_ended:
        case What::analyses_end:
        case What::slow:
        case What::avoids:
        case What::uses_again:
        case What::unplaced:
        case What::helped:
        case What::helps_not:
        case What::detours:
        case What::no_detour:
        case What::writes_again:
        case What::script_off: return true;
        default: return false;
    }
}

}  // namespace

std::string NodeFileOfRun::path() const {
    return fmt::format("{}/{}/{}-{}-{}.{}", run, catalog::own_directory, name, host, virtual_node, ending);
}

std::string NodeFileOfRun::old_path() const {
    return fmt::format("{}/{}/{}-{}-{}.old.{}", run, catalog::own_directory, name, host, virtual_node, ending);
}

// One write per text: a reader finds the text whole. After a crash it is absent, or torn at the end of the file.
Result<> append(sys::Store& store, const NodeFileOfRun& file, const std::string& text) {
    // Another run may lie at this path by now.
    FB_TRY(catalog::check_identity(store, file.run, file.run_id));
    FB_TRY_ASSIGN(open, store.open(file.path(), sys::Access::update));
    FB_TRY_ASSIGN(there, open->size());
    if (there + text.size() > file.bytes_max) {
        FB_TRY(open->close());
        // This replaces the last old file, so a node keeps at most two files of bytes_max.
        FB_TRY(store.rename(file.path(), file.old_path()));
        FB_TRY_ASSIGN(next, store.open(file.path(), sys::Access::update));
        open = std::move(next);
        there = 0;
    }
    FB_TRY(open->write(there, bytes_of(text)));
    return open->close();
}

Tell to_page(node::Control& page) {
    return [&page, alone = std::make_shared<std::mutex>()](const Event& event) {
        if (event.what == What::settled) return;  // for sinks inside the agent
        // Any thread of the agent may emit an event, but the ring takes one writer at a time.
        const std::lock_guard lock(*alone);
        node::put_event(page, {.unix_ns = sys::unix_ns(),
                               .what = static_cast<std::uint32_t>(event.what),
                               .stream = index_of(page, event.stream),
                               .step = event.step,
                               .bytes = event.bytes,
                               .seconds = event.seconds});
    };
}

std::string record_of(const Event& event, const std::string& host, std::int64_t unix_ns) {
    std::string line = "{\"forebay\":\"event\",\"version\":1,\"unix_ns\":";
    format::json::put_i64(line, unix_ns);
    line += fmt::format(",\"event\":\"{}\",\"host\":", name_of(event.what));
    put_any_text(line, host);
    line += ",\"stream\":";
    put_any_text(line, event.stream);
    line += ",\"step\":";
    format::json::put_i64(line, event.step);
    line += ",\"bytes\":";
    format::json::put_u64(line, event.bytes);
    line += ",\"seconds\":";
    format::json::put_f64(line, event.seconds);
    if (!event.detail.empty()) {
        line += ",\"text\":";
        put_any_text(line, event.detail);
    }
    return line + "}\n";
}

Tell to_run(sys::Store& store, const NodeFileOfRun& file, Tell tell) {
    struct State {
        std::mutex alone;
        bool fails = false;
    };
    return [&store, file, tell = std::move(tell), state = std::make_shared<State>()](const Event& event) {
        if (!is_recorded(event.what)) return;
        const std::lock_guard lock(state->alone);
        const auto appended = attempt([&] { return append(store, file, record_of(event, file.host, sys::unix_ns())); });
        if (!appended && !std::exchange(state->fails, true))
            tell({.what = What::unrecorded, .place = file.path(), .detail = appended.error().line()});
        if (appended) state->fails = false;
    };
}

}  // namespace forebay::agent
