// look_at() reads a snapshot's place in the file. H5PartWriter::add() writes the snapshot: the attributes of the file
// and of the step, then a dataset for each column.
//
// Rows of a step are in the order of ranks, and a node file has the ranks of its node, which need not be neighbours. So
// add() passes over the node files twice: first it adds up the first row of each rank, then it copies the blocks there.

#include "bindings/compat/made/h5part/h5part_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bindings/compat/made/h5part/h5part_names.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "path/catalog/block_reader.hpp"

namespace forebay::made {

namespace {

constexpr const char* doing_file = "making an H5Part file";

// The bytes to read, verify and write at once.
constexpr std::uint64_t window_bytes = 8 * limits::segment_bytes;

/// H5Part's own types: the machine's types, 1-D even for one value. Texts are scalars of strlen + 1 bytes.
Result<h5::Id> attribute_type(Type type, std::span<const std::byte> value) {
    if (type.scalar != Scalar::string) return h5::stored_type(type);
    FB_TRY_ASSIGN(text, h5::own(H5Tcopy(H5T_C_S1), "making a text's type"));
    const auto* chars = reinterpret_cast<const char*>(value.data());
    FB_TRY(h5::require(H5Tset_size(text.get(), strnlen(chars, value.size()) + 1), "making a text's type"));
    return text;
}

// An existing attribute already has this value and keeps its place: H5Part writes each once, and each snapshot repeats
// those of the file.
Result<> put_attribute(const h5::Id& object, const std::string& name, Type type, std::span<const std::byte> value) {
    const auto doing = fmt::format("writing attribute '{}'", name);
    const auto there = H5Aexists(object.get(), name.c_str());
    FB_TRY(h5::require(there, doing));
    if (there > 0) return {};
    FB_TRY_ASSIGN(stored, attribute_type(type, value));
    const hsize_t count = value.size() / type.size_bytes;
    FB_TRY_ASSIGN(
        space,
        h5::own(type.scalar == Scalar::string ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr), doing));
    FB_TRY_ASSIGN(
        attribute,
        h5::own(H5Acreate2(object.get(), name.c_str(), stored.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), doing));
    return h5::require(H5Awrite(attribute.get(), stored.get(), value.data()), doing);
}

// Copies the rows of one column of one node file to the first rows of their ranks.
class RowsCopy {
public:
    RowsCopy(const catalog::BlockReader& reader, const h5::Id& dataset) : reader_(reader), dataset_(dataset) {}

    Result<> block(std::size_t b, std::uint64_t first_row, std::uint64_t element_bytes) {
        const auto bytes_all = reader_.head().blocks[b].size_bytes;
        for (std::uint64_t at = 0; at < bytes_all; at += window_bytes) {
            const auto bytes = std::min(window_bytes, bytes_all - at);
            buffer_.resize(bytes);
            FB_TRY(reader_.read(b, at, buffer_, scratch_));
            // Segments and windows are multiples of any element's size.
            FB_TRY(write(first_row + at / element_bytes, bytes / element_bytes));
        }
        return {};
    }

private:
    Result<> write(std::uint64_t first, std::uint64_t rows) {
        constexpr auto doing = "writing a column";
        FB_TRY_ASSIGN(type, h5::own(H5Dget_type(dataset_.get()), doing));
        FB_TRY_ASSIGN(space, h5::own(H5Dget_space(dataset_.get()), doing));
        FB_TRY(h5::select(space, {{first}, {rows}}));
        FB_TRY_ASSIGN(memory, h5::space_of({rows}));
        return h5::require(H5Dwrite(dataset_.get(), type.get(), memory.get(), space.get(), H5P_DEFAULT, buffer_.data()),
                           doing);
    }

    const catalog::BlockReader& reader_;
    catalog::BlockReader::Scratch scratch_;
    const h5::Id& dataset_;
    std::vector<std::byte> buffer_;
};

Result<> require_integer(const H5PartSnapshot& snapshot, const char* name, std::size_t bytes) {
    const auto at = snapshot.values.find(name);
    if (at != snapshot.values.end() && at->second.size() == bytes) return {};
    return Error{ErrorKind::corrupt, fmt::format("{} has no '{}': it was not written by the H5Part library.",
                                                 snapshot.snapshot.directory, name)};
}

}  // namespace

