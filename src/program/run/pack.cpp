// forebay pack: packs many small files of a directory into few snapshots.

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "path/agent/pack.hpp"
#include "program/run_argument.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct PackArguments {
    std::string directory;
    std::string run;
    std::string stream = "packed-files";
    bool remove = false;
    bool json = false;
};

// More lines than a screen need --json.
constexpr std::size_t left_out_lines_max = 20;

// A run below the directory would be packed into itself, and its committed batches removed.
Result<> check_apart(const PackArguments& options) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto directory = fs::weakly_canonical(fs::absolute(options.directory), error);
    const auto run = error ? fs::path() : fs::weakly_canonical(fs::absolute(options.run), error);
    if (error)
        return Error{ErrorKind::retry, fmt::format("{} or {}: {}", options.directory, options.run, error.message())};
    if (std::ranges::mismatch(directory, run).in1 != directory.end()) return {};
    return Error{ErrorKind::refused,
                 fmt::format("run {} lies in {}: it would be packed into itself", options.run, options.directory),
                 "nothing was packed or removed",
                 fmt::format("forebay pack {} RUN, with RUN outside of it", options.directory)};
}

// The packed files and the rest, as text and as JSON.
class PackReport {
public:
    explicit PackReport(const PackArguments& options) : options_(options) {}

    void add(const agent::Packed& packed) {
        files_ += packed.files;
        bytes_ += packed.bytes;
        batches_.push(Json::object().set("step", packed.step).set("files", packed.files).set("bytes", packed.bytes));
        text_ += lines("{}/{}@{}  {}, {}\n", options_.run, options_.stream, packed.step,
                       show_count(packed.files, "file"), show_bytes(packed.bytes));
    }

    void add(const std::vector<agent::LeftOut>& left_out) {
        for (const auto& file : left_out) {
            left_out_.push(Json::object()
                               .set("path", file.path)
                               .set("kind", forebay::name_of(file.why.kind))
                               .set("text", file.why.line()));
            if (++left_ <= left_out_lines_max) text_ += lines("left out: {}: {}\n", file.path, file.why.line());
        }
        if (left_ > left_out_lines_max)
            text_ += lines("... and {} more files are left out: --json lists all.\n", left_ - left_out_lines_max);
    }

    Exit print() const {
        if (options_.json)
            Json::object()
                .set("run", options_.run)
                .set("stream", options_.stream)
                .set("files", files_)
                .set("bytes", bytes_)
                .set("batches", batches_)
                .set("left_out", left_out_)
                .print();
        else if (text_.text.empty()) say("nothing to pack\n");
        else say(text_);
        return left_ == 0 ? Exit::good : Exit::found;
    }

private:
    const PackArguments& options_;
    std::uint64_t files_ = 0, bytes_ = 0;
    std::size_t left_ = 0;
    Shown text_;
    Json batches_ = Json::array(), left_out_ = Json::array();
};

Result<Exit> pack(const PackArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(exists, store.exists(options.directory));
    if (!exists) return Error{ErrorKind::missing, options.directory + ": no such directory."};
    FB_TRY(run_to_make(store, options.run));
    FB_TRY(check_apart(options));
    const auto all_bytes = agent::finished_in(options.directory).bytes();
    agent::Packer packer(store, options.directory, options.run, options.stream, options.remove);
    PackReport report(options);
    const auto packed = [&]() -> Result<> {
        Progress progress("pack", options.json);
        for (std::uint64_t bytes = 0;;) {
            FB_TRY_ASSIGN(batch, packer.pack_batch());
            if (batch.files == 0) return {};
            progress.show(bytes += batch.bytes, all_bytes);
            report.add(batch);
        }
    }();
    report.add(packer.left_out());
    const auto exit = report.print();
    // Files packed before the target failed are reported too: with --remove the run holds their only copy.
    FB_TRY(packed);
    return exit;
}

}  // namespace

void add_pack(CommandLine& line) {
    const auto options = std::make_shared<PackArguments>();
    auto verb = line.verb("pack", "Pack the small files of a directory into few files of a run");
    verb.argument("DIRECTORY", options->directory,
                  "The directory. Names that begin with a dot, and links, are left out");
    verb.argument("RUN", options->run, "The run. It is made if missing");
    verb.option("--stream", options->stream, "Pack into this stream. Its name must begin with packed-");
    verb.flag("--remove", options->remove, "Remove each file when its batch is committed");
    verb.json(options->json,
              "  An object: run, stream, files, bytes, batches (an array of step, files, bytes), left_out (an array of "
              "path,\n  kind, text: a file that could not be read, or was packed and could not be removed).\n");
    verb.examples(
        "  forebay pack plots /scratch/me/run7\n  forebay pack /tmp/out /scratch/me/run7 --stream packed-slices "
        "--remove\nA batch has at most 10000 files and 256 MiB. A larger file is a batch of its own. `forebay extract` "
        "writes the\nfiles back, with bytes, permissions and times of modification, but without owners, set-user-ID "
        "bits, extended\nattributes, hard links and holes. `forebay archive` keeps all of these.\nExit code 1 if a "
        "file is left out. The remaining files are packed, and the file stays in its place.\n");
    verb.action([options] { return pack(*options); });
}

}  // namespace forebay::cli
