#include "insight/foreign/hdf5/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "insight/h5/walk.hpp"

namespace forebay::foreign {

namespace {

using Problems = std::vector<std::string>;

/// All datasets of a step must have one row for each particle: readers use the first dataset's length for all.
Problems h5part_rules(const ForeignFile& foreign_file) {
    constexpr std::size_t name_max = 64;
    Problems problems;
    std::map<std::string, const ForeignDataset*> first;
    for (const auto& dataset : foreign_file.datasets) {
        const auto step = parent_of(dataset.path);
        // Only datasets directly below a step.
        if (!step.starts_with("Step#") || step.find('/') != std::string::npos) continue;
        if (dataset.path.size() - step.size() - 1 > name_max)
            problems.push_back(fmt::format("'{}': its name has more than {} characters", dataset.path, name_max));
        const auto* known = first.try_emplace(step, &dataset).first->second;
        if (dataset.shape.size() != 1)
            problems.push_back(fmt::format("'{}' has {} dimensions, 1 expected", dataset.path, dataset.shape.size()));
        else if (known->shape.size() == 1 && known->shape != dataset.shape)
            problems.push_back(fmt::format("'{}' has {} particles, '{}' has {}", dataset.path, dataset.shape[0],
                                           known->path, known->shape[0]));
    }
    return problems;
}

void need(const h5::Id& object, const std::string& path, std::span<const char* const> names, Problems& problems) {
    for (const auto* name : names)
        if (!h5::has_attribute(object, name)) problems.push_back(fmt::format("'/{}' has no attribute {}", path, name));
}

class OpenPmdRules {
public:
    Result<Problems> check(const h5::Id& file) {
        const h5::Id root(H5Gopen2(file.get(), "/", H5P_DEFAULT));
        constexpr std::array names{"openPMD", "openPMDextension", "basePath", "iterationEncoding", "iterationFormat"};
        need(root, "", names, problems_);
        // Here /data itself is the group of the current iteration.
        if (h5::text_attribute(root, "iterationEncoding") == "variableBased") base_ = 1;
        meshes_ = trimmed(h5::text_attribute(root, "meshesPath"));
        particles_ = trimmed(h5::text_attribute(root, "particlesPath"));
        FB_TRY(h5::walk(
            file,
            [&](const std::string& path, const h5::Id& object, H5I_type_t kind) { return visit(path, object, kind); },
            [](const h5::UnvisitedLink&) {}));
        return std::move(problems_);
    }

private:
    static std::string trimmed(const std::optional<std::string>& path) {
        auto text = path.value_or("");
        while (text.ends_with('/')) text.pop_back();
        return text;
    }

    Result<> visit(const std::string& path, const h5::Id& object, H5I_type_t kind) {
        const auto parts = split(path);
        if (parts.size() < base_ || parts[0] != "data") return {};
        constexpr std::array iteration{"time", "dt", "timeUnitSI"};
        if (parts.size() == base_) need(object, path, iteration, problems_);
        if (parts.size() < base_ + 2) return {};
        const auto& kind_of_record = parts[base_];
        if (!meshes_.empty() && kind_of_record == meshes_) record(path, object, kind, parts.size() - base_ - 1, true);
        const bool is_particles = !particles_.empty() && kind_of_record == particles_ && parts.size() > base_ + 2;
        // Patches describe particles, but are not records.
        if (is_particles && parts[base_ + 2] != "particlePatches")
            record(path, object, kind, parts.size() - base_ - 2, false);
        return {};
    }

    /// `depth` 1 is the record, 2 its component. A constant component is a group with a value.
    void record(const std::string& path, const h5::Id& object, H5I_type_t kind, std::size_t depth, bool is_mesh) {
        constexpr std::array of_record{"unitDimension", "timeOffset"};
        constexpr std::array of_mesh{"geometry",    "dataOrder",        "axisLabels",
                                     "gridSpacing", "gridGlobalOffset", "gridUnitSI"};
        constexpr std::array of_constant{"value", "shape"};
        if (depth == 1) need(object, path, of_record, problems_);
        if (depth == 1 && is_mesh) need(object, path, of_mesh, problems_);
        const bool is_constant = kind == H5I_GROUP && (depth == 2 || h5::has_attribute(object, "value"));
        if (kind != H5I_DATASET && !is_constant) return;
        constexpr std::array of_component{"unitSI"};
        constexpr std::array of_mesh_component{"position"};
        need(object, path, of_component, problems_);
        if (is_mesh) need(object, path, of_mesh_component, problems_);
        if (is_constant) need(object, path, of_constant, problems_);
    }

    static std::vector<std::string> split(const std::string& path) {
        std::vector<std::string> parts;
        for (std::size_t begin = 0; begin < path.size();) {
            const auto end = std::min(path.find('/', begin), path.size());
            parts.push_back(path.substr(begin, end - begin));
            begin = end + 1;
        }
        return parts;
    }

    Problems problems_;
    std::size_t base_ = 2;  // parts of an iteration's path: "data/120"
    std::string meshes_, particles_;
};

/// If one dimension has a scale, all need one: otherwise netCDF makes up names by length.
Result<Problems> netcdf_rules(const h5::Id& file, const ForeignFile& foreign_file) {
    Problems problems;
    FB_TRY_ASSIGN(access, h5::closed_access(H5P_DATASET_ACCESS));
    for (const auto& listed : foreign_file.datasets) {
        const h5::Id dataset(H5Dopen2(file.get(), listed.path.c_str(), access.get()));
        if (dataset.get() < 0 || !listed.no_shape.empty()) continue;
        // A scale needs no scale of its own.
        if (h5::text_attribute(dataset, "CLASS") == "DIMENSION_SCALE") continue;
        const auto scales = h5::attribute_elements(dataset, "DIMENSION_LIST");
        if (scales != listed.shape.size())
            problems.push_back(fmt::format("'{}' has {} dimensions and names for {} of them", listed.path,
                                           listed.shape.size(), scales));
    }
    return problems;
}

}  // namespace

Result<std::vector<std::string>> broken_rules(const h5::Id& file, const ForeignFile& foreign_file) {
    switch (foreign_file.format) {
        case ForeignFormat::h5part: return h5part_rules(foreign_file);
        case ForeignFormat::openpmd: return OpenPmdRules().check(file);
        case ForeignFormat::netcdf4: return netcdf_rules(file, foreign_file);
        default: return Problems();
    }
}

}  // namespace forebay::foreign
