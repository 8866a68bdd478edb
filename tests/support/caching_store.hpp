// A client of a shared disk. It keeps the pages that it reads and serves later reads from them, even after another
// client wrote. Opening a file with read_direct drops its pages and reads from the disk. Pages follow a renamed file;
// report a rename by another client with `moved`.

#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "support/passing_store.hpp"

namespace forebay::test {

class CachingStore final : public PassingStore {
public:
    explicit CachingStore(sys::Store& disk) : PassingStore(disk) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        FB_TRY_ASSIGN(file, PassingStore::open(path, access));
        if (access == sys::Access::read_direct) pages_.erase(path);
        if (access != sys::Access::read) return file;
        return std::unique_ptr<sys::File>(std::make_unique<CachedFile>(std::move(file), pages_[path]));
    }
    Result<> rename(const std::string& from, const std::string& to) override {
        FB_TRY(PassingStore::rename(from, to));
        moved(from, to);
        return {};
    }
    void moved(const std::string& from, const std::string& to) {
        std::map<std::string, Pages> pages;
        for (auto& [path, kept] : pages_)
            pages[path.starts_with(from + "/") ? to + path.substr(from.size()) : path] = std::move(kept);
        pages_ = std::move(pages);
    }
    /// True if any page of the file is cached.
    bool keeps(const std::string& path) const { return pages_.contains(path) && !pages_.at(path).empty(); }

private:
    using Page = std::array<std::byte, limits::page_bytes>;
    using Pages = std::map<std::uint64_t, Page>;

    class CachedFile final : public PassingFile {
    public:
        CachedFile(std::unique_ptr<sys::File> file, Pages& pages) : PassingFile(std::move(file)), pages_(pages) {}
        Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
            FB_TRY_ASSIGN(size, file_->size());
            if (offset + bytes.size() > size) return PassingFile::read(offset, bytes);
            for (std::uint64_t done = 0; done < bytes.size();) {
                const auto at = offset + done, number = at / limits::page_bytes, within = at % limits::page_bytes;
                const auto first = number * limits::page_bytes;
                auto [page, is_new] = pages_.try_emplace(number);
                if (is_new)
                    FB_TRY(PassingFile::read(
                        first, std::span(page->second).first(std::min(size - first, limits::page_bytes))));
                const auto now = std::min(limits::page_bytes - within, bytes.size() - done);
                std::ranges::copy(std::span(page->second).subspan(within, now), bytes.subspan(done).begin());
                done += now;
            }
            return {};
        }

    private:
        Pages& pages_;
    };

    std::map<std::string, Pages> pages_;
};

}  // namespace forebay::test
