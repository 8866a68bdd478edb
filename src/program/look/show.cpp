// forebay show: prints the contents of a snapshot or a node file.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "path/catalog/names.hpp"
#include "program/look/files.hpp"
#include "program/look/show_tables.hpp"
#include "program/place.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr std::size_t lines_max = 16;  // of nodes or blocks, without --all

struct ShowArguments {
    std::string place;
    bool all = false;
    bool json = false;
    std::size_t lines() const { return all ? ~std::size_t{0} : lines_max; }
};

std::string count_of(std::uint64_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Result<Exit> show_snapshot(sys::Store& store, const ShowArguments& options) {
    FB_TRY_ASSIGN(place, find_place(store, options.place));
    FB_TRY_ASSIGN(snapshot, one_snapshot(store, place));
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    std::vector<std::uint64_t> rows(manifest.schema.tables.size(), 0);
    std::uint64_t data_bytes = 0, file_bytes = 0;
    for (const auto& line : manifest.nodes) {
        for (std::size_t table = 0; table < rows.size(); ++table) rows[table] += line.rows[table];
        data_bytes += line.data_bytes;
        file_bytes += line.file_bytes;
    }
    if (options.json) {
        auto object = json_of(snapshot);
        object.set("snapshot_id", catalog::id_text(manifest.snapshot_id)).set("time", manifest.time);
        object.set("sealed_unix_ns", manifest.sealed_unix_ns)
            .set("ranks", manifest.world_ranks)
            .set("bytes", data_bytes);
        object.set("file_bytes", file_bytes).set("variables", variables_json(manifest.schema, rows));
        object.set("nodes", nodes_json(manifest)).print();
        return Exit::good;
    }
    say("{}  step {}  time {:g}\nsaved {} by {} on {}: {}, {} on storage\n\n", snapshot.directory, snapshot.step,
        manifest.time, show_utc(manifest.sealed_unix_ns), count_of(manifest.world_ranks, "rank"),
        count_of(manifest.nodes.size(), "node"), show_bytes(data_bytes), show_bytes(file_bytes));
    say("{}\n{}", variables_table(manifest.schema, rows), nodes_table(manifest, options.lines()));
    return Exit::good;
}

Result<Exit> show_file(sys::Store& store, const ShowArguments& options, std::optional<FileKind> kind) {
    const auto loaded = catalog::load_head(store, options.place);
    // A file that is no node file may be a view or foreign. A node file has at least these pages.
    constexpr std::uint64_t least_bytes = format::record_offset_bytes + format::record_size_bytes;
    std::error_code error;
    const bool is_short = kind && std::filesystem::file_size(options.place, error) < least_bytes;
    // In the place of our record, a foreign file may have zeros, like an unsealed node file. If HDF5 cannot open it, it
    // is reported as damaged.
    const bool is_zero = !loaded && loaded.error().kind == ErrorKind::missing;
    const bool is_others = kind == FileKind::hdf5 && is_zero && has_own_datasets(options.place) != std::optional(true);
    if (!loaded && kind && (loaded.error().kind == ErrorKind::refused || is_short || is_others))
        return kind == FileKind::hdf5 ? show_hdf5_file(options.place, options.json)
                                      : show_other_file(store, *kind, {options.place, options.all, options.json});
    if (!loaded) return loaded.error();
    const auto& file = *loaded;
    const auto& record = file.record;
    std::vector<std::uint64_t> rows;
    for (std::uint32_t table = 0; table < file.schema.tables.size(); ++table) rows.push_back(file.rows(table));
    if (options.json) {
        auto ranks = Json::array();
        for (const auto rank : file.ranks) ranks.push(rank);
        auto object = Json::object();
        object.set("file", options.place)
            .set("stream", file.schema.stream)
            .set("step", record.step)
            .set("time", record.time);
        object.set("snapshot_id", catalog::id_text(record.snapshot_id)).set("sealed_unix_ns", record.sealed_unix_ns);
        object.set("node", record.node)
            .set("nodes", record.nodes)
            .set("world_ranks", record.world_ranks)
            .set("ranks", ranks);
        object.set("file_bytes", file.file_bytes).set("head_bytes", file.head_bytes);
        object.set("record_crc32c", fmt::format("{:08x}", file.record_crc32c));
        if (file.storage == format::Storage::compressed) object.set("compression", compression_json(file));
        object.set("variables", variables_json(file.schema, rows)).set("blocks", blocks_json(file)).print();
        return Exit::good;
    }
    say("{}  node {} of {}  stream {}  step {}  time {:g}\nsealed {} by {} of {}: {} on storage, head {}\n\n",
        options.place, record.node, record.nodes, file.schema.stream, record.step, record.time,
        show_utc(record.sealed_unix_ns), count_of(file.ranks.size(), "rank"), record.world_ranks,
        show_bytes(file.file_bytes), show_bytes(file.head_bytes));
    if (file.storage == format::Storage::compressed) say("As they are stored:\n{}\n", compression_table(file));
    say("As this node holds them:\n{}\n{}", variables_table(file.schema, rows), blocks_table(file, options.lines()));
    return Exit::good;
}

Result<Exit> show(const ShowArguments& options) {
    auto& store = sys::target_store();
    const bool region = options.place.find(".h5/node-") != std::string::npos;
    if (region) return show_file(store, options, std::nullopt);
    FB_TRY_ASSIGN(kind, kind_of_file(store, options.place));
    if (kind == FileKind::hdf5 || options.place.ends_with(".h5")) return show_file(store, options, kind);
    if (kind) return show_other_file(store, *kind, {options.place, options.all, options.json});
    return show_snapshot(store, options);
}

}  // namespace