Result<H5PartSnapshot> look_at(sys::Store& store, const catalog::Snapshot& snapshot) {
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    H5PartSnapshot result{.snapshot = snapshot, .manifest = std::move(manifest)};
    FB_TRY(catalog::check_whole(store, snapshot.directory, result.manifest));
    FB_TRY_ASSIGN(reader, catalog::BlockReader::open(store, snapshot.directory, result.manifest.nodes.front()));
    const auto& head = reader.head();
    for (std::size_t v = 0; v < head.schema.variables.size(); ++v) {
        const auto& variable = head.schema.variables[v];
        if (variable.kind != Kind::replicated || head.first_block[v] == head.first_block[v + 1]) continue;
        FB_TRY_ASSIGN(value, reader.value(v));
        result.values[variable.name] = std::move(value);
    }
    FB_TRY(require_integer(result, h5part::order_variable, sizeof(std::int64_t)));
    FB_TRY(require_integer(result, h5part::appends_variable, sizeof(std::int32_t)));
    std::memcpy(&result.order, result.values[h5part::order_variable].data(), sizeof(result.order));
    std::int32_t appends = 0;
    std::memcpy(&appends, result.values[h5part::appends_variable].data(), sizeof(appends));
    result.appends = appends != 0;
    const auto& group = result.values[h5part::group_variable];
    const auto* text = reinterpret_cast<const char*>(group.data());
    result.group.assign(text, strnlen(text, group.size()));
    return result;
}

Result<H5PartWriter> H5PartWriter::open(const std::string& path, bool keep, std::uint64_t align_bytes) {
    FB_TRY_ASSIGN(access, h5::own(H5Pcreate(H5P_FILE_ACCESS), doing_file));
    // HDF5 1.8 and later can read it, like files of H5Part itself.
    FB_TRY(h5::require(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110), doing_file));
    FB_TRY(h5::require(H5Pset_alignment(access.get(), align_bytes / 2, align_bytes), doing_file));
    // With SEMI the close fails if an object of the file is still open.
    FB_TRY(h5::require(H5Pset_fclose_degree(access.get(), H5F_CLOSE_SEMI), doing_file));
    FB_TRY(h5::set_no_locks(access));  // no other program knows the file before it has its name
    const auto doing = fmt::format("opening {}", path);
    FB_TRY_ASSIGN(file, h5::own(keep ? H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get())
                                     : H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()),
                                doing));
    return H5PartWriter(std::move(file));
}

Result<> H5PartWriter::close() {
    constexpr auto doing = "writing the end of an H5Part file";
    const auto flushed = h5::require(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), doing);
    // h5::Id would close the file without reporting a failed write.
    const auto closed = h5::require(H5Fclose(file_.release()), doing);
    return flushed ? closed : flushed;
}

Result<> H5PartWriter::attributes(const h5::Id& object, const H5PartSnapshot& snapshot, std::string_view prefix) {
    for (const auto& variable : snapshot.manifest.schema.variables) {
        if (variable.kind != Kind::replicated || !variable.name.starts_with(prefix)) continue;
        const auto name = h5part::shown_name(std::string_view(variable.name).substr(prefix.size()));
        const auto value = snapshot.values.find(variable.name);
        if (value != snapshot.values.end()) FB_TRY(put_attribute(object, name, variable.type, value->second));
    }
    return {};
}

