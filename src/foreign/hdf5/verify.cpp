#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

#include "base/try.hpp"
#include "foreign/hdf5/file.hpp"
#include "foreign/hdf5/limits.hpp"
#include "foreign/hdf5/read.hpp"
#include "foreign/hdf5/rules.hpp"
#include "h5/walk.hpp"

namespace forebay::foreign {

namespace {

class Hdf5Verifier {
public:
    using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

    Hdf5Verifier(std::string path, const Progress& progress, ForeignVerdict& verdict)
        : folder_(std::filesystem::path(std::move(path)).parent_path()), progress_(progress), verdict_(verdict) {}

    Result<> check(const h5::Id& file, const ForeignFile& found) {
        look_for_sources(file, found);
        const h5::Id access(H5Pcreate(H5P_DATASET_ACCESS));
        // 521 slots are HDF5's own choice.
        FB_TRY(h5::require(H5Pset_chunk_cache(access.get(), 521, foreign_chunk_cache_bytes, 1), "choosing a cache"));
        for (const auto& known : found.datasets) {
            const h5::Id dataset(H5Dopen2(file.get(), known.path.c_str(), access.get()));
            const auto without = without_.find(known.path);
            if (dataset.get() < 0) {
                problem(fmt::format("'{}' cannot be opened", known.path));
            } else if (without != without_.end()) {
                // What is missing behind a virtual dataset reads as fill values: nothing in it is worth reading then.
                const auto& [count, first] = without->second;
                problem(fmt::format("'{}' shows fill values instead of data that is not there: {}{}", known.path, first,
                                    count == 1 ? "" : fmt::format(" and {} others", count - 1)));
            } else {
                const auto read = read_through(dataset);
                verdict_.bytes += read.bytes;
                if (read.complaint) problem(fmt::format("'{}' {}", known.path, *read.complaint));
            }
            done_ = add_up(done_, known.bytes);
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
            const auto access = h5::access_to(path);
            const h5::Id source(access ? H5Fopen(path.c_str(), H5F_ACC_RDONLY, access->get()) : H5I_INVALID_HID);
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

    std::filesystem::path folder_;
    const Progress& progress_;
    ForeignVerdict& verdict_;
    std::map<std::string, std::pair<std::size_t, std::string>> without_;  // by dataset: sources lost, the first of them
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
    FB_TRY(Hdf5Verifier(path, progress, verdict).check(file, found));
    return verdict;
}

}  // namespace forebay::foreign
