#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "views/foreign_file.hpp"
#include "views/foreign_rules.hpp"
#include "views/foreign_walk.hpp"
#include "views/limits.hpp"

namespace forebay::views {

namespace {

class Verifier {
public:
    using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

    Verifier(std::string path, const Progress& progress, ForeignVerdict& verdict)
        : folder_(std::filesystem::path(std::move(path)).parent_path()), progress_(progress), verdict_(verdict) {}

    Result<> check(const h5::Id& file, const ForeignFile& found) {
        look_for_sources(file, found);
        for (const auto& known : found.datasets) {
            const h5::Id dataset(H5Dopen2(file.get(), known.path.c_str(), H5P_DEFAULT));
            const auto without = without_.find(known.path);
            if (dataset.get() < 0) {
                problem(fmt::format("'{}' cannot be opened", known.path));
            } else if (without != without_.end()) {
                // What is missing behind a virtual dataset reads as fill values: nothing in it is worth reading then.
                const auto& [count, first] = without->second;
                problem(fmt::format("'{}' shows fill values instead of data that is not there: {}{}", known.path, first,
                                    count == 1 ? "" : fmt::format(" and {} others", count - 1)));
            } else {
                read(known, dataset);
            }
            done_ += known.bytes;
            if (progress_) progress_(done_, found.bytes);
        }
        return {};
    }

private:
    void problem(std::string text) { verdict_.problems.push_back(std::move(text)); }

    /// A source file is opened once, whatever the number of datasets that show it.
    void look_for_sources(const h5::Id& file, const ForeignFile& found) {
        std::map<std::string, std::map<std::string, std::set<std::string>>> shown_by;  // file, dataset in it
        for (const auto& known : found.datasets) {
            const h5::Id dataset(H5Dopen2(file.get(), known.path.c_str(), H5P_DEFAULT));
            const h5::Id creation(dataset.get() < 0 ? H5I_INVALID_HID : H5Dget_create_plist(dataset.get()));
            std::size_t count = 0;
            if (creation.get() < 0 || H5Pget_layout(creation.get()) != H5D_VIRTUAL) continue;
            if (H5Pget_virtual_count(creation.get(), &count) < 0) continue;
            for (std::size_t i = 0; i < count; ++i) {
                const auto source = name_of(H5Pget_virtual_filename, creation, i);
                if (source != ".") shown_by[source][name_of(H5Pget_virtual_dsetname, creation, i)].insert(known.path);
            }
        }
        for (const auto& [name, datasets] : shown_by) {
            const auto path = (folder_ / name).string();
            const h5::Id source(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
            for (const auto& [dataset, by] : datasets) {
                if (source.get() >= 0 && h5::Id(H5Dopen2(source.get(), dataset.c_str(), H5P_DEFAULT)).get() >= 0)
                    continue;
                for (const auto& path_of_view : by) {
                    auto& lost = without_[path_of_view];
                    if (lost.first++ == 0) lost.second = fmt::format("'{}' of {}", dataset, name);
                }
            }
        }
    }

    /// HDF5 looks for a relative name beside the virtual dataset's file; it reads %% as %.
    template <class Call>
    static std::string name_of(Call call, const h5::Id& creation, std::size_t index) {
        const auto length = call(creation.get(), index, nullptr, 0);
        if (length <= 0) return "";
        std::string name(static_cast<std::size_t>(length) + 1, '\0');
        call(creation.get(), index, name.data(), name.size());
        name.pop_back();
        for (auto at = name.find("%%"); at != std::string::npos; at = name.find("%%", at + 1)) name.erase(at, 1);
        return name;
    }

    /// Slab by slab of the slowest dimension. Texts of variable length are read with the rest of their heap.
    void read(const ForeignDataset& known, const h5::Id& dataset) {
        const h5::Id space(H5Dget_space(dataset.get())), type(H5Dget_type(dataset.get()));
        if (space.get() < 0 || type.get() < 0) return problem(fmt::format("'{}' has no readable type", known.path));
        if (known.bytes == 0) return;
        const auto rows = known.shape.empty() ? 1 : known.shape[0];
        const auto row_bytes = known.bytes / rows;
        const auto at_once =
            std::clamp<std::uint64_t>(foreign_window_bytes / std::max<std::uint64_t>(row_bytes, 1), 1, rows);
        if (at_once * row_bytes > foreign_row_bytes_max)
            return problem(fmt::format("'{}' was not read: one row has {} bytes", known.path, row_bytes));
        window_.resize(at_once * row_bytes);
        for (std::uint64_t row = 0; row < rows; row += at_once) {
            auto part = known.shape;
            if (!part.empty()) part[0] = std::min(at_once, rows - row);
            if (read_part(dataset, type, space, part, row)) continue;
            return problem(fmt::format("'{}' cannot be read from row {} on", known.path, row));
        }
        verdict_.bytes += known.bytes;
    }

    bool read_part(const h5::Id& dataset, const h5::Id& type, const h5::Id& space,
                   const std::vector<std::uint64_t>& part, std::uint64_t row) {
        if (part.empty())
            return finish(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, window_.data()), type,
                          space);
        std::vector<hsize_t> first(part.size(), 0), count(part.begin(), part.end());
        first[0] = row;
        const h5::Id memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
        if (memory.get() < 0 ||
            H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr) < 0)
            return false;
        return finish(H5Dread(dataset.get(), type.get(), memory.get(), space.get(), H5P_DEFAULT, window_.data()), type,
                      memory);
    }

    bool finish(herr_t status, const h5::Id& type, const h5::Id& memory) {
        if (status >= 0 && H5Tdetect_class(type.get(), H5T_VLEN) > 0)
            return H5Dvlen_reclaim(type.get(), memory.get(), H5P_DEFAULT, window_.data()) >= 0;
        if (status >= 0 && H5Tis_variable_str(type.get()) > 0)
            return H5Dvlen_reclaim(type.get(), memory.get(), H5P_DEFAULT, window_.data()) >= 0;
        return status >= 0;
    }

    std::filesystem::path folder_;
    const Progress& progress_;
    ForeignVerdict& verdict_;
    std::map<std::string, std::pair<std::size_t, std::string>> without_;  // by dataset: sources lost, the first of them
    std::vector<std::byte> window_;
    std::uint64_t done_ = 0;
};

}  // namespace

Result<ForeignVerdict> verify_hdf5(const std::string& path,
                                   const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    FB_TRY_ASSIGN(found, look_at_hdf5(path));
    const h5::QuietErrors quiet;
    FB_TRY_ASSIGN(file, h5::open_file(path));
    ForeignVerdict verdict;
    const auto dangling = [&](const std::string& at) {
        verdict.problems.push_back(fmt::format("'{}' is a link to what is not there", at));
    };
    FB_TRY(h5::walk(
        file, [](const auto&, const auto&, auto) { return Result<>(); }, dangling));
    FB_TRY_ASSIGN(broken, broken_rules(file, found));
    verdict.problems.insert(verdict.problems.end(), broken.begin(), broken.end());
    FB_TRY(Verifier(path, progress, verdict).check(file, found));
    return verdict;
}

}  // namespace forebay::views
