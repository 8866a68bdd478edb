#include "program/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/format/packed.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"

namespace forebay::cli {

namespace {

std::optional<std::int64_t> number_in(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

std::string trimmed(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

// "." and ".." have no name of their own. Their canonical path has.
std::filesystem::path named(const std::string& path) {
    const std::filesystem::path given(path);
    if (given.filename() != "." && given.filename() != "..") return given;
    std::error_code error;
    const auto whole = std::filesystem::canonical(given, error);
    return error ? given : whole;
}

Result<bool> is_stream_at(sys::Store& store, const std::string& path) {
    auto entries = store.list(path);
    if (!entries && entries.error().kind == ErrorKind::missing) return false;
    if (!entries) return entries.error();
    return is_stream(*entries);
}

// "restart@100, restart@120": at most as many as fit into a message.
std::string shown(const std::vector<std::string>& names) {
    constexpr std::size_t names_max = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), names_max); ++i) text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > names_max) text += fmt::format(" and {} more", names.size() - names_max);
    return text;
}

// Takes "@STEP" off. A path may contain '@' itself.
Result<std::string> take_step(sys::Store& store, const std::string& text, Place& place) {
    const auto at = text.rfind('@');
    if (at == std::string::npos) return text;
    const auto word = text.substr(at + 1);
    place.last = word == "last";
    place.step = number_in(word);
    if (place.names_snapshot()) return text.substr(0, at);
    FB_TRY_ASSIGN(exists, store.exists(text));
    if (exists) return text;
    return Error{ErrorKind::refused, fmt::format("\"{}\" in {} is not a step or \"last\"", word, text), "",
                 fmt::format("forebay ls {}", text.substr(0, at))};
}

// The step directory RUN/STREAM/step-000120, as a shell completes it, or a directory of an abandoned line.
std::string take_step_directory(const std::string& text, Place& place) {
    const auto path = named(text);
    const auto name = path.filename().string();
    const auto step = catalog::step_of(name);
    const auto aside = catalog::aside_of(name);
    if ((!step && !aside) || place.names_snapshot()) return text;
    place.step = step ? *step : aside->step;
    if (aside) place.directory = text;
    return directory_of(path.string());
}

Result<Place> parse_place(sys::Store& store, const std::string& text, StreamNeed need) {
    Place place;
    FB_TRY_ASSIGN(given, take_step(store, text, place));
    const auto path = take_step_directory(trimmed(given), place);
    place.run = path;
    const auto run = run_to_make(store, path);
    // If RUN of RUN/STREAM is a file, find_run_of_stream() reports it.
    if (!run && need == StreamNeed::required) return place;
    FB_TRY(run);
    FB_TRY_ASSIGN(stream, is_stream_at(store, path));
    if (!stream) return place;
    place.run = directory_of(named(path).string());
    place.streams = {named(path).filename().string()};
    place.stream_named = true;
    return place;
}

bool is_of_results(sys::Store& store, const catalog::Snapshot& snapshot) {
    const auto manifest = catalog::load_manifest(store, snapshot.directory);
    return manifest && describe::is_result(manifest->schema);
}

// Several streams have the snapshot. If only streams of results have it, their source may have lost it to `keep` or a
// removal.
Error several_have(const Place& place, const std::string& asked, std::span<const catalog::Snapshot> matching,
                   const std::string& candidates, bool only_results) {
    const auto source = describe::source_stream(matching.front().stream);
    const bool is_one = std::ranges::all_of(matching, [&](const catalog::Snapshot& snapshot) {
        return describe::source_stream(snapshot.stream) == source;
    });
    if (!only_results || !place.step)
        return {ErrorKind::refused, fmt::format("several streams of {1} have {0}", asked, place.run), "",
                fmt::format("choose one of: {}", candidates)};
    return {ErrorKind::refused,
            fmt::format("{} of {} no longer {} {}. Only results of its analyses are left",
                        is_one ? "stream " + source : "the streams", place.run, is_one ? "has" : "have", asked),
            "", fmt::format("choose another step of forebay ls {}, or one of: {}", place.run, candidates)};
}

}  // namespace

