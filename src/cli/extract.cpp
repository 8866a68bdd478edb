// forebay extract: the files of packed streams, back as files.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "base/glob.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "catalog/block_reader.hpp"
#include "cli/json.hpp"
#include "cli/place.hpp"
#include "cli/progress.hpp"
#include "cli/say.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "format/packed.hpp"
#include "sys/local_file.hpp"

namespace forebay::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t window_bytes = 8 * limits::segment_bytes;

struct ExtractArguments {
    std::string place;
    std::vector<std::string> patterns;
    std::string directory = ".";
    bool overwrite = false;
    bool list = false;
    bool json = false;
};

struct Extracted {
    format::PackedFile file;
    std::string stream;
    std::int64_t step = 0;
    std::vector<std::int64_t> earlier;  // batches with another file of that path, as it was then or of another node
};

/// What is to be written, and where it lies.
struct Source {
    Extracted what;
    catalog::Snapshot snapshot;
    std::size_t variable = 0;
};

Error problem(ErrorKind kind, const std::string& text, const std::string& next) { return {kind, text, "", next}; }

bool is_wanted(const ExtractArguments& options, const std::string& path) {
    return options.patterns.empty() || std::ranges::any_of(options.patterns, [&](const std::string& pattern) {
               return matches(pattern, path, Wild::star_and_question);
           });
}

Result<std::vector<catalog::Snapshot>> batches(sys::Store& store, const ExtractArguments& options) {
    FB_TRY_ASSIGN(place, find_place(store, options.place));
    std::vector<catalog::Snapshot> found;
    for (const auto& stream : place.streams) {
        if (!place.stream_named && !format::is_packed_stream(stream)) continue;
        FB_TRY_ASSIGN(all, catalog::snapshots(store, place.run, stream));
        for (const auto& snapshot : all)
            if (!place.step || *place.step == snapshot.step) found.push_back(snapshot);
        if (place.last && !all.empty()) found.assign(1, all.front());
    }
    if (found.empty())
        return problem(ErrorKind::missing, fmt::format("{} has no packed files.", options.place),
                       "forebay ls " + place.run);
    // Older batches first: of a file that is in two of them the later one is meant.
    std::ranges::stable_sort(found, {}, &catalog::Snapshot::step);
    return found;
}

// The files that are wanted, by their manifests alone.
Result<std::vector<Source>> sources_in(sys::Store& store, const ExtractArguments& options) {
    FB_TRY_ASSIGN(all, batches(store, options));
    std::map<std::pair<std::string, std::string>, Source> by_path;  // of one stream
    for (const auto& snapshot : all) {
        FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
        const auto& variables = manifest.schema.variables;
        for (std::size_t v = 0; v < variables.size(); ++v) {
            const auto file = format::packed_file(variables[v]);
            if (!file)
                return problem(ErrorKind::refused,
                               fmt::format("{} holds the variable '{}', which is no packed file.", snapshot.directory,
                                           variables[v].name),
                               "forebay show " + snapshot.directory);
            if (!is_wanted(options, file->path)) continue;
            auto& source = by_path[{snapshot.stream, file->path}];
            auto earlier = std::move(source.what.earlier);
            if (!source.snapshot.directory.empty() && source.what.file != *file) earlier.push_back(source.what.step);
            source = {{*file, snapshot.stream, snapshot.step, std::move(earlier)}, snapshot, v};
        }
    }
    std::vector<Source> sources;
    sources.reserve(by_path.size());
    for (auto& [key, source] : by_path) sources.push_back(std::move(source));
    // By batch, whose head is then read once.
    std::ranges::stable_sort(sources, [](const Source& a, const Source& b) {
        return std::tie(a.snapshot.directory, a.variable) < std::tie(b.snapshot.directory, b.variable);
    });
    return sources;
}

/// Writes files below one directory, through no link.
class Extractor {
public:
    Extractor(sys::Store& store, const ExtractArguments& options)
        : store_(store), options_(options), window_(window_bytes) {}

    Result<> extract(const Source& source, const std::function<void(std::uint64_t)>& wrote) {
        if (opened_ != source.snapshot.directory) FB_TRY(open(source.snapshot));
        const auto path = fs::path(options_.directory) / source.what.file.path;
        FB_TRY(make_place(path));
        // A name that was free: whatever has it is this file alone.
        const auto temporary = sys::random_name_beside(path.string());
        FB_TRY_ASSIGN(out, sys::create_new(temporary));
        const auto extracted = [&]() -> Result<> {
            FB_TRY(write(source, *out, wrote));
            // Neither set-user-ID nor set-group-ID: who extracts is not who wrote.
            FB_TRY(sys::set_mode_and_time(temporary, source.what.file.mode & 0777, source.what.file.modified_unix_ns));
            return give_name(temporary, path.string());
        }();
        // The first error is the one to tell; what cannot be removed either has a name that says what it is.
        if (!extracted) static_cast<void>(store_.remove(temporary));
        return extracted;
    }

private:
    Result<> open(const catalog::Snapshot& snapshot) {
        FB_TRY_ASSIGN(manifest, catalog::load_manifest(store_, snapshot.directory));
        auto reader = catalog::BlockReader::open(store_, snapshot.directory, manifest.nodes.front());
        if (!reader && reader.error().kind == ErrorKind::corrupt)
            return problem(ErrorKind::corrupt, reader.error().what, "forebay verify " + snapshot.directory);
        if (!reader) return reader.error();
        if (reader->head().schema != manifest.schema)
            return problem(ErrorKind::corrupt, reader->name() + " is not the file that was committed.",
                           "forebay verify " + snapshot.directory);
        reader_.emplace(std::move(*reader));
        opened_ = snapshot.directory;
        return {};
    }

