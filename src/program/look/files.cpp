#include "program/look/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/say.hpp"
#include "insight/foreign/genericio/genericio.hpp"
#include "insight/foreign/palm_mpi/palm_mpi.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/node_reader.hpp"
#include "program/run_argument.hpp"

namespace forebay::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

Error refusal(const std::string& text, const std::string& next) { return {ErrorKind::refused, text, "", next}; }

// RUN/STREAM@120 for a file of RUN/STREAM/step-000120.
std::string snapshot_of(const std::string& path) {
    std::error_code error;
    // In the user's spelling, if that has the step.
    for (const auto& whole : {fs::path(path), fs::weakly_canonical(path, error)})
        for (auto at = whole.parent_path(); at.has_relative_path(); at = at.parent_path())
            if (const auto step = catalog::step_of(at.filename().string()); step && at.has_parent_path())
                return fmt::format("{}@{}", at.parent_path().string(), *step);
    return "RUN@STEP with its run";
}

// The command for one of our files, or its damage; nothing for a foreign file or a view. HDF5 datasets that can be read
// in a damaged file would prove nothing.
std::optional<Error> about_ours(sys::Store& store, const std::string& path, const char* verb) {
    std::error_code error;
    if (fs::file_size(path, error) < format::record_offset_bytes + format::record_size_bytes) return std::nullopt;
    const auto head = catalog::load_head(store, path);
    if (head)
        return refusal(fmt::format("{} is the file of one node of a snapshot: node {} of {}, stream {}, step {}.", path,
                                   head->record.node, head->record.nodes, head->schema.stream, head->record.step),
                       fmt::format("forebay {} {}", verb, snapshot_of(path)));
    const auto file = catalog::open_file(store, path);
    if (!file) return file.error();
    const auto page = catalog::load_page(**file, path);
    if (page)
        return refusal(fmt::format("{} holds the files of {} nodes of a snapshot.", path, format::nodes_in(page->form)),
                       fmt::format("forebay {} {}", verb, snapshot_of(path)));
    // These kinds mean that it is no file of ours, or that nothing is in the record's place.
    for (const auto* wrong : {&head.error(), &page.error()})
        if (wrong->kind != ErrorKind::refused && wrong->kind != ErrorKind::missing)
            return with_context(
                *wrong, wrong->what, "",
                wrong->next.empty() ? fmt::format("forebay verify {}", snapshot_of(path)) : wrong->next);
    if (has_own_datasets(path) != std::optional(true)) return std::nullopt;
    if (head.error().kind == ErrorKind::missing) return head.error();
    return Error{ErrorKind::corrupt, fmt::format("{} has the datasets of a node file, but its record is damaged", path),
                 "the snapshot's other node files", fmt::format("forebay verify {}", snapshot_of(path))};
}

/// "CDF" and the version: 1, 2 (64-bit offsets) or 5 (64-bit data).
bool is_netcdf_classic(std::string_view first) {
    return first.size() > 3 && first.starts_with("CDF") && (first[3] == 1 || first[3] == 2 || first[3] == 5);
}

Error about_netcdf_classic(const std::string& path) {
    return {ErrorKind::unsupported, fmt::format("{} is a classic netCDF file, and Forebay cannot read it", path), "",
            fmt::format("nccopy -k nc4 {} COPY.nc makes a netCDF-4 file from it", path)};
}

Result<foreign::PalmMpiHeader> palm_header(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::read));
    FB_TRY_ASSIGN(size, file->size());
    std::vector<std::byte> bytes(std::min(size, foreign::palm_mpi_header_bytes));
    FB_TRY(file->read(0, bytes));
    return foreign::decode_palm_mpi(bytes, size, path);
}