Result<bool> names_snapshot(sys::Store& store, const std::string& text) {
    const auto at = text.rfind('@');
    if (at == std::string::npos) return false;
    const auto word = text.substr(at + 1);
    if (word != "last" && !number_in(word)) return false;
    FB_TRY_ASSIGN(exists, store.exists(text));
    return !exists;
}

Result<Place> find_place(sys::Store& store, const std::string& text, StreamNeed need) {
    FB_TRY_ASSIGN(place, parse_place(store, text, need));
    if (place.stream_named) return place;
    FB_TRY_ASSIGN(run,
                  need == StreamNeed::required ? find_run_of_stream(store, place.run) : find_run(store, place.run));
    place.run = run.path;
    FB_TRY_ASSIGN(streams, catalog::streams(store, place.run));
    place.streams = std::move(streams);
    return place;
}

Result<Place> find_place_to_write(sys::Store& store, const std::string& text) {
    FB_TRY_ASSIGN(place, parse_place(store, text, StreamNeed::optional));
    if (place.stream_named) return place;
    auto streams = catalog::streams(store, place.run);
    if (streams) place.streams = std::move(*streams);
    else if (streams.error().kind != ErrorKind::missing) return streams.error();
    return place;
}

Result<catalog::Snapshot> one_snapshot(sys::Store& store, const Place& place) {
    if (!place.directory.empty()) {
        FB_TRY_ASSIGN(exists, store.exists(place.directory));
        if (exists) return catalog::Snapshot{place.streams.front(), *place.step, place.directory};
        return Error{ErrorKind::missing, fmt::format("there is no snapshot {}", place.directory), "",
                     fmt::format("forebay ls {}", place.run)};
    }
    std::vector<catalog::Snapshot> matching;
    std::vector<std::string> meant, all;
    const bool states =
        std::ranges::any_of(place.streams, [](const std::string& stream) { return !format::is_packed_stream(stream); });
    for (const auto& stream : place.streams) {
        // The last snapshot of a run is a state, never a batch of packed files.
        if (states && !place.step && format::is_packed_stream(stream)) continue;
        FB_TRY_ASSIGN(snapshots, catalog::living_snapshots(store, place.run, stream));
        for (const auto& snapshot : snapshots) all.push_back(fmt::format("{}/{}@{}", place.run, stream, snapshot.step));
        const auto chosen =
            place.step ? std::ranges::find(snapshots, *place.step, &catalog::Snapshot::step) : snapshots.begin();
        if (chosen == snapshots.end()) continue;
        matching.push_back(*chosen);
        meant.push_back(fmt::format("{}/{}@{}", place.run, stream, chosen->step));
    }
    if (matching.size() == 1) return matching.front();
    const auto asked = place.step ? fmt::format("step {}", *place.step) : std::string("a last step");
    if (matching.size() > 1) {
        // If a state and results of analyses match, the state is meant.
        const auto is_state = [&](const catalog::Snapshot& snapshot) { return !is_of_results(store, snapshot); };
        const auto states_matching = std::ranges::count_if(matching, is_state);
        if (states_matching == 1) return *std::ranges::find_if(matching, is_state);
        return several_have(place, asked, matching, shown(meant), states_matching == 0);
    }
    const auto where = place.stream_named ? place.run + "/" + place.streams.front() : place.run;
    if (all.empty())
        return Error{ErrorKind::missing, fmt::format("{} has no committed snapshot", where), "",
                     fmt::format("forebay ls {}", place.run)};
    return Error{ErrorKind::missing, fmt::format("{} has no committed {}. It has: {}", where, asked, shown(all)), "",
                 fmt::format("forebay ls {}", place.run)};
}

std::string place_text(const catalog::Snapshot& snapshot) {
    const auto leaf = leaf_of(snapshot.directory);
    return catalog::step_of(leaf) ? fmt::format("{}@{}", snapshot.stream, snapshot.step)
                                  : fmt::format("{}/{}", snapshot.stream, leaf);
}

}  // namespace forebay::cli
