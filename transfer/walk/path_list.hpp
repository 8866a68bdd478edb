// A sorted list of requested paths. It returns the requested names of a directory. A path is stored as its names with a
// zero byte between two, so all paths below a directory are neighbours. The paths lie in blocks. Blocks that fit stay
// in memory, the rest goes to a spill file. The first path of each block is always in memory.
//
// Life: append() in order -> close() -> lookups
// Threads: lookups by any.

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

/// Answer of the list for one path.
struct PathWish {
    bool is_whole = false;   // in the list: all below it is requested
    bool has_below = false;  // paths below it are in the list
};

class PathList {
public:
    explicit PathList(std::size_t memory_bytes) : memory_bytes_(memory_bytes) {}

    /// Names with a zero byte between two and no zero byte at the end; "" is the root.
    Result<> append(std::string_view names);
    Result<> close();

    bool is_empty() const { return !has_any_; }
    /// "." is the root.
    Result<PathWish> wish_of(const std::string& path);
    /// The names in `folder` that are in the list or lead to a path in the list. Sorted, without duplicates.
    Result<> names_below(const std::string& folder, const std::function<Result<>(const std::string& name)>& take);

    /// For other processes: appending all results of blocks_from() with append_block() gives an equal list. Empty: the
    /// end.
    Result<std::vector<std::string>> blocks_from(std::size_t block);
    /// Returns `corrupt` if the bytes are no valid block.
    Result<> append_block(std::string_view block);

private:
    using TextRef = std::shared_ptr<const std::string>;
    struct Block {
        std::string first;  // first path
        TextRef text;       // null: in the file
        std::uint64_t offset = 0, bytes = 0;
    };
    /// Position of a path in its block. At the end of the list `text` is null.
    struct Place {
        TextRef text;
        std::size_t at = 0;
        std::string_view names{};
    };

    Result<> close_block();
    Result<TextRef> text_of_block(std::size_t index);
    /// The first path that is not less than `names`.
    Result<Place> find(std::string_view names);
    /// The same, searched from `place` on.
    Result<> go_on(Place& place, std::string_view names);

    const std::size_t memory_bytes_;
    SpillFile file_;
    std::vector<Block> blocks_;
    std::string open_, first_, last_;  // the block being filled, its first and last path
    bool has_any_ = false;
    std::uint64_t held_bytes_ = 0, first_bytes_ = 0, file_bytes_ = 0;
    std::mutex mutex_;  // guards the members below and the texts of blocks
    std::deque<std::size_t> loaded_;
    std::uint64_t loaded_bytes_ = 0;
};

using WishedRef = std::shared_ptr<PathList>;

/// A path in a block: the length of its names in 4 bytes, then the names.
inline constexpr std::size_t path_length_bytes = 4;
void append_names(std::string& block, std::string_view names);

/// Parses one path a line. With `by_nul` a zero byte ends each path, so names may hold line ends. Empty lines and a
/// leading "./" are ignored. Returns `refused` for paths with a leading slash or "..".
Result<WishedRef> path_list(std::string_view list, bool by_nul, std::size_t memory_bytes = TableLimits{}.list_bytes);
/// The same for a file.
Result<WishedRef> read_path_list(const std::string& file, bool by_nul);

}  // namespace forebay::tree