void add_show(CommandLine& line) {
    const auto options = std::make_shared<ShowArguments>();
    auto verb = line.verb(
        "show", "Show the contents of a snapshot or node file: variables, types, shapes, units, bytes, ranks");
    verb.argument(
        "RUN", options->place,
        "RUN (its last snapshot), RUN@STEP, RUN/STREAM@STEP, or a node file FILE.h5 (FILE.h5/node-00003 in a shared "
        "file). Or a file of another program: HDF5 (H5Part, openPMD, netCDF-4), GenericIO, PALM (format mpi)");
    verb.flag("--all", options->all, fmt::format("List every node or block, not only the first {}", lines_max));
    verb.json(
        options->json,
        "  A snapshot: an object with stream, step, directory, snapshot_id, time, sealed_unix_ns, ranks, bytes, "
        "file_bytes,\n  variables and nodes (node, path, offset in it, bytes, file_bytes, ranks as [first, count] "
        "pairs, rows of each table).\n  A variable: name, kind, type, shape or table and rows, coverage, bytes, unit, "
        "description, dimensions, attributes.\n  A node file: file, stream, step, time, snapshot_id, sealed_unix_ns, "
        "node, nodes, world_ranks, ranks, file_bytes,\n  head_bytes, record_crc32c, variables and blocks (variable, "
        "rank, first, size, first_byte, bytes). If it is\n  compressed also compression: for each variable bytes, "
        "stored_bytes, chunks, filter (of HDF5), efforts (bytes by\n  compressor). first_byte then counts in the plain "
        "form.\n  A GenericIO file: file, format, big_endian, ranks, dims, elements, partitions, bytes, compression, "
        "header_bytes,\n  phys_origin, phys_scale, variables (name, type, record_bytes, element_bytes, flags, bytes, "
        "stored_bytes) and\n  rank_table (rank, elements, coords, file, first_byte).\n  An HDF5 file: file, format "
        "(h5part, openpmd, netcdf or hdf5), said, steps, bytes and datasets (path, type,\n  shape (or no_shape: null "
        "or unknown), bytes, unit, storage), unreadable (number of objects that HDF5 cannot open)\n  and others (path, "
        "said: further names, links, empty groups, and unreadable objects).\n");
    verb.examples(
        "  forebay show /scratch/me/run7\n"
        "  forebay show /scratch/me/run7/restart@120 --json\n"
        "  forebay show /scratch/me/run7/restart/step-000120/node-00000.h5\n"
        "  forebay show m000.full.mpicosmo.499\n");
    verb.action([options] { return show(*options); });
}

}  // namespace forebay::cli
