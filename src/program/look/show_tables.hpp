// The tables of `forebay show` for a snapshot and for a node file.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/format/manifest.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/table.hpp"

namespace forebay::cli {

/// Variables with kind, type, shape (particles: rows of their table, from `rows`), bytes, unit and description.
Shown variables_table(const Schema& schema, std::span<const std::uint64_t> rows);
Json variables_json(const Schema& schema, std::span<const std::uint64_t> rows);

/// One line for each node file; at most `lines_max`, then the number of the rest.
Shown nodes_table(const format::Manifest& manifest, std::size_t lines_max);
Json nodes_json(const format::Manifest& manifest);

/// How a compressed node file stores its variables.
Shown compression_table(const format::NodeFile& file);
Json compression_json(const format::NodeFile& file);

/// One line for each block of a node file; at most `lines_max`, then the number of the rest.
Shown blocks_table(const format::NodeFile& file, std::size_t lines_max);
Json blocks_json(const format::NodeFile& file);

}  // namespace forebay::cli
