#include "insight/foreign/hdf5/sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "core/base/try.hpp"
#include "insight/foreign/hdf5/limits.hpp"
#include "insight/foreign/hdf5/read.hpp"
#include "insight/h5/walk.hpp"

namespace forebay::foreign {

namespace {

namespace fs = std::filesystem;

template <class Call>
std::string name_from(Call call, const h5::Id& creation, std::size_t index) {
    const auto length = call(creation.get(), index, nullptr, 0);
    if (length <= 0) return "";
    std::string name(static_cast<std::size_t>(length) + 1, '\0');
    call(creation.get(), index, name.data(), name.size());
    name.pop_back();
    return name;
}

/// HDF5 replaces %% by %, and %b by the block's number. Sets `has_block` if there was a %b.
std::string with_block(const std::string& pattern, std::uint64_t block, bool& has_block) {
    std::string name;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        const bool is_mark = pattern[at] == '%' && at + 1 < pattern.size();
        if (is_mark && pattern[at + 1] == 'b') name += fmt::to_string(block), has_block = true, ++at;
        else if (is_mark && pattern[at + 1] == '%') name += '%', ++at;
        else name += pattern[at];
    }
    return name;
}

std::string without_root(std::string dataset) {
    const auto begin = dataset.find_first_not_of('/');
    return begin == std::string::npos ? "" : dataset.substr(begin);
}

/// HDF5 uses names of external raw data unchanged, or below HDF5_EXTFILE_PREFIX. Bytes missing from a file read as
/// zeros.
std::optional<std::string> why_raw_data_lack(const h5::Id& dataset, const h5::Id& creation, const std::string& path) {
    const auto count = H5Pget_external_count(creation.get());
    auto left = count > 0 ? bytes_of(dataset).value_or(0) : 0;
    std::string prefix = std::getenv("HDF5_EXTFILE_PREFIX") == nullptr ? "" : std::getenv("HDF5_EXTFILE_PREFIX");
    constexpr std::string_view origin = "${ORIGIN}";
    std::error_code error;
    if (prefix.starts_with(origin))
        prefix = fs::absolute(path, error).parent_path().string() + prefix.substr(origin.size());
    for (int i = 0; i < count && left > 0; ++i) {
        std::string name(external_name_bytes_max, '\0');
        off_t offset = 0;
        hsize_t size = 0;
        if (H5Pget_external(creation.get(), static_cast<unsigned>(i), name.size(), name.data(), &offset, &size) < 0)
            return "does not record the files of its data";
        name.resize(std::min(name.find('\0'), name.size()));
        const auto place = (fs::path(prefix) / name).string();
        // The last file may be larger than the rest of the dataset.
        const auto bytes = std::min<std::uint64_t>(size, left);
        if (fs::status(place, error).type() == fs::file_type::not_found)
            return fmt::format("has its data in '{}', which does not exist (set HDF5_EXTFILE_PREFIX to its directory)",
                               name);
        if (!fs::is_regular_file(place, error))
            return fmt::format("has its data in '{}', which is not a regular file and was not opened", name);
        const auto has = fs::file_size(place, error);
        const auto from = static_cast<std::uint64_t>(std::max<off_t>(offset, 0));
        if (has < from || has - from < bytes)
            return fmt::format("shows zeros for missing data: '{}' has {} of {} bytes", name,
                               has < from ? 0 : has - from, bytes);
        left -= bytes;
    }
    return std::nullopt;
}

std::set<MissingFilter> missing_filters_of(const h5::Id& creation) {
    std::set<MissingFilter> missing;
    const auto count = H5Pget_nfilters(creation.get());
    for (int i = 0; i < count; ++i) {
        std::string name(filter_name_bytes_max, '\0');
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        const auto id = H5Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags, &values, nullptr, name.size(),
                                       name.data(), &config);
        if (id < 0) continue;
        name.resize(std::min(name.find('\0'), name.size()));
        // A filter may be built only for encoding.
        const bool decodes = H5Zfilter_avail(id) > 0 && H5Zget_filter_info(id, &config) >= 0 &&
                             (config & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
        if (!decodes) missing.insert({id, name});
    }
    return missing;
}

bool has_unlimited_mapping(const h5::Id& creation) {
    std::size_t count = 0;
    if (H5Pget_virtual_count(creation.get(), &count) < 0) return true;
    for (std::size_t i = 0; i < count; ++i) {
        const h5::Id space(H5Pget_virtual_vspace(creation.get(), i));
        std::array<hsize_t, H5S_MAX_RANK> counts{}, blocks{};
        if (space.get() < 0) return true;
        if (H5Sget_select_type(space.get()) != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space.get()) <= 0)
            continue;
        if (H5Sget_regular_hyperslab(space.get(), nullptr, nullptr, counts.data(), blocks.data()) < 0) return true;
        if (std::ranges::find(counts, H5S_UNLIMITED) != counts.end() ||
            std::ranges::find(blocks, H5S_UNLIMITED) != blocks.end())
            return true;
    }
    return false;
}

