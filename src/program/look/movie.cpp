// forebay movie: joins the pictures of a run in the order of their steps.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "core/base/try.hpp"
#include "core/sys/process.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "insight/insitu/animation.hpp"
#include "insight/insitu/png.hpp"
#include "program/own_output.hpp"
#include "program/run/packed_sources.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

// An encoder takes some seconds for a frame of ten million pixels.
constexpr std::chrono::seconds encoding_max{600}, encoding_max_a_frame{10};
constexpr double fps_least = 0.02, fps_most = 120;

struct MovieArguments {
    PackedRequest request;
    std::string to;
    double fps = 10;
    bool replace = false;
    bool json = false;
};

struct MovieReport {
    std::size_t frames = 0, padded = 0;
    std::string first, last;
    std::uint32_t width = 0, height = 0;
};

/// "fields.map.temperature.step-000120.png": the last number is the frame's, the rest is the series'.
struct FrameName {
    std::string series;
    std::uint64_t number = 0;
};
FrameName frame_name(const std::string& path) {
    const auto last = path.find_last_of("0123456789");
    if (last == std::string::npos) return {path, 0};
    auto first = last;
    while (first > 0 && path[first - 1] >= '0' && path[first - 1] <= '9') --first;
    FrameName name{path.substr(0, first) + "*" + path.substr(last + 1), 0};
    for (auto at = first; at <= last; ++at) name.number = name.number * 10 + static_cast<std::uint64_t>(path[at] - '0');
    return name;
}

/// The pictures of one series, by number.
Result<std::vector<PackedSource>> frames_of(sys::Store& store, const MovieArguments& options) {
    FB_TRY_ASSIGN(sources, packed_sources(store, options.request));
    std::map<std::string, std::map<std::uint64_t, PackedSource>> series;
    for (auto& source : sources) {
        if (!source.file.path.ends_with(".png")) continue;
        const auto name = frame_name(source.file.path);
        series[name.series].insert_or_assign(name.number, std::move(source));
    }
    const auto& place = options.request.place;
    if (series.empty())
        return Error{ErrorKind::missing, fmt::format("no picture of {} matches", place), "",
                     fmt::format("forebay extract {} --list", place)};
    if (series.size() > 1) {
        std::string names;
        for (const auto& [name, pictures] : series) names += fmt::format("{}'{}'", names.empty() ? "" : " or ", name);
        return Error{ErrorKind::refused, fmt::format("{} has {} series of pictures", place, series.size()), "",
                     fmt::format("choose one series: --only {}", names)};
    }
    std::vector<PackedSource> frames;
    for (auto& [number, source] : series.begin()->second) frames.push_back(std::move(source));
    return frames;
}

/// Reads and decodes frames one at a time, twice: facts about all frames are needed before the first is written.
class Frames {
public:
    Frames(sys::Store& store, std::vector<PackedSource> sources, bool quiet)
        : sources_(std::move(sources)), reader_(store), progress_("movie", quiet) {
        for (const auto& source : sources_) bytes_ += 2 * source.file.bytes;
    }

    Result<MovieReport> look() {
        MovieReport report{.frames = sources_.size()};
        std::vector<std::pair<std::uint32_t, std::uint32_t>> sizes;
        FB_TRY(each([&](const insitu::Photo& photo) -> Result<> {
            needs_.take(photo);
            sizes.emplace_back(photo.width, photo.height);
            return {};
        }));
        report.width = needs_.width();
        report.height = needs_.height();
        report.padded = static_cast<std::size_t>(std::ranges::count_if(
            sizes, [&](const auto& size) { return size != std::pair(report.width, report.height); }));
        report.first = sources_.front().file.path;
        report.last = sources_.back().file.path;
        return report;
    }
    const insitu::FrameNeeds& needs() const { return needs_; }

    template <class Use>
    Result<> each(Use&& use) {
        for (const auto& source : sources_) {
            std::vector<std::byte> png(source.file.bytes);
            FB_TRY(reader_.read(source, [&](std::uint64_t at, std::span<const std::byte> bytes) -> Result<> {
                std::ranges::copy(bytes, png.begin() + static_cast<std::ptrdiff_t>(at));
                return {};
            }));
            FB_TRY_ASSIGN(photo, insitu::decode_png(png, source.file.path));
            FB_TRY(use(photo));
            progress_.show(done_ += png.size(), bytes_);
        }
        return {};
    }

private:
    std::vector<PackedSource> sources_;
    PackedReader reader_;
    Progress progress_;
    insitu::FrameNeeds needs_;
    std::uint64_t bytes_ = 0, done_ = 0;
};

Result<> write_apng(sys::Store& store, Frames& frames, const MovieReport& report, double fps, const std::string& path) {
    const auto frame_ms = static_cast<std::uint16_t>(std::lround(1000 / fps));
    insitu::Animation animation(frames.needs(), static_cast<std::uint32_t>(report.frames), frame_ms);
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::create));
    std::uint64_t at = 0;
    FB_TRY(frames.each([&](const insitu::Photo& photo) -> Result<> {
        FB_TRY_ASSIGN(bytes, animation.add(photo));
        FB_TRY(file->write(at, bytes));
        at += bytes.size();
        return {};
    }));
    FB_TRY(file->sync());
    return file->close();
}

