#include "path/agent/script_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::agent {

void ScriptCalls::look_at(std::uint32_t stream, std::vector<Analysis> analyses, std::vector<std::size_t> due) {
    stream_ = stream;
    analyses_ = std::move(analyses);
    due_ = std::move(due);
    begun_.reset();
    called_.clear();
    spent_ = {};
}

std::vector<std::size_t> ScriptCalls::switched_off() const {
    std::vector<std::size_t> all;
    for (const auto& [script, ends] : ends_)
        if (script.first == stream_ && ends >= ends_max_) all.push_back(script.second);
    return all;
}

std::optional<std::string> ScriptCalls::left_out() const {
    for (const auto index : switched_off())
        if (std::ranges::find(due_, index) != due_.end()) return analyses_[index].name;
    return {};
}

bool ScriptCalls::begin(std::uint64_t index) {
    if (begun_ || index >= analyses_.size() || analyses_[index].kind != Analysis::Kind::script) return false;
    begun_ = {index, sys::Clock::now()};
    called_.insert(index);
    return true;
}

bool ScriptCalls::end() {
    if (!begun_) return false;
    spent_ = spent();
    begun_.reset();
    return true;
}

void ScriptCalls::survived() {
    for (const auto index : called_) ends_.erase({stream_, index});
}

sys::Clock::duration ScriptCalls::spent() const {
    return begun_ ? spent_ + (sys::Clock::now() - begun_->since) : spent_;
}

std::optional<std::string> ScriptCalls::overdue() const {
    if (!begun_) return {};
    const auto& analysis = analyses_[begun_->index];
    if (sys::Clock::now() - begun_->since <= analysis.time_limit) return {};
    return fmt::format("analysis '{}' did not return within its time_limit of {} s and was killed", analysis.name,
                       std::chrono::duration<double>(analysis.time_limit).count());
}

std::optional<std::string> ScriptCalls::worker_ended() {
    if (!begun_) return {};
    const auto index = begun_->index;
    begun_.reset();
    ++ends_[{stream_, index}];
    return analyses_[index].name;
}

bool ScriptCalls::is_switched_off(const std::string& name) const {
    return std::ranges::any_of(switched_off(), [&](std::size_t index) { return analyses_[index].name == name; });
}

}  // namespace forebay::agent
