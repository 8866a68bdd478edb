#include "insight/advice/preflight/ssh_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <thread>

#include "core/base/show_text.hpp"
#include "core/sys/child.hpp"
#include "insight/advice/preflight/ask.hpp"

namespace forebay::advice {

namespace {

// The pause between two rounds over all hosts: a round over 64 takes some 0.1 ms.
constexpr std::chrono::microseconds hosts_look_pause{500};

class SshNodes final : public Nodes {
public:
    SshNodes(std::vector<std::string> hosts, SshOptions options) : options_(std::move(options)) {
        for (auto& name : hosts) hosts_.push_back(Host{.name = std::move(name)});
    }

    std::size_t size() const override { return hosts_.size(); }
    std::string name(std::size_t node) const override { return hosts_[node].name; }

    Result<> ask(std::size_t node, const std::string& question) override {
        hosts_[node].questions.push_back(question);
        start_waiting();
        return {};
    }

    std::optional<Heard> hear(sys::Clock::time_point until) override {
        while (true) {
            start_waiting();
            for (std::size_t turn = 0; turn < hosts_.size(); ++turn) {
                const auto node = (next_ + turn) % hosts_.size();
                if (auto heard = look_at(node)) {
                    // The next round begins after this host, so that no host starves the rest.
                    next_ = node + 1;
                    return heard;
                }
            }
            const auto now = sys::Clock::now();
            if (now >= until) return std::nullopt;
            std::this_thread::sleep_for(std::min<sys::Clock::duration>(hosts_look_pause, until - now));
        }
    }

private:
    struct Host {
        std::string name;
        std::optional<sys::ChildProgram> program = {};
        std::deque<std::string> questions = {};  // not yet sent
        std::size_t open = 0;                    // sent, not answered
        std::string last_words = {};             // other output: of ssh, or of a login
    };

    // Starts programs for hosts with questions. At the limit an idle program ends first.
    void start_waiting() {
        for (auto& host : hosts_) {
            if (host.questions.empty()) continue;
            if (!host.program && running_ >= options_.at_once && !end_an_idle_one()) return;
            if (!host.program && !start(host)) continue;
            while (!host.questions.empty() && host.program->write_line(host.questions.front())) {
                host.questions.pop_front();
                ++host.open;
            }
        }
    }

    bool start(Host& host) {
        sys::Spawn spawn{.program = options_.command.front()};
        spawn.arguments.assign(options_.command.begin() + 1, options_.command.end());
        for (const auto& word : {host.name, options_.program, std::string("preflight"), std::string("--here")})
            spawn.arguments.push_back(word);
        auto started = sys::ChildProgram::start(spawn);
        if (!started) {
            host.last_words = started.error().what;
            host.open += host.questions.size();  // hear() will report it
            host.questions.clear();
            return false;
        }
        host.program.emplace(std::move(*started));
        ++running_;
        return true;
    }

    bool end_an_idle_one() {
        const auto idle = std::ranges::find_if(
            hosts_, [](const Host& host) { return host.program && host.open == 0 && host.questions.empty(); });
        if (idle == hosts_.end()) return false;
        idle->program.reset();
        --running_;
        return true;
    }

    std::optional<Heard> look_at(std::size_t node) {
        auto& host = hosts_[node];
        if (!host.program) {
            if (host.open == 0) return std::nullopt;
            host.open = 0;
            return Heard{node, Error{ErrorKind::retry, host.last_words}};
        }
        while (true) {
            auto line = host.program->read_line(std::chrono::milliseconds(0));
            if (line && !*line) return std::nullopt;
            if (!line) {
                const auto words = host.last_words.empty() ? "" : ": " + show_text(host.last_words);
                const bool asked = host.open + host.questions.size() > 0;
                host.program.reset();
                host.questions.clear();
                host.open = 0;
                --running_;
                if (!asked) return std::nullopt;
                return Heard{node, Error{ErrorKind::retry, line.error().what + words}};
            }
            // A login may print anything before the answers.
            if (!(**line).starts_with("{\"n\":")) {
                while ((**line).ends_with('\r')) (**line).pop_back();  // ssh ends lines as terminals do
                if (!(**line).empty()) host.last_words = **line;
                continue;
            }
            host.open -= std::min<std::size_t>(host.open, 1);
            return Heard{node, std::move(**line)};
        }
    }

    SshOptions options_;
    std::vector<Host> hosts_;
    std::size_t running_ = 0, next_ = 0;
};

}  // namespace

std::unique_ptr<Nodes> ssh_nodes(std::vector<std::string> hosts, SshOptions options) {
    return std::make_unique<SshNodes>(std::move(hosts), std::move(options));
}

}  // namespace forebay::advice
