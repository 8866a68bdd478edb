// Places the variables of a shared file (place_shared), computes the begin of one node's rows (own_offsets), encodes
// the head, and converts between the bytes of a node and places in the file (BlockRuns, for_each_stretch).
//
// A block of an array is a box of the global shape. In the file it is a number of equally long runs, one for each row
// of the box along the slowest dimensions. BlockRuns computes the place of run i without a list of runs, because there
// may be millions.

#include "core/format/shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/head.hpp"
#include "core/format/sums.hpp"

namespace forebay::format {
namespace {

// `step` need not be a power of two: a stripe may be 3 MiB.
std::uint64_t next_multiple(std::uint64_t value, std::uint64_t step) {
    return value >= beyond ? beyond : (value + step - 1) / step * step;
}

std::uint64_t elements_of(const Variable& variable, std::span<const std::uint64_t> rows) {
    return variable.kind == Kind::particles ? rows[variable.table] : variable.elements();
}

std::uint64_t bytes_of(const Variable& variable, std::span<const std::uint64_t> rows) {
    return multiply(elements_of(variable, rows), variable.type.size_bytes);
}

std::string path_of(const Schema& schema, const Variable& variable, SharedNaming naming, std::int64_t step) {
    if (naming == SharedNaming::own || variable.kind != Kind::particles) return variable.name;
    return fmt::format("Step#{}/{}", step, variable.name.substr(schema.tables[variable.table].size() + 1));
}

hdf5::Headers headers_of(const Schema& schema, const SharedFile& places, std::span<const std::uint64_t> rows,
                         std::int64_t step) {
    std::vector<hdf5::Dataset> datasets;
    for (const auto& variable : schema.variables) {
        const auto path = path_of(schema, variable, static_cast<SharedNaming>(places.naming), step);
        datasets.push_back({path, variable.type, variable.shape, attributes_of(variable, false)});
        if (variable.kind == Kind::particles) datasets.back().dims = {rows[variable.table]};
    }
    datasets.push_back({"_forebay/page", u8, {limits::page_bytes}, {}});
    datasets.push_back({"_forebay/nodes", u8, {places.nodes, places.region_bytes}, {}});
    return hdf5::encode_headers(datasets, first_pages_bytes);
}

}  // namespace

// Uses the largest step, because the path of an H5Part dataset contains the step, of up to 19 digits.
std::uint64_t shared_heads_offset(const Schema& schema, SharedNaming naming) {
    const std::vector<std::uint64_t> rows(schema.tables.size(), 0);
    const SharedFile places{.nodes = 1, .naming = static_cast<std::uint32_t>(naming)};
    const auto headers = headers_of(schema, places, rows, std::numeric_limits<std::int64_t>::max());
    return round_up(first_pages_bytes + headers.bytes.size(), limits::page_bytes);
}

std::uint64_t shared_region_bytes(std::uint64_t head_bytes) {
    return round_up(head_bytes + limits::page_bytes, limits::packed_variable_bytes);
}

std::vector<std::string> shared_datasets(const Record& record, const Schema& schema) {
    const auto naming = static_cast<SharedNaming>(std::get<SharedFile>(record.form).naming);
    std::vector<std::string> paths;
    for (const auto& variable : schema.variables) paths.push_back(path_of(schema, variable, naming, record.step));
    return paths;
}

SharedPlan place_shared(const Schema& schema, const SharedFile& given, std::span<const std::uint64_t> rows) {
    SharedPlan plan{.places = given, .offsets = std::vector<std::uint64_t>(schema.variables.size())};
    auto& places = plan.places;
    auto end = add(places.heads_offset, multiply(places.nodes, places.region_bytes));
    const auto alignment = places.alignment_bytes;
    const auto step_of = [&](const Variable& variable) {
        const auto bytes = bytes_of(variable, rows);
        if (bytes < std::min(alignment, limits::packed_variable_bytes)) return limits::cache_line_bytes;
        return bytes < alignment ? limits::page_bytes : alignment;
    };
    // Replicated variables come first in each class, so node 0 writes them in one piece.
    const auto place_all = [&](std::uint64_t step, bool replicated) {
        for (std::size_t v = 0; v < schema.variables.size(); ++v) {
            const auto& variable = schema.variables[v];
            if (step_of(variable) != step || (variable.kind == Kind::replicated) != replicated) continue;
            plan.offsets[v] = next_multiple(end, step);
            end = add(plan.offsets[v], bytes_of(variable, rows));
        }
    };
    for (const auto step : std::set{limits::cache_line_bytes, limits::page_bytes, alignment}) {
        place_all(step, true);
        place_all(step, false);
    }
    places.file_bytes = next_multiple(end, limits::page_bytes);
    return plan;
}

std::vector<std::uint64_t> own_offsets(const SharedPlan& plan, const Schema& schema,
                                       std::span<const std::uint64_t> rows_before) {
    auto offsets = plan.offsets;
    for (std::size_t v = 0; v < offsets.size(); ++v) {
        const auto& variable = schema.variables[v];
        if (variable.kind == Kind::particles)
            offsets[v] = add(offsets[v], multiply(rows_before[variable.table], variable.type.size_bytes));
    }
    return offsets;
}

std::vector<std::byte> encode_shared_head(const CombinedPage& page, const Schema& schema,
                                          std::span<const std::uint64_t> rows) {
    const auto plan = place_shared(schema, std::get<SharedFile>(page.form), rows);
    const auto& places = plan.places;
    const auto headers = headers_of(schema, places, rows, page.step);
    std::vector<std::byte> head(shared_heads_offset(schema, static_cast<SharedNaming>(places.naming)));
    std::ranges::copy(headers.superblock, head.begin());
    store_le(head.data() + hdf5::superblock_eof_at, places.file_bytes);
    std::ranges::copy(encode_page(page), head.begin() + record_offset_bytes);
    std::ranges::copy(headers.bytes, head.begin() + first_pages_bytes);
    for (std::size_t v = 0; v < schema.variables.size(); ++v)
        hdf5::store_storage(head, headers.fields[v], plan.offsets[v], bytes_of(schema.variables[v], rows));
    hdf5::store_storage(head, headers.fields[schema.variables.size()], record_offset_bytes, limits::page_bytes);
    hdf5::store_storage(head, headers.fields.back(), places.heads_offset, places.nodes * places.region_bytes);
    return head;
}

std::vector<std::byte> encode_region(const NodeFile& staged, std::span<const std::byte> image) {
    std::vector<std::byte> region(round_up(staged.head_bytes, limits::page_bytes));
    std::ranges::copy(image.first(staged.head_bytes), region.begin());
    auto page = load_le<RecordPage>(region.data() + record_offset_bytes);
    page.version = shared_version;
    // The region has no data: they lie in the datasets.
    page.file_bytes = page.data_offset_bytes = region.size();
    page.plain_bytes = staged.file_bytes;
    page.staged_crc32c = staged.record_crc32c;
    seal_head(page, region);
    return region;
}

std::optional<std::string> fault_in(const SharedFile& places, std::uint32_t nodes) {
    const bool good = places.nodes == nodes && nodes > 0 && places.naming <= 1 &&
                      places.heads_offset % limits::page_bytes == 0 && places.heads_offset >= first_pages_bytes &&
                      places.heads_offset <= limits::head_bytes_max && places.region_bytes % limits::page_bytes == 0 &&
                      places.region_bytes >= first_pages_bytes + limits::page_bytes &&
                      places.region_bytes <= 2 * limits::head_bytes_max && places.alignment_bytes > 0 &&
                      places.alignment_bytes % limits::page_bytes == 0 && places.alignment_bytes <= beyond &&
                      places.file_bytes % limits::page_bytes == 0 && places.file_bytes < beyond &&
                      add(places.heads_offset, multiply(nodes, places.region_bytes)) <= places.file_bytes;
    if (good) return {};
    return fmt::format("it has {} regions of {} bytes from byte {} on in a shared file of {} bytes.", nodes,
                       places.region_bytes, places.heads_offset, places.file_bytes);
}

BlockRuns::BlockRuns(const NodeFile& file, const Block& block) : count_(1), bytes_(block.size_bytes) {
    const auto& variable = file.schema.variables[block.variable];
    const auto& extent = file.extents[block.variable];
    first_ = extent.shared_offset_bytes;
    if (variable.kind == Kind::particles) first_ += block.offset_bytes - extent.offset_bytes;
    if (variable.kind != Kind::array || bytes_ == 0) return;
    const auto strides = packed_strides(variable.shape, variable.type.size_bytes);
    const auto dims = variable.shape.dims();
    int outer = dims;  // the dimensions from here on are in one run
    bytes_ = variable.type.size_bytes;
    while (outer > 0) {
        --outer;
        bytes_ *= block.box.size[outer];
        // A run goes on over each dimension that the box fills.
        if (block.box.size[outer] != variable.shape[outer]) break;
    }
    outer_ = outer;
    for (int dim = 0; dim < dims; ++dim) {
        const auto i = static_cast<std::size_t>(dim);
        strides_[i] = static_cast<std::uint64_t>(strides[i]);
        sizes_[i] = block.box.size[dim];
        first_ += block.box.lo[dim] * strides_[i];
        if (dim < outer_) count_ *= sizes_[i];
    }
}

std::uint64_t BlockRuns::offset_of(std::uint64_t i) const {
    auto offset = first_;
    for (int dim = outer_ - 1; dim >= 0; --dim) {
        const auto d = static_cast<std::size_t>(dim);
        offset += i % sizes_[d] * strides_[d];
        i /= sizes_[d];
    }
    return offset;
}

std::uint64_t BlockRuns::first_after(std::uint64_t offset) const {
    std::uint64_t low = 0, high = count_;
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (offset_of(middle) + bytes_ > offset) high = middle;
        else low = middle + 1;
    }
    return low;
}

