// forebay pack: many small files of a directory become few snapshots of packed files.

#include <memory>

#include "base/units.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "cli/say.hpp"
#include "cli/verbs.hpp"
#include "drain/pack.hpp"

namespace forebay::cli {

namespace {

struct Options {
    std::string directory;
    std::string run;
    std::string stream = "packed-files";
    bool remove = false;
    bool json = false;
};

Result<Exit> pack(const Options& options) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(exists, store.exists(options.directory));
    if (!exists) return Error{ErrorKind::missing, options.directory + ": no such directory."};
    FB_TRY_ASSIGN(all, drain::look_at_spool(options.directory));
    drain::Packed total;
    auto batches = Json::array();
    Shown text;
    {
        Progress progress("pack", options.json);
        drain::Packer packer(store, options.directory, options.run, options.stream, options.remove);
        for (;;) {
            FB_TRY_ASSIGN(packed, packer.pack_batch());
            if (packed.files == 0) break;
            progress.show(total.bytes += packed.bytes, all.bytes);
            total.files += packed.files;
            batches.push(Json::object().set("step", packed.step).set("files", packed.files).set("bytes", packed.bytes));
            text += lines("{}/{}@{}  {} files, {}\n", options.run, options.stream, packed.step, packed.files,
                          show_bytes(packed.bytes));
        }
    }
    if (options.json)
        Json::object()
            .set("run", options.run)
            .set("stream", options.stream)
            .set("files", total.files)
            .set("bytes", total.bytes)
            .set("batches", batches)
            .print();
    else if (total.files == 0) say("nothing to pack\n");
    else say(text);
    return Exit::good;
}

}  // namespace

void add_pack(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    auto verb = line.verb("pack", "Pack the small files of a directory into few files of a run");
    verb.argument("DIRECTORY", options->directory, "With all below it, but names that begin with a dot and links");
    verb.argument("RUN", options->run, "Made if missing");
    verb.option("--stream", options->stream, "Begins with packed-");
    verb.flag("--remove", options->remove, "Remove each file when its batch is committed");
    verb.json(options->json, "  An object: run, stream, files, bytes, batches (an array of step, files, bytes).\n");
    verb.examples(
        "  forebay pack plots /scratch/me/run7\n"
        "  forebay pack /tmp/out /scratch/me/run7 --stream packed-slices --remove\n"
        "A batch has at most 10000 files and 256 MiB, but for a larger file alone. `forebay extract` writes them "
        "back.\n");
    verb.action([options] { return pack(*options); });
}

}  // namespace forebay::cli
