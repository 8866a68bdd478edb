#include "transfer/runs/views.hpp"

#include <fmt/format.h>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/conventions.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/views.hpp"

namespace forebay::cli {

Result<> OtherViews::leave_out(const catalog::Version& version) {
    const auto& [stream, step, directory] = version.snapshot;
    for (const auto& known : describe::known_conventions) {
        if (!version.set_aside)
            FB_TRY(leave_out(stream, catalog::view_name(step, known.convention),
                             fmt::format("--as {} --all", known.name)));
        FB_TRY(leave_out(stream, catalog::series_name(known.convention), fmt::format("--as {} --series", known.name)));
    }
    return {};
}

Result<> OtherViews::leave_out_if_other(const catalog::Version& version, const std::string& place) {
    const auto& [stream, step, directory] = version.snapshot;
    FB_TRY_ASSIGN(views, catalog::find_views(store_, directory_of(directory), step, catalog::ViewsOf::step_and_series));
    if (views.views.empty()) return {};
    const auto own = catalog::load_manifest(store_, directory);
    const auto other = catalog::load_manifest(store_, target_ + "/" + place);
    return own && other && own->nodes == other->nodes ? Result<>() : leave_out(version);
}

void OtherViews::tell(tree::EntryLog& entry_log) const {
    for (const auto& [command, first] : commands_)
        entry_log.add(tree::EntryEvent::skipped, first,
                      "a view points to node files in the source. For the target: " + command);
}

Result<> OtherViews::leave_out(const std::string& stream, const std::string& name, const std::string& words) {
    const auto place = stream + "/" + name;
    if (left_out_.contains(place)) return {};
    FB_TRY_ASSIGN(standing, catalog::what_stands(store_, source_ + "/" + place));
    if (standing != catalog::Standing::view) return {};
    left_out_.insert(place);
    filter_.exclude.push_back(place);
    commands_.emplace(fmt::format("forebay view {} {}", show_text(target_ + "/" + stream), words), place);
    return {};
}

}  // namespace forebay::cli
