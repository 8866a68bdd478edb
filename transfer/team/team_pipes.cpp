#include "transfer/team/team_pipes.hpp"

#include <algorithm>
#include <mutex>

#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

// A worker that sent its last message only has to end.
constexpr std::chrono::seconds last_word_max{5};

class TeamPipes final : public TeamPort {
public:
    struct Line {
        std::string name;
        std::optional<sys::Channel> channel;
        std::string lost;  // why there is no channel; reported once
        TeamStream stream = {};
        std::vector<std::byte> unsent = {};  // guarded by mutex_
    };

    TeamPipes(std::vector<Line> lines, std::size_t first_number, sys::Bell bell)
        : lines_(std::move(lines)), first_number_(first_number), bell_(std::move(bell)) {}
    ~TeamPipes() override {
        for (auto& line : lines_)
            if (line.channel) line.channel->let_end(last_word_max);
    }

    std::size_t members() const override { return first_number_ == 0 ? 0 : lines_.size(); }
    std::string name(std::size_t process) const override {
        return process < first_number_ ? "this host" : lines_[process - first_number_].name;
    }

    void send(std::size_t process, const TeamMessage& message) override {
        {
            const std::lock_guard lock(mutex_);
            append_frame(lines_[process - first_number_].unsent, message);
        }
        bell_.ring();
    }

    std::optional<Heard> hear(sys::Clock::time_point until) override {
        while (true) {
            flush();
            // Starting after the last sender, so no busy worker keeps the others unread.
            for (std::size_t turn = 0; turn < lines_.size(); ++turn) {
                const auto at = (next_ + turn) % lines_.size();
                auto heard = look_at(at);
                if (!heard) continue;
                next_ = at + 1;
                return heard;
            }
            if (was_woken_ || sys::Clock::now() >= until) {
                was_woken_ = false;
                return std::nullopt;
            }
            std::vector<sys::Channel*> channels;
            for (auto& line : lines_)
                if (line.channel) channels.push_back(&*line.channel);
            sys::wait_for(channels, bell_, until);
            was_woken_ = true;
        }
    }

    bool has_unsent() override {
        const std::lock_guard lock(mutex_);
        return std::ranges::any_of(lines_, [](const Line& line) {
            return line.channel && (!line.unsent.empty() || line.channel->has_to_send());
        });
    }

    void wake() override { bell_.ring(); }

    void drop(std::size_t process) override {
        auto& line = lines_[process - first_number_];
        line.channel.reset();
        const std::lock_guard lock(mutex_);
        line.unsent.clear();
    }

private:
    void flush() {
        for (auto& line : lines_) {
            {
                const std::lock_guard lock(mutex_);
                if (line.channel) line.channel->put(line.unsent);
                line.unsent.clear();
            }
            if (!line.channel) continue;
            if (const auto sent = line.channel->flush(); !sent) lose(line, sent.error().what);
        }
    }

    void lose(Line& line, std::string why) {
        // Messages sent before its end are still read. Text before the first message may explain the failure.
        std::vector<std::byte> rest;
        if (line.channel) static_cast<void>(line.channel->take(rest));
        line.stream.add(rest);
        const auto words = line.stream.words() + (line.channel ? line.channel->last_words() : "");
        line.channel.reset();
        line.lost = std::move(why);
        const auto end = words.find_last_not_of(" \r\n");
        if (end != words.npos) line.lost += ": " + words.substr(0, end + 1);
    }

    std::optional<Heard> look_at(std::size_t at) {
        auto& line = lines_[at];
        TeamMessage message;
        if (line.channel) {
            std::vector<std::byte> come;
            const auto taken = line.channel->take(come);
            line.stream.add(come);
            if (!taken) lose(line, taken.error().what);
        }
        auto next = line.stream.next(message);
        if (next && *next) return Heard{at + first_number_, std::move(message)};
        if (!next) {
            line.channel.reset();
            line.stream = {};
            line.lost.clear();
            return Heard{at + first_number_, next.error()};
        }
        if (line.channel || line.lost.empty()) return std::nullopt;
        return Heard{at + first_number_, Error{ErrorKind::retry, std::exchange(line.lost, {})}};
    }

    std::vector<Line> lines_;
    const std::size_t first_number_;
    sys::Bell bell_;
    std::size_t next_ = 0;
    bool was_woken_ = false;
    std::mutex mutex_;
};

}  // namespace

Result<std::unique_ptr<TeamPort>> start_hosts(const std::vector<TeamHost>& hosts) {
    std::vector<TeamPipes::Line> lines;
    for (const auto& host : hosts) {
        sys::Spawn spawn{.program = host.command.front()};
        spawn.arguments.assign(host.command.begin() + 1, host.command.end());
        auto started = sys::Channel::start(spawn);
        auto& line = lines.emplace_back(TeamPipes::Line{.name = host.name, .channel = std::nullopt, .lost = {}});
        if (started) line.channel.emplace(std::move(*started));
        else line.lost = started.error().what;
    }
    FB_TRY_ASSIGN(bell, sys::Bell::make());
    return std::unique_ptr<TeamPort>(std::make_unique<TeamPipes>(std::move(lines), 1, std::move(bell)));
}

Result<std::unique_ptr<TeamPort>> join_by_standard_input() {
    FB_TRY_ASSIGN(channel, sys::Channel::standard());
    FB_TRY_ASSIGN(bell, sys::Bell::make());
    std::vector<TeamPipes::Line> lines;
    lines.push_back({.name = "the first process", .channel = std::move(channel), .lost = {}});
    return std::unique_ptr<TeamPort>(std::make_unique<TeamPipes>(std::move(lines), 0, std::move(bell)));
}

}  // namespace forebay::tree
