#include "path/catalog/values.hpp"

#include <algorithm>

#include "core/base/try.hpp"
#include "path/catalog/block_reader.hpp"

namespace forebay::catalog {

Result<std::vector<std::vector<std::byte>>> read_values(sys::Store& store, const std::string& directory,
                                                        const format::Manifest& manifest,
                                                        std::span<const std::size_t> variables) {
    const auto line = std::ranges::find_if(manifest.nodes, format::holds_replicated);
    if (line == manifest.nodes.end())
        return Error{ErrorKind::corrupt, directory + " has no node file with replicated variables"};
    FB_TRY_ASSIGN(reader, BlockReader::open(store, directory, *line));
    if (reader.head().schema != manifest.schema)
        return Error{ErrorKind::corrupt, reader.name() + " is not the committed file", "",
                     "forebay verify " + directory};
    std::vector<std::vector<std::byte>> values;
    values.reserve(variables.size());
    for (const auto variable : variables) {
        FB_TRY_ASSIGN(value, reader.value(variable));
        values.push_back(std::move(value));
    }
    return values;
}

}  // namespace forebay::catalog
