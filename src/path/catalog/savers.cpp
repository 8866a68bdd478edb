#include "path/catalog/savers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "core/base/try.hpp"
#include "core/format/packed.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"

namespace forebay::catalog {

namespace {

std::uint32_t session_in(const std::string& name) {
    if (const auto aside = aside_of(name)) return aside->line.session;
    if (const auto start = start_of(name)) return start->line.session;
    if (const auto dropped = dropped_of(name)) return dropped->session;
    return 0;
}

}  // namespace

// An unreadable manifest is skipped without an error. A restart from it returns the error.
Result<std::uint32_t> last_saver(sys::Store& store, const std::string& run, const std::string& stream,
                                 std::uint64_t run_id) {
    FB_TRY_ASSIGN(entries, list_stream(store, run, stream));
    std::uint32_t last = 0;
    std::vector<std::int64_t> steps;
    for (const auto& entry : entries) {
        last = std::max(last, session_in(entry.name));
        if (const auto step = step_of(entry.name); step && entry.is_directory) steps.push_back(*step);
    }
    std::ranges::sort(steps, std::ranges::greater{});
    for (const auto step : steps) {
        const auto head = load_manifest_head(store, fmt::format("{}/{}/{}", run, stream, step_name(step)));
        const auto own = head ? head->lineage.run_id : 0;
        if (!head || head->step != step || (own != 0 && run_id != 0 && own != run_id)) continue;
        return std::max(last, head->lineage.line().session);
    }
    return last;
}

Result<std::uint32_t> last_saver(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(run_id, identity_of(store, run));
    FB_TRY_ASSIGN(entries, store.list(run));
    std::uint32_t last = 0;
    for (const auto& entry : entries) {
        // Batches of packed files belong to no session. A directory that cannot be listed may belong to anybody.
        if (!entry.is_directory || entry.name == own_directory || format::is_packed_stream(entry.name)) continue;
        if (const auto own = last_saver(store, run, entry.name, run_id)) last = std::max(last, *own);
    }
    return last;
}

Result<std::uint32_t> last_saver_of_all(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(names, streams(store, run));
    std::uint32_t last = 0;
    for (const auto& stream : names) {
        if (format::is_packed_stream(stream)) continue;
        FB_TRY_ASSIGN(known, history(store, run, stream));
        last = std::max(last, known.last_session());
    }
    return last;
}

}  // namespace forebay::catalog
