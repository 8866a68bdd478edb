#include "path/agent/detour.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/path.hpp"
#include "core/base/try.hpp"

namespace forebay::agent {

namespace {

// A neighbour that does not answer costs seconds without a drain.
constexpr std::uint32_t tries_max = 3;
constexpr std::chrono::seconds search_max{10};
constexpr const char* nobody = "-";

// This node may do what a neighbour cannot do, so its own way is tried next. The neighbour's `missing` says nothing
// about the target.
Error passing_on_way(Error error) {
    error.kind = ErrorKind::retry;
    return error;
}

Result<> passing(const Result<>& done) { return done ? done : Result<>(passing_on_way(done.error())); }

class DetouredFile final : public sys::PassingFile {
public:
    using PassingFile::PassingFile;

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return passing(file_->write(offset, bytes));
    }
    Result<> truncate(std::uint64_t size) override { return passing(file_->truncate(size)); }
    Result<> sync() override { return passing(file_->sync()); }
    Result<> close() override { return passing(file_->close()); }
};

}  // namespace

Detour::Detour(sys::Store& own, DetourOptions options, Tell tell)
    : PassingStore(own), own_(own), options_(std::move(options)), tell_(std::move(tell)) {}

void Detour::set_aside() {
    if (!on_way_) return;
    aside_until_[helper_] = sys::Clock::now() + options_.pause;
    on_way_ = false;
    way_.reset();
}

void Detour::choose(const std::string& why) {
    on_way_ = false;
    if (why.empty()) {
        way_.reset();
        reported_.clear();
        return;
    }
    // The connection of the drain before is used again.
    if (!way_) find(why);
    on_way_ = way_.has_value();
}

void Detour::find(const std::string& why) {
    const auto now = sys::Clock::now();
    std::string errors;
    std::uint32_t tries = 0;
    for (std::uint32_t i = 0; i < options_.helpers && tries < tries_max; ++i) {
        if (sys::Clock::now() - now >= search_max) break;
        const auto helper = (options_.first + i) % options_.helpers;
        if (const auto aside = aside_until_.find(helper); aside != aside_until_.end() && now < aside->second) continue;
        ++tries;
        auto way = options_.open(helper);
        if (!way) {
            aside_until_[helper] = sys::Clock::now() + options_.pause;
            errors += (errors.empty() ? "" : "; ") + way.error().line();
            continue;
        }
        aside_until_.erase(helper);
        helper_ = helper;
        way_ = std::move(*way);
        if (std::exchange(reported_, way_->name) != way_->name)
            tell_(
                {.what = What::detours, .place = way_->name, .detail = fmt::format("through {}: {}", way_->name, why)});
        return;
    }
    // Reported once, until a neighbour answers or none is needed.
    if (std::exchange(reported_, nobody) == nobody) return;
    if (errors.empty()) errors = "each failed a moment ago";
    tell_({.what = What::no_detour, .detail = fmt::format("{}; no neighbour answers: {}", why, errors)});
}

Result<std::unique_ptr<sys::File>> Detour::open(const std::string& path, sys::Access access) {
    // Reads take the own way: it shows the true state of the target.
    if (!on_way_ || !sys::is_writing(access)) return own_.open(path, access);
    auto file = way_->store->open(path, access);
    if (!file) return passing_on_way(file.error());
    return std::unique_ptr<sys::File>(std::make_unique<DetouredFile>(std::move(*file)));
}

Result<> Detour::rename(const std::string& from, const std::string& to) {
    if (!on_way_) return own_.rename(from, to);
    if (const auto renamed = way_->store->rename(from, to); !renamed) return passing_on_way(renamed.error());
    // The client of a network file system may remember that the name was absent, until the directory is opened anew.
    for (const bool anew : {false, true}) {
        if (anew) FB_TRY(own_.list(directory_of(to)));
        FB_TRY_ASSIGN(is_there, own_.exists(to));
        if (is_there) return {};
    }
    return Error{ErrorKind::retry, fmt::format("{}: the data that {} wrote are not there", to, way_->name)};
}

Result<> Detour::sync_directory(const std::string& path) {
    return on_way_ ? passing(way_->store->sync_directory(path)) : own_.sync_directory(path);
}

}  // namespace forebay::agent
