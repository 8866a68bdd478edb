#include "program/look/page_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/channel.hpp"
#include "program/look/page_parameters.hpp"
#include "program/look/plot_chart.hpp"
#include "program/python_tool.hpp"
#include "program/run/packed_sources.hpp"

namespace forebay::cli {

namespace {

using Tree = nlohmann::ordered_json;

// Each batch costs the read of a manifest.
constexpr std::size_t newest_batches = 4, newest_pictures = 24;
constexpr std::chrono::seconds chart_wait_max{120};  // on a new machine matplotlib searches fonts for a minute
constexpr std::uint64_t picture_bytes_max = 16u << 20;
// For a series: each step costs the read of a manifest and a node file.
constexpr std::size_t series_steps_max = 500;

/// The name without its last number: equal for all pictures of a series.
std::string series_of(const std::string& path) {
    const auto last = path.find_last_of("0123456789");
    if (last == std::string::npos) return path;
    auto first = last;
    while (first > 0 && path[first - 1] >= '0' && path[first - 1] <= '9') --first;
    return path.substr(0, first) + "*" + path.substr(last + 1);
}

Result<> check_stream(sys::Store& store, const std::string& run, const std::string& stream) {
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    if (std::ranges::find(streams, stream) != streams.end()) return {};
    return Error{ErrorKind::missing, fmt::format("the run has no stream '{}'", stream)};
}

/// Runs the tool of `forebay plot` as a child process.
Result<std::string> chart_png(Json chart) {
    chart.set("to", "-").set("others", Json::array());
    const auto tool = python_tool("charts", "");
    FB_TRY_ASSIGN(channel, sys::Channel::start({.program = tool.program,
                                                .arguments = tool.arguments,
                                                .environment = tool.environment,
                                                .environment_removed = {"LD_PRELOAD"},
                                                .log_path = {}}));
    FB_TRY_ASSIGN(bell, sys::Bell::make());
    channel.put(bytes_of(chart.line() + "\n"));
    const auto until = sys::Clock::now() + chart_wait_max;
    std::vector<std::byte> png;
    sys::Channel* const channels[] = {&channel};
    // A tool that ended early has not read all. take() notices its end.
    while (static_cast<void>(channel.flush()), channel.take(png)) {
        if (png.size() > picture_bytes_max || sys::Clock::now() >= until)
            return Error{ErrorKind::retry,
                         fmt::format("{} did not finish a chart in {} s", tool.program, chart_wait_max.count())};
        sys::wait_for(channels, bell, until);
    }
    std::string bytes(reinterpret_cast<const char*>(png.data()), png.size());
    if (bytes.starts_with("\x89PNG\r\n\x1a\n") && bytes.ends_with("IEND\xae\x42\x60\x82")) return bytes;
    const auto words = channel.last_words();
    return Error{ErrorKind::unsupported,
                 fmt::format("the chart was not drawn: {}",
                             words.empty() ? "the tool gave no reason" : words.substr(0, words.find('\n')))};
}

}  // namespace

Result<std::string> picture_list(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    std::map<std::string, Tree> newest;
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& stream : streams) {
        if (!format::is_packed_stream(stream)) continue;
        auto batches = catalog::snapshots(store, run, stream);
        if (!batches) continue;  // removed since it was listed
        if (batches->size() > newest_batches) batches->resize(newest_batches);
        for (const auto& batch : *batches) {
            const auto manifest = catalog::load_manifest(store, batch.directory);
            if (!manifest) continue;
            std::map<std::string, format::PackedFile> pictures;  // the last name of a series counts
            for (const auto& variable : manifest->schema.variables)
                if (const auto file = format::packed_file(variable); file && file->path.ends_with(".png"))
                    if (auto& kept = pictures[series_of(file->path)];
                        kept.path.size() <= file->path.size() && kept.path < file->path)
                        kept = *file;
            for (const auto& [series, file] : pictures) {
                if (newest.contains(series)) continue;
                newest[series] = {{"stream", stream},
                                  {"step", batch.step},
                                  {"path", file.path},
                                  {"made", static_cast<double>(file.modified_unix_ns) * 1e-9}};
                order.emplace_back(file.modified_unix_ns, series);
            }
        }
    }
    std::ranges::sort(order, std::greater<>());
    Tree list = Tree::array();
    for (const auto& [at, series] : order)
        if (list.size() < newest_pictures) list.push_back(newest[series]);
    return Tree{{"pictures", list}}.dump(-1, ' ', false, Tree::error_handler_t::replace);
}

Result<std::string> picture_png(sys::Store& store, const std::string& run, const report::PageQuery& query) {
    FB_TRY_ASSIGN(stream, needed_text(query, "stream"));
    FB_TRY_ASSIGN(path, needed_text(query, "path"));
    FB_TRY_ASSIGN(step, whole_of(query, "step", 0, {0, std::numeric_limits<std::int64_t>::max()}));
    FB_TRY(check_stream(store, run, stream));
    FB_TRY_ASSIGN(batches, catalog::snapshots(store, run, stream));
    const auto batch = std::ranges::find(batches, step, &catalog::Snapshot::step);
    if (batch == batches.end()) return Error{ErrorKind::missing, fmt::format("batch {} is gone", step)};
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, batch->directory));
    for (std::size_t v = 0; v < manifest.schema.variables.size(); ++v) {
        const auto file = format::packed_file(manifest.schema.variables[v]);
        if (!file || file->path != path) continue;
        if (file->bytes > picture_bytes_max)
            return Error{ErrorKind::refused, fmt::format("the picture has {}", show_bytes(file->bytes)), "",
                         fmt::format("forebay extract {}/{}", run, stream)};
        std::string png;
        PackedReader reader(store);
        FB_TRY(reader.read({*file, *batch, v}, [&](std::uint64_t, std::span<const std::byte> bytes) -> Result<> {
            png.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            return {};
        }));
        if (!png.starts_with("\x89PNG\r\n\x1a\n")) return Error{ErrorKind::refused, "this file is not a PNG"};
        return png;
    }
    return Error{ErrorKind::missing, "there is no such picture"};
}

Result<std::string> result_png(sys::Store& store, const std::string& run, const report::PageQuery& query) {
    FB_TRY_ASSIGN(stream, needed_text(query, "stream"));
    FB_TRY_ASSIGN(style, plane_style_of(query));
    FB_TRY(check_stream(store, run, stream));
    FB_TRY_ASSIGN(snapshots, catalog::snapshots(store, run, stream));
    auto place = fmt::format("{}/{}", run, stream);
    if (snapshots.size() > series_steps_max)
        place += fmt::format("@{}-{}", snapshots[series_steps_max - 1].step, snapshots.front().step);
    FB_TRY_ASSIGN(plot, read_plot_results(store, {place, {}}));
    const PlotStyle drawn{.pixels = std::max(style.pixels, 320), .palette = style.palette};
    if (plot.kind != PlotKind::plane) return chart_png(chart_json(plot, drawn));
    FB_TRY_ASSIGN(scene, scene_of(plot, drawn));
    FB_TRY_ASSIGN(png, insitu::draw_png(scene));
    return std::string(reinterpret_cast<const char*>(png.data()), png.size());
}

}  // namespace forebay::cli