Result<h5::Id> H5PartWriter::dataset(const h5::Id& group, const std::string& name, Type type, std::uint64_t rows) {
    const auto doing = fmt::format("making dataset '{}'", name);
    const auto there = H5Lexists(group.get(), name.c_str(), H5P_DEFAULT);
    FB_TRY(h5::require(there, doing));
    // A later snapshot of the step replaces the column.
    if (there > 0) FB_TRY(h5::require(H5Ldelete(group.get(), name.c_str(), H5P_DEFAULT), doing));
    FB_TRY_ASSIGN(stored, h5::stored_type(type));
    const hsize_t count = rows;
    FB_TRY_ASSIGN(space, h5::own(H5Screate_simple(1, &count, nullptr), doing));
    FB_TRY_ASSIGN(creation, h5::own(H5Pcreate(H5P_DATASET_CREATE), doing));
    FB_TRY(h5::require(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), doing));
    // add() writes every row, so fill values would be written in vain.
    FB_TRY(h5::require(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER), doing));
    FB_TRY(h5::require(H5Pset_obj_track_times(creation.get(), false), doing));
    return h5::own(
        H5Dcreate2(group.get(), name.c_str(), stored.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
        doing);
}

Result<> H5PartWriter::add(sys::Store& store, const H5PartSnapshot& snapshot, const H5PartMaking& making,
                           H5PartMade& result, std::uint64_t bytes_all) {
    FB_TRY_ASSIGN(root, h5::own(H5Gopen2(file_.get(), "/", H5P_DEFAULT), doing_file));
    FB_TRY(attributes(root, snapshot, h5part::file_prefix));
    if (snapshot.group.empty()) return {};
    const auto there = H5Lexists(root.get(), snapshot.group.c_str(), H5P_DEFAULT);
    FB_TRY(h5::require(there, doing_file));
    FB_TRY_ASSIGN(group, h5::own(there > 0 ? H5Gopen2(root.get(), snapshot.group.c_str(), H5P_DEFAULT)
                                           : H5Gcreate2(root.get(), snapshot.group.c_str(), H5P_DEFAULT, H5P_DEFAULT,
                                                        H5P_DEFAULT),
                                 fmt::format("making group '{}'", snapshot.group)));
    if (there == 0) ++result.steps;
    FB_TRY(attributes(group, snapshot, h5part::step_prefix));

    const auto& variables = snapshot.manifest.schema.variables;
    std::vector<h5::Id> datasets(variables.size());
    std::uint64_t rows = 0;
    for (const auto& line : snapshot.manifest.nodes) rows += line.rows.empty() ? 0 : line.rows.front();
    for (std::size_t v = 0; v < variables.size(); ++v) {
        if (variables[v].kind != Kind::particles) continue;
        const auto name = h5part::shown_name(std::string_view(variables[v].name).substr(h5part::column_prefix.size()));
        FB_TRY_ASSIGN(dataset, this->dataset(group, name, variables[v].type, rows));
        datasets[v] = std::move(dataset);
        ++result.datasets;
    }
    // The first row of each rank: a node need not have neighbouring ranks.
    std::vector<std::uint64_t> first_row(snapshot.manifest.world_ranks + std::size_t{1}, 0);
    for (const bool copies : {false, true}) {
        for (const auto& line : snapshot.manifest.nodes) {
            FB_TRY_ASSIGN(reader, catalog::BlockReader::open(store, snapshot.snapshot.directory, line));
            const auto& head = reader.head();
            bool counted = false;
            for (std::size_t v = 0; v < variables.size(); ++v) {
                if (variables[v].kind != Kind::particles) continue;
                RowsCopy copy(reader, datasets[v]);
                for (auto b = head.first_block[v]; b < head.first_block[v + 1]; ++b) {
                    const auto& block = head.blocks[b];
                    if (!copies && !counted) first_row[block.rank + std::size_t{1}] = block.box.size[0];
                    if (!copies || block.size_bytes == 0) continue;
                    FB_TRY(copy.block(b, first_row[block.rank], variables[v].type.size_bytes));
                    result.bytes += block.size_bytes;
                    if (making.progress) making.progress(result.bytes, bytes_all);
                }
                counted = true;
            }
        }
        if (!copies)
            for (std::size_t rank = 1; rank < first_row.size(); ++rank) first_row[rank] += first_row[rank - 1];
    }
    return {};
}

}  // namespace forebay::made