namespace {

// Returns false when `visit` ends the walk.
bool visit_block(const NodeFile& file, const Block& block, std::uint64_t offset, std::uint64_t end,
                 const std::function<bool(const Stretch&)>& visit) {
    const BlockRuns runs(file, block);
    const auto from = std::max(offset, block.offset_bytes) - block.offset_bytes;
    const auto to = std::min(end, block.offset_bytes + block.size_bytes) - block.offset_bytes;
    for (auto at = from; at < to;) {
        const auto run = at / runs.bytes(), in_run = at % runs.bytes();
        const auto bytes = std::min(runs.bytes() - in_run, to - at);
        if (!visit({block.offset_bytes + at, runs.offset_of(run) + in_run, bytes})) return false;
        at += bytes;
    }
    return true;
}

}  // namespace

void for_each_stretch(const NodeFile& file, std::uint64_t offset, std::uint64_t bytes,
                      const std::function<bool(const Stretch&)>& visit) {
    const auto end = offset + bytes;
    std::vector<std::uint32_t> touched;
    for (std::uint32_t v = 0; v < file.extents.size(); ++v) {
        const auto& extent = file.extents[v];
        if (extent.offset_bytes < end && extent.offset_bytes + extent.used_bytes > offset && file.stores(v))
            touched.push_back(v);
    }
    std::ranges::sort(touched, {}, [&](std::uint32_t v) { return file.extents[v].offset_bytes; });
    for (const auto v : touched) {
        const std::span own(file.blocks.data() + file.first_block[v], file.first_block[v + 1] - file.first_block[v]);
        // The blocks of a variable lie end to end, so a search finds the first block.
        auto block =
            std::ranges::upper_bound(own, offset, {}, [](const Block& b) { return b.offset_bytes + b.size_bytes; });
        for (; block != own.end() && block->offset_bytes < end; ++block)
            if (block->size_bytes > 0 && !visit_block(file, *block, offset, end, visit)) return;
    }
}

}  // namespace forebay::format