/// Calls `take` with file and dataset of each source, until it returns false.
template <class Take>
void for_each_source(const h5::Id& creation, const std::string& parent, const Take& take) {
    std::size_t count = 0;
    if (H5Pget_virtual_count(creation.get(), &count) < 0) return;
    std::map<std::string, SourcePlace> places;  // each file is looked up once for all its pieces
    const auto place_in = [&](const std::string& file) {
        if (file == ".") return SourcePlace{h5::FileState::regular, parent};
        const auto known = places.find(file);
        return known != places.end() ? known->second
                                     : places.emplace(file, place_of(file, parent, "HDF5_VDS_PREFIX")).first->second;
    };
    for (std::size_t i = 0; i < count; ++i) {
        const auto file_pattern = name_from(H5Pget_virtual_filename, creation, i);
        const auto dataset_pattern = name_from(H5Pget_virtual_dsetname, creation, i);
        for (std::uint64_t block = 0; block < blocks_of_pattern_max; ++block) {
            bool is_pattern = false, has_block_dataset = false;
            const auto file = with_block(file_pattern, block, is_pattern);
            const auto dataset = with_block(dataset_pattern, block, has_block_dataset);
            const auto place = place_in(file);
            // The first missing block ends the dataset.
            if (is_pattern && place.state == h5::FileState::missing) break;
            // Only the file knows how many blocks its datasets form.
            if (has_block_dataset && !is_pattern) break;
            if (!take(place, file, dataset)) return;
            if (!is_pattern) break;
        }
    }
}

}  // namespace

