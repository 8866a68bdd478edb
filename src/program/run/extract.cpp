// forebay extract: writes files of packed streams as files again.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "core/base/try.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "program/run/packed_sources.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

namespace fs = std::filesystem;

struct ExtractArguments {
    std::string place;
    std::vector<std::string> patterns;
    std::string directory = ".";
    bool overwrite = false;
    bool list = false;
    bool json = false;
};

Error problem(ErrorKind kind, const std::string& text, const std::string& next) { return {kind, text, "", next}; }

/// Writes files below one directory, never through a symbolic link.
class Extractor {
public:
    Extractor(sys::Store& store, const ExtractArguments& options) : store_(store), options_(options), reader_(store) {}

    Result<> extract(const PackedSource& source, const std::function<void(std::uint64_t)>& wrote) {
        const auto path = fs::path(options_.directory) / source.file.path;
        FB_TRY(make_place(path));
        // A random unused name: no other file has it.
        const auto temporary = sys::random_name_beside(path.string());
        FB_TRY_ASSIGN(out, sys::create_new(temporary));
        const auto extracted = [&]() -> Result<> {
            FB_TRY(write(source, *out, wrote));
            // Never set-user-ID or set-group-ID: the reader is another user than the writer.
            FB_TRY(sys::set_mode_and_time(temporary, source.file.mode & 0777, source.file.modified_unix_ns));
            return give_name(temporary, path.string());
        }();
        // The first error is reported. A temporary file that cannot be removed shows by its name what it is.
        if (!extracted) static_cast<void>(store_.remove(temporary));
        return extracted;
    }

private:
    Result<> make_place(const fs::path& path) {
        fs::path at = options_.directory;
        for (const auto& part : path.parent_path().lexically_relative(options_.directory)) {
            if (part == ".") continue;
            at /= part;
            const auto seen = sys::look_at(at.string());
            if (seen && seen->kind == sys::LocalFile::Kind::other)
                return problem(ErrorKind::refused,
                               show_text(at.string()) + " is a link: extract writes nothing through a link.",
                               "extract into another directory: -C DIR");
        }
        // Checked before, too, so that no large file is written in vain.
        FB_TRY_ASSIGN(exists, store_.exists(path.string()));
        if (exists && !options_.overwrite) return is_there(path.string());
        return store_.make_directories(path.parent_path().empty() ? "." : path.parent_path().string());
    }

    Result<> give_name(const std::string& temporary, const std::string& path) {
        if (options_.overwrite) return store_.rename(temporary, path);
        // Another process may have made the file since make_place().
        const auto renamed = sys::rename_to_free(temporary, path);
        if (renamed) return renamed;
        FB_TRY_ASSIGN(exists, store_.exists(path));
        return exists ? Result<>(is_there(path)) : renamed;
    }

    static Error is_there(const std::string& path) {
        return problem(ErrorKind::refused, show_text(path) + " exists.", "give --overwrite, or -C DIR");
    }

    Result<> write(const PackedSource& source, sys::File& out, const std::function<void(std::uint64_t)>& wrote) {
        FB_TRY(reader_.read(source, [&](std::uint64_t at, std::span<const std::byte> bytes) -> Result<> {
            FB_TRY(out.write(at, bytes));
            wrote(bytes.size());
            return {};
        }));
        // The bytes are durable before the file gets its name.
        FB_TRY(out.sync());
        return out.close();
    }

    sys::Store& store_;
    const ExtractArguments& options_;
    PackedReader reader_;
};

Json extracted_json(const PackedSource& source) {
    auto object = Json::object();
    object.set("path", source.file.path).set("bytes", source.file.bytes).set("mode", source.file.mode);
    object.set("modified_unix_ns", source.file.modified_unix_ns)
        .set("stream", source.snapshot.stream)
        .set("step", source.snapshot.step);
    auto earlier = Json::array();
    for (const auto step : source.earlier) earlier.push(step);
    return object.set("earlier", earlier);
}

Shown line_of(const PackedSource& source) {
    auto line =
        lines("{}  {} bytes  {}@{}", source.file.path, source.file.bytes, source.snapshot.stream, source.snapshot.step);
    for (const auto step : source.earlier)
        line += lines("{}@{}", step == source.earlier.front() ? ", others in " : ", ", step);
    return line += lines("\n");
}

// Two streams may hold one path, because nodes choose names freely. Both would become one file.
Result<> check_paths(const std::vector<PackedSource>& sources) {
    std::map<std::string, const PackedSource*> seen;
    for (const auto& source : sources) {
        const auto [at, is_new] = seen.try_emplace(source.file.path, &source);
        if (is_new) continue;
        return problem(ErrorKind::refused,
                       fmt::format("{} is in {} and in {}.", show_text(source.file.path), at->second->snapshot.stream,
                                   source.snapshot.stream),
                       "choose one: RUN/STREAM, or its --list");
    }
    return {};
}

Result<Exit> extract(const ExtractArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(sources, packed_sources(store, {options.place, options.patterns}));
    if (sources.empty())
        return problem(ErrorKind::missing, fmt::format("no packed file of {} matches.", options.place),
                       fmt::format("forebay extract {} --list", options.place));
    if (!options.list) {
        FB_TRY(check_paths(sources));
        std::uint64_t all = 0, done = 0;
        for (const auto& source : sources) all += source.file.bytes;
        Progress progress("extract", options.json);
        Extractor extractor(store, options);
        for (const auto& source : sources)
            FB_TRY(extractor.extract(source, [&](std::uint64_t bytes) { progress.show(done += bytes, all); }));
    }
    auto list = Json::array();
    for (const auto& source : sources) {
        if (options.json) list.push(extracted_json(source));
        else say(line_of(source));
    }
    if (options.json) list.print();
    return Exit::good;
}

}  // namespace

void add_extract(CommandLine& line) {
    const auto options = std::make_shared<ExtractArguments>();
    auto verb = line.verb("extract", "Write packed files back to a directory, or list them");
    verb.argument("RUN", options->place,
                  "RUN for all its packed streams, RUN/STREAM, or RUN/STREAM@STEP for one batch");
    verb.option("--only", options->patterns,
                "Take only files whose path matches, as in '*.csv'. * also matches /. Repeatable");
    verb.option("-C,--directory", options->directory,
                "Write to this directory. It is made if missing. Default: the current directory");
    verb.flag("--overwrite", options->overwrite, "Replace files that exist");
    verb.flag("--list", options->list, "List the files, and write nothing");
    verb.json(options->json,
              "  An array with an object for each file: path, bytes, mode, modified_unix_ns, stream, step, earlier "
              "(steps of\n"
              "  batches with another file of that path).\n");
    verb.examples(
        "  forebay extract /scratch/me/run7 --list\n  forebay extract /scratch/me/run7 -C out --only '*.csv'\nFiles "
        "get their bytes, permissions and times of modification, and belong to you.\nEvery byte is checked against its "
        "checksum. Nothing is written outside the directory or through a link. If several\nbatches hold a file, the "
        "newest is written. RUN/STREAM@STEP has the older versions.\n");
    verb.action([options] { return extract(*options); });
}

}  // namespace forebay::cli
