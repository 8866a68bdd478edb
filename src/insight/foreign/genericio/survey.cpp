#include "insight/foreign/genericio/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/base/try.hpp"
#include "insight/foreign/genericio/copy.hpp"

namespace forebay::foreign::genericio {

namespace {

class Surveyor {
public:
    Surveyor(sys::Store& store, const std::string& directory, const GioExportOptions& options)
        : store_(store), directory_(directory), options_(options) {}

    Result<GioSurvey> survey() {
        FB_TRY_ASSIGN(manifest, catalog::load_manifest(store_, directory_));
        survey_.manifest = std::move(manifest);
        FB_TRY_ASSIGN(table, table_of(survey_.manifest.schema, options_.table));
        FB_TRY_ASSIGN(records, records_of(survey_.manifest.schema, table, options_));
        survey_.records = std::move(records);
        survey_.elements.assign(survey_.manifest.world_ranks, 0);
        std::vector<std::array<std::uint64_t, 3>> coords(survey_.manifest.world_ranks);
        std::vector<bool> seen(survey_.manifest.world_ranks);
        std::uint64_t with_coords = 0;
        for (const auto& line : survey_.manifest.nodes) {
            FB_TRY_ASSIGN(node, open_node(store_, directory_, line));
            for (std::size_t i = 0; i < node.head().ranks.size(); ++i) {
                const auto rank = node.head().ranks[i];
                if (rank >= seen.size() || seen[rank])
                    return odd(fmt::format("rank {} of {} is not expected in node {}", rank, seen.size(), line.node));
                seen[rank] = true;
                // All columns have the same rows, so the first column gives the count.
                if (!survey_.records.empty())
                    survey_.elements[rank] =
                        node.head().blocks[block_of(node, survey_.records.front().columns.front(), i)].box.size[0];
                FB_TRY_ASSIGN(has_coords, coords_of(node, i, coords[rank]));
                if (has_coords) ++with_coords;
                FB_TRY(read_partition(node, i, rank));
            }
            if (line.node == 0) FB_TRY(header_values(node));
        }
        // A missing rank would leave a hole in the file.
        if (const auto hole = std::ranges::find(seen, false); hole != seen.end())
            return odd(fmt::format("no node has rank {}", hole - seen.begin()));
        // A grid needs the coordinates of all ranks.
        if (with_coords == coords.size()) survey_.coords = std::move(coords);
        return std::move(survey_);
    }

private:
    Error odd(const std::string& why) const {
        return {ErrorKind::corrupt, fmt::format("{} is not exported: {}", directory_, why), "",
                fmt::format("forebay verify {}", directory_)};
    }

    Result<bool> coords_of(const catalog::BlockReader& node, std::size_t place, std::array<std::uint64_t, 3>& to) {
        constexpr std::array<const char*, 3> names{"coord_x", "coord_y", "coord_z"};
        for (std::size_t d = 0; d < 3; ++d) {
            const auto* column = find(survey_.manifest.schema, fmt::format("{}/{}", ranks_table_name, names[d]));
            if (column == nullptr || column->type != u64) return false;
            const auto block = block_of(node, index_of(*column), place);
            if (node.head().blocks[block].size_bytes != sizeof to[d]) return false;
            FB_TRY(node.read(block, 0, std::as_writable_bytes(std::span(&to[d], 1)), scratch_));
        }
        return true;
    }

    Result<> read_partition(const catalog::BlockReader& node, std::size_t place, std::uint32_t rank) {
        const auto* column = find(survey_.manifest.schema, fmt::format("{}/partition", ranks_table_name));
        if (column == nullptr || column->type != i32) return {};
        const auto block = block_of(node, index_of(*column), place);
        if (node.head().blocks[block].size_bytes != sizeof(std::int32_t)) return {};
        survey_.partitions.resize(survey_.elements.size());
        return node.read(block, 0, std::as_writable_bytes(std::span(&survey_.partitions[rank], 1)), scratch_);
    }

    Result<> header_values(const catalog::BlockReader& node) {
        const auto read = [&](const char* name, Type type, auto& to) -> Result<> {
            const auto* variable = find(survey_.manifest.schema, std::string("genericio/") + name);
            if (variable == nullptr || variable->type != type || variable->shape != Extents{3}) return {};
            return node.read(block_of(node, index_of(*variable), 0), 0, std::as_writable_bytes(std::span(to)),
                             scratch_);
        };
        FB_TRY(read("phys_origin", f64, survey_.phys_origin));
        FB_TRY(read("phys_scale", f64, survey_.phys_scale));
        return read("dims", u64, survey_.dims);
    }

    std::uint32_t index_of(const forebay::Variable& variable) const {
        return static_cast<std::uint32_t>(&variable - survey_.manifest.schema.variables.data());
    }

    sys::Store& store_;
    const std::string& directory_;
    const GioExportOptions& options_;
    GioSurvey survey_;
    catalog::BlockReader::Scratch scratch_;
};

}  // namespace

bool GioSurvey::is_grid() const {
    // Each factor is checked first, so that the product cannot overflow.
    const auto ranks = elements.size();
    if (coords.size() != ranks || dims[0] == 0 || dims[1] == 0 || dims[2] == 0) return false;
    return dims[0] <= ranks && dims[1] <= ranks && dims[2] <= ranks && dims[0] * dims[1] <= ranks &&
           dims[0] * dims[1] * dims[2] == ranks;
}

Result<catalog::BlockReader> open_node(sys::Store& store, const std::string& directory, const format::NodeLine& line) {
    auto node = catalog::BlockReader::open(store, directory, line);
    if (node || node.error().kind != ErrorKind::corrupt) return node;
    auto what = node.error().what;
    return with_context(node.error(), std::move(what), "", "forebay verify " + directory);
}

Result<GioSurvey> survey(sys::Store& store, const std::string& directory, const GioExportOptions& options) {
    return Surveyor(store, directory, options).survey();
}

}  // namespace forebay::foreign::genericio