    Result<> make_place(const fs::path& path) {
        fs::path at = options_.directory;
        for (const auto& part : path.parent_path().lexically_relative(options_.directory)) {
            if (part == ".") continue;
            at /= part;
            const auto seen = sys::look_at(at.string());
            if (seen && seen->kind == sys::LocalFile::Kind::other)
                return problem(ErrorKind::refused,
                               show_text(at.string()) + " is a link: nothing is written through it.",
                               "extract into another directory: -C DIR");
        }
        // Asked before as well, so that nothing large is written in vain.
        FB_TRY_ASSIGN(exists, store_.exists(path.string()));
        if (exists && !options_.overwrite) return is_there(path.string());
        return store_.make_directories(path.parent_path().empty() ? "." : path.parent_path().string());
    }

    Result<> give_name(const std::string& temporary, const std::string& path) {
        if (options_.overwrite) return store_.rename(temporary, path);
        const auto renamed = sys::rename_to_free(temporary, path);
        if (renamed) return renamed;
        FB_TRY_ASSIGN(exists, store_.exists(path));
        return exists ? Result<>(is_there(path)) : renamed;
    }

    static Error is_there(const std::string& path) {
        return problem(ErrorKind::refused, show_text(path) + " exists.", "--overwrite, or -C DIR");
    }

    Result<> write(const Source& source, sys::File& out, const std::function<void(std::uint64_t)>& wrote) {
        const auto block = reader_->head().first_block[source.variable];
        const auto bytes = source.what.file.bytes;
        for (std::uint64_t at = 0; at < bytes; at += window_.size()) {
            const auto now = std::span(window_).first(std::min<std::uint64_t>(window_.size(), bytes - at));
            FB_TRY(reader_->read(block, at, now, scratch_));
            FB_TRY(out.write(at, now));
            wrote(now.size());
        }
        FB_TRY(out.sync());
        return out.close();
    }

    sys::Store& store_;
    const ExtractArguments& options_;
    std::string opened_;
    std::optional<catalog::BlockReader> reader_;
    catalog::BlockReader::Scratch scratch_;
    std::vector<std::byte> window_;
};

Json extracted_json(const Extracted& one) {
    auto object = Json::object();
    object.set("path", one.file.path).set("bytes", one.file.bytes).set("mode", one.file.mode);
    object.set("modified_unix_ns", one.file.modified_unix_ns).set("stream", one.stream).set("step", one.step);
    auto earlier = Json::array();
    for (const auto step : one.earlier) earlier.push(step);
    return object.set("earlier", earlier);
}

Shown line_of(const Extracted& one) {
    auto line = lines("{}  {} bytes  {}@{}", one.file.path, one.file.bytes, one.stream, one.step);
    for (const auto step : one.earlier)
        line += lines("{}@{}", step == one.earlier.front() ? ", others in " : ", ", step);
    return line += lines("\n");
}

// Two streams may hold the same path: nodes write what they like. Both would be one file.
Result<> check_paths(const std::vector<Source>& sources) {
    std::map<std::string, const Source*> seen;
    for (const auto& source : sources) {
        const auto [at, is_new] = seen.try_emplace(source.what.file.path, &source);
        if (is_new) continue;
        return problem(ErrorKind::refused,
                       fmt::format("{} is in {} and in {}.", show_text(source.what.file.path), at->second->what.stream,
                                   source.what.stream),
                       "name one of them, RUN/STREAM, or its --list");
    }
    return {};
}

Result<Exit> extract(const ExtractArguments& options) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(sources, sources_in(store, options));
    if (sources.empty())
        return problem(ErrorKind::missing, fmt::format("no packed file of {} matches.", options.place),
                       fmt::format("forebay extract {} --list", options.place));
    if (!options.list) {
        FB_TRY(check_paths(sources));
        std::uint64_t all = 0, done = 0;
        for (const auto& source : sources) all += source.what.file.bytes;
        Progress progress("extract", options.json);
        Extractor extractor(store, options);
        for (const auto& source : sources)
            FB_TRY(extractor.extract(source, [&](std::uint64_t bytes) { progress.show(done += bytes, all); }));
    }
    auto list = Json::array();
    for (const auto& source : sources) {
        if (options.json) list.push(extracted_json(source.what));
        else say(line_of(source.what));
    }
    if (options.json) list.print();
    return Exit::good;
}

}  // namespace

void add_extract(CommandLine& line) {
    const auto options = std::make_shared<ExtractArguments>();
    auto verb = line.verb("extract", "Write the files of packed streams back, or list them");
    verb.argument("RUN", options->place,
                  "RUN for all its packed streams, RUN/STREAM, or RUN/STREAM@STEP for one batch");
    verb.option("--only", options->patterns,
                "Only files whose path matches, as in '*.csv'; * matches / too; may be "
                "repeated");
    verb.option("-C,--directory", options->directory, "Where to; made if missing. The current directory by default");
    verb.flag("--overwrite", options->overwrite, "Replace files that exist");
    verb.flag("--list", options->list, "Only list them");
    verb.json(options->json,
              "  An array with an object for each file: path, bytes, mode, modified_unix_ns, stream, step, earlier "
              "(steps of\n"
              "  batches with another file of that path).\n");
    verb.examples(
        "  forebay extract /scratch/me/run7 --list\n"
        "  forebay extract /scratch/me/run7 -C out --only '*.csv'\n"
        "Every byte is checked against its checksum. Nothing is written outside the directory or through a link. Of a\n"
        "file that several batches hold the last one is written; RUN/STREAM@STEP has the others.\n");
    verb.action([options] { return extract(*options); });
}

}  // namespace forebay::cli
