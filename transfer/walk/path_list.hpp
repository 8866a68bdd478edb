// The paths of a list, by which a folder is asked for single names. They are sorted, each as its names with a zero byte
// between two: all that lies in a folder stands together. They lie in blocks; as many as fit are in memory, the others
// in a spill file, with the first path of each in memory.
//
// Life:    append() in order -> close() -> questions
// Threads: questions by any.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/tables/spill_file.hpp"
#include "transfer/tables/table_limits.hpp"

namespace forebay::tree {

/// What a list says of one path.
struct PathWish {
    bool is_whole = false;   // it is in the list: all below it is meant, too
    bool has_below = false;  // paths below it are in the list
};

class PathList {
public:
    explicit PathList(std::size_t memory_bytes) : memory_bytes_(memory_bytes) {}

    /// Names with a zero byte between two, none before the last one; "" is the root.
    Result<> append(std::string_view names);
    Result<> close();

    bool is_empty() const { return !has_any_; }
    /// "." is the root.
    Result<PathWish> wish_of(const std::string& path);
    /// The names in `folder` that are in the list, or have something below them that is; sorted, each once.
    Result<> names_below(const std::string& folder, const std::function<Result<>(const std::string& name)>& take);

    /// For other processes: append_blocks() of what blocks_from(0) and its like gave makes the same. None: the end.
    Result<std::vector<std::string>> blocks_from(std::size_t block);
    /// `corrupt` where they are none.
    Result<> append_block(std::string_view block);

private:
    using TextRef = std::shared_ptr<const std::string>;
    struct Block {
        std::string first;  // of its paths
        TextRef text;       // null: it is in the file
        std::uint64_t offset = 0, bytes = 0;
    };
    /// Of a path in its block; at the end of all there is no text.
    struct Place {
        TextRef text;
        std::size_t at = 0;
        std::string_view names{};
    };

    Result<> close_block();
    Result<TextRef> text_of_block(std::size_t index);
    /// The first one that is not before `names`.
    Result<Place> find(std::string_view names);
    /// The same, behind `place`.
    Result<> go_on(Place& place, std::string_view names);

    const std::size_t memory_bytes_;
    SpillFile file_;
    std::vector<Block> blocks_;
    std::string open_, first_, last_;  // the block that is filled, and the first and last path in it
    bool has_any_ = false;
    std::uint64_t held_bytes_ = 0, first_bytes_ = 0, file_bytes_ = 0;
    std::mutex mutex_;  // guards what follows, and texts of blocks
    std::deque<std::size_t> loaded_;
    std::uint64_t loaded_bytes_ = 0;
};

using WishedRef = std::shared_ptr<PathList>;

/// A path as blocks have it: the length of its names, and these.
inline constexpr std::size_t path_length_bytes = 4;
void append_names(std::string& block, std::string_view names);

/// One path a line, or with `by_nul` one before each zero byte, so that names may hold line ends. Empty lines and "./"
/// in front mean nothing; `refused` for paths that begin with a slash or lead upwards.
Result<WishedRef> path_list(std::string_view list, bool by_nul, std::size_t memory_bytes = TableLimits{}.list_bytes);
/// The same of a file.
Result<WishedRef> read_path_list(const std::string& file, bool by_nul);

}  // namespace forebay::tree
