#include "foreign/hdf5/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/path.hpp"
#include "base/try.hpp"
#include "h5/walk.hpp"

namespace forebay::foreign {

namespace {

using Problems = std::vector<std::string>;

/// All datasets of a step have the rows of the step's particles; readers take the first one's length for all.
Problems h5part_rules(const ForeignFile& found) {
    constexpr std::size_t name_max = 64;
    Problems problems;
    std::map<std::string, const ForeignDataset*> first;
    for (const auto& dataset : found.datasets) {
        const auto step = parent_of(dataset.path);
        if (step.find('#') == std::string::npos || step.find('/') != std::string::npos) continue;
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
        meshes_ = trimmed(h5::text_attribute(root, "meshesPath"));
        particles_ = trimmed(h5::text_attribute(root, "particlesPath"));
        FB_TRY(h5::walk(
            file,
            [&](const std::string& path, const h5::Id& object, H5I_type_t kind) { return visit(path, object, kind); },
            [](const std::string&) {}));
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
        if (parts.size() < 2 || parts[0] != "data") return {};
        constexpr std::array iteration{"time", "dt", "timeUnitSI"};
        if (parts.size() == 2) need(object, path, iteration, problems_);
        if (parts.size() < 4) return {};
        if (!meshes_.empty() && parts[2] == meshes_) record(path, object, kind, parts.size() - 3, true);
        if (!particles_.empty() && parts[2] == particles_ && parts.size() > 4 && parts[4] != "particlePatches")
            record(path, object, kind, parts.size() - 4, false);
        return {};
    }

    /// `depth` 1 is the record, 2 a component of it. A constant one is a group with a value.
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
    std::string meshes_, particles_;
};

/// With a scale on one dimension there is one on each, or netCDF invents names by lengths.
Result<Problems> netcdf_rules(const h5::Id& file) {
    Problems problems;
    const auto visit = [&](const std::string& path, const h5::Id& object, H5I_type_t kind) -> Result<> {
        if (kind != H5I_DATASET || h5::text_attribute(object, "CLASS") == "DIMENSION_SCALE") return {};
        const auto dims = h5::shape_of(object).size(), scales = h5::attribute_elements(object, "DIMENSION_LIST");
        if (scales != dims)
            problems.push_back(fmt::format("'{}' has {} dimensions and names for {} of them", path, dims, scales));
        return {};
    };
    FB_TRY(h5::walk(file, visit, [](const std::string&) {}));
    return problems;
}

}  // namespace

Result<std::vector<std::string>> broken_rules(const h5::Id& file, const ForeignFile& found) {
    switch (found.format) {
        case ForeignFormat::h5part: return h5part_rules(found);
        case ForeignFormat::openpmd: return OpenPmdRules().check(file);
        case ForeignFormat::netcdf4: return netcdf_rules(file);
        default: return Problems();
    }
}

}  // namespace forebay::foreign
