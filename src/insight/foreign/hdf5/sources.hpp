// Data of datasets in other files: sources of virtual datasets, and external raw data. HDF5 shows missing parts as fill
// values or zeros, opens fifos and devices, and follows circles of virtual datasets until its stack ends. So this class
// checks all of them before HDF5 reads.
//
// Threads: as h5/hdf5.hpp.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "insight/h5/walk.hpp"

namespace forebay::foreign {

/// A filter that this HDF5 library lacks.
struct MissingFilter {
    int id = 0;
    std::string name;
    auto operator<=>(const MissingFilter&) const = default;
};

/// "32000 (lzf)"
std::string name_of(const MissingFilter& filter);

/// The file that HDF5 opens for a name found in another file.
struct SourcePlace {
    h5::FileState state = h5::FileState::missing;
    std::string path;
};

/// HDF5 1.10 and newer look for a file named in `parent` below the directories of an environment variable, then beside
/// `parent`, then in the current directory. The first existing file counts.
SourcePlace place_of(const std::string& name, const std::string& parent, const char* variable);

class Sources {
public:
    /// `path` is the file with the datasets.
    explicit Sources(std::string path);

    /// Examines these datasets and everything that they refer to. Calls `alive` for each dataset.
    Result<> follow(const h5::Id& file, const std::vector<std::string>& datasets, const std::function<void()>& alive);

    /// Completes a sentence that begins with the dataset's name. Nothing if HDF5 may read it and all data exist.
    std::optional<std::string> why_not_read(const std::string& dataset) const;
    /// The missing filters of the dataset and of its sources.
    std::set<MissingFilter> missing_filters(const std::string& dataset) const;
    /// The number of datasets it shows, and the bytes of their largest filtered chunk.
    std::size_t source_count(const std::string& dataset) const;
    std::uint64_t chunk_bytes(const std::string& dataset) const;

private:
    using Key = std::pair<std::string, std::string>;  // file and dataset
    struct Source {
        Key key;
        std::string shown;  // "'u' of part-1.h5"
    };
    struct Node {
        bool is_missing = false;
        std::optional<std::string> reason;  // why HDF5 must not or cannot read it
        std::set<MissingFilter> filters;
        std::uint64_t chunk_bytes = 0;
        std::vector<Source> sources;
    };
    struct Lack {
        std::size_t missing = 0;
        std::string first_missing;
        std::optional<std::string> reason;
    };
    class Judge;

    Node look(const h5::Id& file, const std::string& path, const std::string& dataset) const;
    void add_virtual(const h5::Id& creation, const std::string& path, Node& node) const;
    std::vector<Key> reachable(const std::string& dataset) const;

    std::string path_;
    std::map<Key, Node> nodes_;
};

/// HDF5 opens the sources of a growing virtual dataset to find its shape. Returns the first existing source that must
/// not be opened, or nothing.
std::optional<std::string> shape_is_behind(const h5::Id& dataset, const std::string& path);

}  // namespace forebay::foreign
