#include "agent/detour.hpp"

#include <fmt/format.h>

#include <utility>

namespace forebay::agent {

namespace {

// One that does not answer costs seconds, in which nothing is drained.
constexpr std::uint32_t tries_max = 3;
constexpr const char* nobody = "-";

// What another agent may not do, or its machine cannot, this node may: its own way is tried then.
Error passing_on_way(Error error) {
    if (error.kind == ErrorKind::refused || error.kind == ErrorKind::broken || error.kind == ErrorKind::unsupported)
        error.kind = ErrorKind::retry;
    return error;
}

class DetouredFile final : public sys::PassingFile {
public:
    using PassingFile::PassingFile;

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return passing(file_->write(offset, bytes));
    }
    Result<> truncate(std::uint64_t size) override { return passing(file_->truncate(size)); }
    Result<> sync() override { return passing(file_->sync()); }
    Result<> close() override { return passing(file_->close()); }

private:
    static Result<> passing(Result<> done) { return done ? done : Result<>(passing_on_way(done.error())); }
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
        told_.clear();
        return;
    }
    if (!way_) find(why);
    on_way_ = way_.has_value();
}

void Detour::find(const std::string& why) {
    const auto now = sys::Clock::now();
    std::string errors;
    std::uint32_t tries = 0;
    for (std::uint32_t i = 0; i < options_.helpers && tries < tries_max; ++i) {
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
        if (std::exchange(told_, way_->name) != way_->name)
            tell_({.what = What::detours, .place = way_->name, .detail = fmt::format("{}: {}", way_->name, why)});
        return;
    }
    if (std::exchange(told_, nobody) == nobody) return;
    if (errors.empty()) errors = "each has failed a moment ago";
    tell_({.what = What::no_detour, .detail = fmt::format("{}; no neighbour answers: {}", why, errors)});
}

Result<std::unique_ptr<sys::File>> Detour::open(const std::string& path, sys::Access access) {
    auto file = PassingStore::open(path, access);
    if (!on_way_ || !sys::is_writing(access)) return file;
    if (!file) return passing_on_way(file.error());
    return std::unique_ptr<sys::File>(std::make_unique<DetouredFile>(std::move(*file)));
}

}  // namespace forebay::agent