/// Uses ffmpeg on numbered pictures of equal size in a directory beside the file.
Result<> write_by_ffmpeg(sys::Store& store, Frames& frames, const MovieReport& report, double fps,
                         const std::string& path, const std::string& suffix) {
    const auto directory = path + ".frames";
    const auto write = [&]() -> Result<> {
        FB_TRY(store.make_directory(directory));
        std::size_t number = 0;
        FB_TRY(frames.each([&](const insitu::Photo& photo) -> Result<> {
            FB_TRY_ASSIGN(png, insitu::encode_png(insitu::padded(photo, report.width, report.height)));
            FB_TRY_ASSIGN(file, store.open(fmt::format("{}/{:06d}.png", directory, number++), sys::Access::create));
            FB_TRY(file->write(0, png));
            return file->close();
        }));
        std::vector<std::string> command{"ffmpeg",
                                         "-nostdin",
                                         "-y",
                                         "-loglevel",
                                         "error",
                                         "-framerate",
                                         fmt::to_string(fps),
                                         "-i",
                                         directory + "/%06d.png"};
        const auto give = [&](std::initializer_list<const char*> words) {
            command.insert(command.end(), words.begin(), words.end());
        };
        // Players only support H.264 and VP9 with halved colours, which needs even side lengths.
        constexpr const char* even_sides = "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white";
        if (suffix != ".gif") give({"-vf", even_sides, "-pix_fmt", "yuv420p", "-b:v", "0"});
        if (suffix == ".mp4") give({"-c:v", "libx264", "-crf", "18", "-f", "mp4", path.c_str()});
        if (suffix == ".webm") give({"-c:v", "libvpx-vp9", "-crf", "24", "-f", "webm", path.c_str()});
        // ffmpeg's default GIF palette of 216 colours would change colours. Pictures of at most 256 colours keep
        // theirs.
        constexpr const char* own_colours = "split[a][b];[a]palettegen=reserve_transparent=0[p];[b][p]paletteuse";
        if (suffix == ".gif") give({"-vf", own_colours, "-f", "gif", path.c_str()});
        const auto encoded =
            sys::output_of(command, encoding_max + encoding_max_a_frame * static_cast<int>(report.frames));
        if (!encoded && encoded.error().kind == ErrorKind::missing)
            return Error{ErrorKind::unsupported, fmt::format("ffmpeg, needed for {} files, is not in PATH", suffix), "",
                         "--to FILE.png makes an animated PNG without it"};
        FB_TRY(encoded);
        return {};
    };
    const auto written = write();
    const auto removed = store.remove_tree(directory);
    return written ? removed : written;
}

Result<Exit> movie_of(const MovieArguments& options) {
    if (!(options.fps >= fps_least && options.fps <= fps_most))
        return Error{ErrorKind::refused, fmt::format("--fps must be {} to {}", fps_least, fps_most)};
    const auto dot = options.to.rfind('.');
    const auto suffix = dot == std::string::npos ? std::string() : options.to.substr(dot);
    const bool is_apng = suffix == ".png" || suffix == ".apng";
    if (!is_apng && suffix != ".mp4" && suffix != ".webm" && suffix != ".gif")
        return Error{ErrorKind::refused,
                     fmt::format("{}: a movie is an animated PNG (.png, .apng), or with ffmpeg .mp4, .webm or .gif",
                                 options.to)};
    auto& store = sys::target_store();
    FB_TRY(check_own_output(store, options.to, options.replace, insitu::is_own_png, "animated PNG of forebay movie"));
    FB_TRY_ASSIGN(sources, frames_of(store, options));
    Frames frames(store, std::move(sources), options.json);
    FB_TRY_ASSIGN(report, frames.look());
    const auto unfinished = sys::temporary_beside(options.to);
    const auto write = [&]() -> Result<> {
        if (is_apng) FB_TRY(write_apng(store, frames, report, options.fps, unfinished));
        else FB_TRY(write_by_ffmpeg(store, frames, report, options.fps, unfinished, suffix));
        return store.rename(unfinished, options.to);
    };
    const auto written = write();
    if (!written) static_cast<void>(store.remove(unfinished));
    FB_TRY(written);
    if (options.json) {
        auto object = Json::object();
        object.set("file", options.to).set("frames", report.frames).set("width", report.width);
        object.set("height", report.height).set("padded", report.padded).set("first", report.first);
        object.set("last", report.last).print();
        return Exit::good;
    }
    say("{}  {} frames of {} x {}, from {} to {}\n", options.to, report.frames, report.width, report.height,
        report.first, report.last);
    if (report.padded > 0) say("{} of them are smaller, and lie on white paper of that size.\n", report.padded);
    return Exit::good;
}

}  // namespace

void add_movie(CommandLine& line) {
    const auto options = std::make_shared<MovieArguments>();
    auto verb = line.verb("movie", "Join the pictures of a run into a movie, in the order of their steps");
    verb.argument("RUN", options->request.place, "RUN for all its packed streams, or RUN/STREAM");
    verb.option("--only", options->request.patterns,
                "Take only pictures whose name matches, as in 'state.map.*'. Repeatable");
    verb.required("--to", options->to,
                  "Write FILE.png, an animated PNG. With ffmpeg also FILE.mp4, FILE.webm or FILE.gif");
    verb.flag("--replace", options->replace, "Replace the file, even if it is not an animated PNG by forebay movie");
    verb.option("--fps", options->fps, "Show so many pictures a second");
    verb.json(options->json, "  file, frames, width, height, padded (smaller pictures), first, last (their names).\n");
    verb.examples(
        "  forebay movie run7 --only 'state.map.*' --to map.png\n  forebay movie run7 --only 'state.map.*' --to "
        "map.mp4 --fps 25\nNames of the pictures of a series differ only in their last number, which orders them. "
        "Browsers play an\nanimated PNG. Other programs show its first picture.\n");
    verb.action([options] { return movie_of(*options); });
}

}  // namespace forebay::cli