// For an absolute name, its last part is also looked up in the other directories.
SourcePlace place_of(const std::string& name, const std::string& parent, const char* variable) {
    std::error_code error;
    std::vector<fs::path> folders;
    const char* prefixes = std::getenv(variable);
    for (std::string_view rest = prefixes == nullptr ? "" : prefixes; !rest.empty();) {
        const auto end = std::min(rest.find(':'), rest.size());
        if (end > 0) folders.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    folders.push_back(fs::absolute(parent, error).parent_path());
    // The empty path is the current directory.
    folders.emplace_back();
    folders.push_back(fs::weakly_canonical(parent, error).parent_path());
    std::vector<fs::path> candidates;
    const fs::path given(name);
    if (given.is_absolute()) candidates.push_back(given);
    for (const auto& folder : folders) candidates.push_back(folder / (given.is_absolute() ? given.filename() : given));
    for (const auto& candidate : candidates)
        if (const auto state = h5::state_of(candidate.string()); state != h5::FileState::missing)
            return {state, fs::weakly_canonical(candidate, error).string()};
    return {};
}

std::string name_of(const MissingFilter& filter) {
    // Writers store sentences, versions or nothing as a filter's name.
    struct Known {
        int id;
        const char* name;
    };
    constexpr Known known[] = {{4, "szip"},      {305, "lzo"},   {307, "bzip2"},        {32000, "lzf"},
                               {32001, "blosc"}, {32004, "lz4"}, {32008, "bitshuffle"}, {32013, "zfp"},
                               {32015, "zstd"},  {32017, "sz"},  {32024, "sz3"},        {32026, "blosc2"}};
    const auto* const at = std::ranges::find(known, filter.id, &Known::id);
    if (at != std::end(known)) return fmt::format("{} ({})", filter.id, at->name);
    return filter.name.empty() ? fmt::to_string(filter.id) : fmt::format("{} ({})", filter.id, filter.name);
}

Sources::Sources(std::string path) {
    std::error_code error;
    path_ = fs::weakly_canonical(path, error).string();
}

void Sources::add_virtual(const h5::Id& creation, const std::string& path, Node& node) const {
    std::set<Key> known;
    for_each_source(creation, path, [&](const SourcePlace& place, const std::string& file, const std::string& dataset) {
        if (place.state == h5::FileState::other) {
            node.reason = fmt::format("shows data of '{}', which is not a regular file and was not opened", file);
            return false;
        }
        const bool is_missing = place.state == h5::FileState::missing;
        Source source{{is_missing ? file : place.path, without_root(dataset)},
                      fmt::format("'{}' of {}", dataset, file)};
        if (known.insert(source.key).second) node.sources.push_back(std::move(source));
        return node.sources.size() < sources_max;
    });
}

Sources::Node Sources::look(const h5::Id& file, const std::string& path, const std::string& dataset) const {
    Node node;
    const auto access = h5::closed_access(H5P_DATASET_ACCESS);
    const h5::Id opened(access && file.get() >= 0 ? H5Dopen2(file.get(), dataset.c_str(), access->get())
                                                  : H5I_INVALID_HID);
    const h5::Id creation(opened.get() < 0 ? H5I_INVALID_HID : H5Dget_create_plist(opened.get()));
    node.is_missing = creation.get() < 0;
    if (node.is_missing) return node;
    const auto layout = H5Pget_layout(creation.get());
    if (layout == H5D_VIRTUAL) add_virtual(creation, path, node);
    if (layout == H5D_CONTIGUOUS) node.reason = why_raw_data_lack(opened, creation, path);
    if (layout == H5D_CHUNKED && H5Pget_nfilters(creation.get()) > 0) {
        node.filters = missing_filters_of(creation);
        node.chunk_bytes = bytes_of_chunk(opened, creation);
    }
    return node;
}

Result<> Sources::follow(const h5::Id& file, const std::vector<std::string>& datasets,
                         const std::function<void()>& alive) {
    // Level by level: each level opens a source file once for all its datasets.
    std::map<std::string, std::set<std::string>> level;
    level[path_] = {datasets.begin(), datasets.end()};
    while (!level.empty()) {
        std::map<std::string, std::set<std::string>> next;
        for (const auto& [path, names] : level) {
            h5::Id opened;
            if (path != path_ && h5::state_of(path) == h5::FileState::regular)
                if (auto source = h5::open_file(path)) opened = std::move(*source);
            for (const auto& name : names) {
                alive();
                // Each dataset is examined once, so circles end here.
                const auto [at, is_new] = nodes_.try_emplace({path, name});
                if (!is_new) continue;
                at->second = look(path == path_ ? file : opened, path, name);
                for (const auto& source : at->second.sources)
                    if (!nodes_.contains(source.key)) next[source.key.first].insert(source.key.second);
                if (nodes_.size() > sources_max)
                    return Error{ErrorKind::unsupported,
                                 fmt::format("virtual datasets show more than {} other datasets", sources_max)};
            }
        }
        level = std::move(next);
    }
    return {};
}

/// Finds missing data below each dataset, once for each dataset.
class Sources::Judge {
public:
    explicit Judge(const std::map<Key, Node>& nodes) : nodes_(nodes) {}

    Lack judge(const Key& key, std::size_t depth) {
        if (const auto known = done_.find(key); known != done_.end()) return known->second;
        Lack lack;
        if (depth > virtual_depth_max) {
            lack.reason = fmt::format("leads through more than {} datasets", virtual_depth_max);
            return lack;
        }
        const auto& node = nodes_.at(key);
        lack.reason = node.reason;
        // A key that is already open is a circle: HDF5 would follow it until its stack ends.
        if (!open_.insert(key).second) {
            lack.reason = "shows itself, directly or through other datasets";
            return lack;
        }
        for (const auto& source : node.sources) {
            if (lack.reason) break;
            if (nodes_.at(source.key).is_missing) {
                if (lack.missing++ == 0) lack.first_missing = source.shown;
                continue;
            }
            const auto below = judge(source.key, depth + 1);
            if (below.reason)
                lack.reason = below.reason->starts_with("shows itself")
                                  ? below.reason
                                  : fmt::format("shows {}, which {}", source.shown, *below.reason);
            if (lack.missing == 0) lack.first_missing = below.first_missing;
            lack.missing += below.missing;
        }
        open_.erase(key);
        return done_.emplace(key, lack).first->second;
    }

private:
    const std::map<Key, Node>& nodes_;
    std::map<Key, Lack> done_;
    std::set<Key> open_;
};

std::optional<std::string> Sources::why_not_read(const std::string& dataset) const {
    const Key key{path_, dataset};
    if (!nodes_.contains(key) || nodes_.at(key).is_missing) return "cannot be opened";
    const auto lack = Judge(nodes_).judge(key, 0);
    if (lack.reason) return lack.reason;
    if (lack.missing == 0) return std::nullopt;
    return fmt::format("shows fill values for missing data: {}{}", lack.first_missing,
                       lack.missing == 1 ? "" : fmt::format(" and {} more", lack.missing - 1));
}

std::vector<Sources::Key> Sources::reachable(const std::string& dataset) const {
    std::vector<Key> keys{{path_, dataset}};
    std::set<Key> known{keys.front()};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto node = nodes_.find(keys[i]);
        if (node == nodes_.end()) continue;
        for (const auto& source : node->second.sources)
            if (known.insert(source.key).second) keys.push_back(source.key);
    }
    return keys;
}

std::set<MissingFilter> Sources::missing_filters(const std::string& dataset) const {
    std::set<MissingFilter> all;
    for (const auto& key : reachable(dataset))
        if (const auto node = nodes_.find(key); node != nodes_.end())
            all.insert(node->second.filters.begin(), node->second.filters.end());
    return all;
}

std::size_t Sources::source_count(const std::string& dataset) const { return reachable(dataset).size() - 1; }

std::uint64_t Sources::chunk_bytes(const std::string& dataset) const {
    std::uint64_t largest = 0;
    for (const auto& key : reachable(dataset))
        if (const auto node = nodes_.find(key); node != nodes_.end())
            largest = std::max(largest, node->second.chunk_bytes);
    return largest;
}

std::optional<std::string> shape_is_behind(const h5::Id& dataset, const std::string& path) {
    const h5::Id creation(H5Dget_create_plist(dataset.get()));
    if (creation.get() < 0 || H5Pget_layout(creation.get()) != H5D_VIRTUAL || !has_unlimited_mapping(creation))
        return std::nullopt;
    std::optional<std::string> behind;
    for_each_source(creation, path, [&](const SourcePlace& place, const std::string& file, const std::string&) {
        if (place.state == h5::FileState::other) behind = file;
        return !behind.has_value();
    });
    return behind;
}

}  // namespace forebay::foreign
