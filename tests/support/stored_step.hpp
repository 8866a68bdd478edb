// A committed step of the stream `restart` on the real file system. Reads its files and verifies every byte. For
// doctest programs.

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"

namespace forebay::test {

struct StoredStep {
    std::string run;
    std::int64_t step = 0;

    std::string directory() const { return run + "/restart/" + catalog::step_name(step); }
    catalog::Snapshot snapshot() const { return {"restart", step, directory()}; }

    /// All names in its directory except the manifest, which must exist.
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(directory()))
            names.insert(entry.path().filename());
        CHECK(names.erase("manifest.json") == 1);
        return names;
    }

    /// The manifest. Requires that every byte verifies.
    format::Manifest whole() const {
        const auto verified = catalog::verify(sys::posix_store(), snapshot(), {}).value();
        for (const auto& damage : verified.damage) FAIL_CHECK(damage.text);
        CHECK(verified.segments > 0);
        return catalog::load_manifest(sys::posix_store(), directory()).value();
    }

    /// Flips a bit of byte `at` of a file. Verify must report exactly that damage, in a range around `at` of `variable`
    /// ("" for a head). Then flips it back.
    void check_flip(const std::string& path, std::uint64_t at, const std::string& variable) const {
        CAPTURE(at);
        CAPTURE(variable);
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        const auto flip = [&] {
            char byte = 0;
            file.seekg(static_cast<std::streamoff>(at)).get(byte);
            file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte ^ 1)).flush();
        };
        flip();
        const auto verified = catalog::verify(sys::posix_store(), snapshot(), {}).value();
        REQUIRE(verified.damage.size() == 1);
        CHECK(verified.damage[0].file == path);
        CHECK(verified.damage[0].first_byte <= at);
        CHECK(verified.damage[0].last_byte >= at);
        CHECK(verified.damage[0].variable == variable);
        flip();
    }
};

}  // namespace forebay::test
