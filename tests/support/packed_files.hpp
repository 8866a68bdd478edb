// A spool in a real directory, and the contents of batches of packed files.

#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/format/packed.hpp"
#include "path/agent/pack.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/node_reader.hpp"

namespace forebay::test {

using Contents = std::map<std::string, std::string>;  // by path

inline void put(const std::filesystem::path& path, const std::string& content) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary);
    out << content;
}

inline std::string content_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline Contents files_in(const std::filesystem::path& spool) {
    Contents files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(spool))
        if (entry.is_regular_file()) files[entry.path().lexically_relative(spool)] = content_of(entry.path());
    return files;
}

/// The contents of all committed batches of a stream: content by path. `times` counts each path.
inline Contents packed_in(sys::Store& store, const std::string& run, const std::string& stream,
                          std::map<std::string, int>* times = nullptr) {
    Contents files;
    const auto all = catalog::snapshots(store, run, stream);
    if (!all) return files;
    for (const auto& snapshot : *all) {
        const auto verified = catalog::verify(store, snapshot, {}).value();
        CHECK(verified.damage.empty());
        const auto path = snapshot.directory + "/node-00000.h5";
        const auto head = catalog::load_head(store, path).value();
        CHECK(head.record.step == snapshot.step);
        const auto file = store.open(path, sys::Access::read).value();
        for (std::size_t v = 0; v < head.schema.variables.size(); ++v) {
            const auto packed = format::packed_file(head.schema.variables[v]);
            REQUIRE(packed);
            std::vector<std::byte> bytes(packed->bytes);
            if (!bytes.empty()) file->read(head.blocks[head.first_block[v]].offset_bytes, bytes).value();
            files[packed->path] = text_of(bytes);
            if (times != nullptr) ++(*times)[packed->path];
        }
    }
    return files;
}

/// Packs everything and returns the number of batches.
inline std::size_t pack_all(agent::Packer& packer) {
    std::size_t batches = 0;
    while (packer.pack_batch().value().files > 0) ++batches;
    return batches;
}

}  // namespace forebay::test