Result<Exit> show_palm(sys::Store& store, const FileRequest& request) {
    FB_TRY_ASSIGN(header, palm_header(store, request.path));
    if (request.json) {
        auto arrays = Json::array();
        for (const auto& array : header.arrays) {
            auto object = Json::object();
            arrays.push(
                object.set("name", array.name).set("first_byte", array.place.offset).set("bytes", array.place.bytes));
        }
        auto object = Json::object();
        object.set("file", request.path).set("format", "palm-mpi").set("big_endian", header.big_endian);
        object.set("points_x", header.points_x).set("points_y", header.points_y).set("levels", header.levels);
        object.set("ghost_layers", header.ghost_layers).set("integers", header.integers.size());
        object.set("reals", header.reals.size()).set("texts", header.texts.size()).set("arrays", arrays).print();
        return Exit::good;
    }
    say("{}  PALM's restart file by MPI-IO, {}-endian: {} x {} points, {} levels, {} ghost layers\n{} arrays, {} "
        "integers, {} reals, {} texts. forebay import palm-mpi {} RUN --dry-run lists them\n",
        request.path, header.big_endian ? "big" : "little", header.points_x, header.points_y, header.levels,
        header.ghost_layers, header.arrays.size(), header.integers.size(), header.reals.size(), header.texts.size(),
        request.path);
    return Exit::good;
}

}  // namespace

Result<std::optional<FileKind>> kind_of_file(sys::Store& store, const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::optional<FileKind>();
    FB_TRY_ASSIGN(file, catalog::open_file(store, path));
    FB_TRY_ASSIGN(size, file->size());
    std::array<std::byte, hdf5_signature.size()> room{};
    const auto first = std::span(room).first(std::min<std::uint64_t>(size, room.size()));
    // HDF5 looks for its signature after a user block, too. Our files have no larger user block.
    for (const std::uint64_t at : {2048, 1024, 512, 0}) {
        if (size < at + first.size()) continue;
        FB_TRY(file->read(at, first));
        if (text_of(first) == hdf5_signature) return std::optional(FileKind::hdf5);
    }
    if (foreign::genericio::is_genericio(first)) return std::optional(FileKind::genericio);
    if (is_netcdf_classic(text_of(first))) return std::optional(FileKind::netcdf_classic);
    // Four bytes prove little, so the whole PALM header must be right.
    if (palm_header(store, path)) return std::optional(FileKind::palm_mpi);
    return std::optional(FileKind::other);
}

Result<Exit> show_other_file(sys::Store& store, FileKind kind, const FileRequest& request) {
    switch (kind) {
        case FileKind::genericio: return show_genericio(store, request);
        case FileKind::palm_mpi: return show_palm(store, request);
        case FileKind::netcdf_classic: return about_netcdf_classic(request.path);
        default: return file_is_no_run(store, request.path);
    }
}

Result<Exit> verify_file(sys::Store& store, FileKind kind, const FileRequest& request) {
    switch (kind) {
        case FileKind::genericio: return verify_genericio(store, request);
        case FileKind::hdf5:
            if (const auto error = about_ours(store, request.path, "verify")) return *error;
            return verify_hdf5_file(request.path, request.json);
        case FileKind::palm_mpi:
            return refusal(fmt::format("{} is a restart file of PALM, without checksums.", request.path),
                           fmt::format("forebay import palm-mpi {} RUN makes a snapshot with checksums", request.path));
        case FileKind::netcdf_classic: return about_netcdf_classic(request.path);
        default: return file_is_no_run(store, request.path);
    }
}

Result<Exit> list_file(sys::Store& store, FileKind kind, const FileRequest& request) {
    switch (kind) {
        case FileKind::genericio: return list_genericio(store, request);
        case FileKind::hdf5:
            if (const auto error = about_ours(store, request.path, "ls")) return *error;
            return list_hdf5_file(request.path, request.json);
        case FileKind::palm_mpi: return show_palm(store, request);
        case FileKind::netcdf_classic: return about_netcdf_classic(request.path);
        default: return file_is_no_run(store, request.path);
    }
}

}  // namespace forebay::cli
