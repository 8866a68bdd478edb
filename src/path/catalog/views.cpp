#include "path/catalog/views.hpp"

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/conventions.hpp"
#include "core/format/view_mark.hpp"

namespace forebay::catalog {

namespace {

Result<bool> has_mark(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::read));
    FB_TRY_ASSIGN(size, file->size());
    if (size < format::view_mark_bytes) return false;
    std::string end(format::view_mark_bytes, '\0');
    FB_TRY(file->read(size - end.size(), std::as_writable_bytes(std::span(end))));
    return format::is_view_mark(end, size);
}

}  // namespace

Result<Standing> what_stands(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(exists, store.exists(path));
    if (!exists) return Standing::nothing;
    const auto mark = has_mark(store, path);
    if (mark) return *mark ? Standing::view : Standing::other;
    switch (mark.error().kind) {
        case ErrorKind::missing: {
            // Removed meanwhile, or a broken link.
            FB_TRY_ASSIGN(still, store.exists(path));
            return still ? Standing::other : Standing::nothing;
        }
        case ErrorKind::refused:                          // a directory, or no permission
        case ErrorKind::corrupt: return Standing::other;  // cut while it was read
        default: return mark.error();
    }
}

Result<FoundViews> find_views(sys::Store& store, const std::string& stream_directory, std::int64_t step,
                              ViewsOf which) {
    FoundViews views;
    const auto look = [&](const std::string& name) -> Result<> {
        const auto path = stream_directory + "/" + name;
        FB_TRY_ASSIGN(standing, what_stands(store, path));
        if (standing == Standing::view) views.views.push_back(path);
        if (standing == Standing::other) views.others.push_back(path);
        return {};
    };
    for (const auto& known : describe::known_conventions) {
        FB_TRY(look(view_name(step, known.convention)));
        if (which == ViewsOf::step_and_series) FB_TRY(look(series_name(known.convention)));
    }
    return views;
}

Result<FoundViews> remove_views(sys::Store& store, const std::string& stream_directory, std::int64_t step,
                                ViewsOf which) {
    FB_TRY_ASSIGN(views, find_views(store, stream_directory, step, which));
    for (const auto& view : views.views) FB_TRY(store.remove(view));
    return views;
}

std::string stays_text(const std::string& path) {
    return note_line(fmt::format("{} stays: it has no mark of a Forebay view, so it may hold its own data. Views by "
                                 "earlier versions have no mark either, and show fill values without their snapshot",
                                 path),
                     fmt::format("rm {}, if you do not need it", path));
}

}  // namespace forebay::catalog
