#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/try.hpp"
#include "insight/foreign/hdf5/file.hpp"
#include "insight/foreign/hdf5/limits.hpp"
#include "insight/foreign/hdf5/read.hpp"
#include "insight/foreign/hdf5/rules.hpp"
#include "insight/foreign/hdf5/sources.hpp"
#include "insight/h5/walk.hpp"

namespace forebay::foreign {

namespace {

class Hdf5Verifier {
public:
    Hdf5Verifier(const std::string& path, const Alive& alive, ForeignVerdict& verdict)
        : path_(path), alive_(alive), verdict_(verdict), sources_(path) {}

    Result<> check(const h5::Id& file, const ForeignFile& foreign_file) {
        for (const auto& at : foreign_file.unreadable) problem(fmt::format("'{}' {}", at, unreadable_text()));
        FB_TRY(links(file));
        FB_TRY_ASSIGN(broken, broken_rules(file, foreign_file));
        for (auto& text : broken) problem(std::move(text));
        std::vector<std::string> datasets;
        for (const auto& known : foreign_file.datasets)
            if (known.storage != "constant") datasets.push_back(known.path);
        // All sources are examined before HDF5 reads any data.
        FB_TRY(sources_.follow(file, datasets, [&] { alive_(0); }));
        for (const auto& dataset : datasets) FB_TRY(read(file, dataset));
        verdict_.missing_filters.assign(filters_.begin(), filters_.end());
        return {};
    }

private:
    void problem(std::string text) {
        verdict_.problems.push_back(std::move(text));
        verdict_.has_damage = true;
    }

    Result<> links(const h5::Id& file) {
        const auto visit = [&](const auto&, const auto&, auto) {
            alive_(0);
            return Result<>();
        };
        return h5::walk(file, visit, [&](const h5::UnvisitedLink& link) {
            const bool is_lost =
                link.kind == h5::UnvisitedLink::Kind::dangling ||
                (link.kind == h5::UnvisitedLink::Kind::elsewhere && !link.file.empty() && !leads_on(link));
            if (is_lost) problem(fmt::format("'{}' is a link to a missing object", link.path));
        });
    }

    /// True if an external link's file has the object. HDF5 looks for the file as for sources of virtual datasets, but
    /// below HDF5_EXT_PREFIX.
    bool leads_on(const h5::UnvisitedLink& link) {
        const auto place = place_of(link.file, path_, "HDF5_EXT_PREFIX");
        const auto other = place.state == h5::FileState::regular ? h5::open_file(place.path) : Result<h5::Id>(h5::Id());
        const auto access = h5::closed_access(H5P_LINK_ACCESS);
        return other && access && other->get() >= 0 &&
               h5::Id(H5Oopen(other->get(), link.target.c_str(), access->get())).get() >= 0;
    }

    Result<> read(const h5::Id& file, const std::string& path) {
        if (const auto why = sources_.why_not_read(path)) {
            problem(fmt::format("'{}' {}", path, *why));
            return {};
        }
        FB_TRY_ASSIGN(access, h5::closed_access(H5P_DATASET_ACCESS));
        // 521 slots is HDF5's default.
        FB_TRY(h5::require(H5Pset_chunk_cache(access.get(), 521, cache_bytes(path), 1), "choosing a cache"));
        const h5::Id dataset(H5Dopen2(file.get(), path.c_str(), access.get()));
        if (dataset.get() < 0) {
            problem(fmt::format("'{}' cannot be opened", path));
            return {};
        }
        const auto read = read_through(dataset, alive_);
        verdict_.bytes += read.bytes;
        if (!read.complaint) return {};
        // A missing filter explains a failed read, so it does not count as damage.
        const auto missing = sources_.missing_filters(path);
        if (missing.empty()) {
            problem(fmt::format("'{}' {}", path, *read.complaint));
            return {};
        }
        std::string names;
        for (const auto& filter : missing) {
            filters_.insert(name_of(filter));
            names += (names.empty() ? "" : ", ") + name_of(filter);
        }
        verdict_.problems.push_back(
            fmt::format("'{}' was not read: {} lacks its filter {}", path, h5::library_name(), names));
        return {};
    }

    std::size_t cache_bytes(const std::string& path) const {
        const auto largest = std::min(sources_.chunk_bytes(path), chunk_bytes_max);
        const auto sources = sources_.source_count(path);
        if (sources == 0) return std::max<std::size_t>(foreign_chunk_cache_bytes, largest);
        return std::max<std::size_t>(foreign_source_cache_bytes, largest) / sources;
    }

    const std::string& path_;
    const Alive& alive_;
    ForeignVerdict& verdict_;
    Sources sources_;
    std::set<std::string> filters_;
};

}  // namespace

Result<ForeignVerdict> verify_hdf5(const std::string& path, const ForeignFile& foreign_file, const Alive& alive) {
    const h5::QuietErrors quiet;
    FB_TRY_ASSIGN(file, h5::open_file(path));
    ForeignVerdict verdict;
    FB_TRY(Hdf5Verifier(path, alive, verdict).check(file, foreign_file));
    return verdict;
}

}  // namespace forebay::foreign
