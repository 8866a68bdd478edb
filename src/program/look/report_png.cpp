#include "program/look/report_png.hpp"

#include <fmt/format.h>

#include <chrono>

#include "core/base/try.hpp"
#include "core/move/export_place.hpp"
#include "core/sys/child.hpp"
#include "insight/report/assets.hpp"
#include "insight/report/html_data.hpp"
#include "insight/report/html_text.hpp"
#include "path/agent/hosts.hpp"

namespace forebay::cli {

namespace {

// matplotlib starts in a second. On a new machine it searches fonts for a minute.
constexpr std::chrono::minutes drawing_max{5};
constexpr std::uint64_t complaint_bytes_max = 64u << 10;
constexpr const char* how_to_install =
    "pip install matplotlib, or give the python3 of an environment with matplotlib: --python PATH";

// A temporary file. The destructor removes it.
class Passing {
public:
    Passing(sys::Store& store, std::string path) : store_(store), path_(std::move(path)) {}
    Passing(const Passing&) = delete;
    Passing& operator=(const Passing&) = delete;
    ~Passing() { static_cast<void>(store_.remove(path_)); }  // its name marks it as temporary
    const std::string& path() const { return path_; }

private:
    sys::Store& store_;
    std::string path_;
};

Result<> draw(sys::Store& store, const sys::Spawn& spawn) {
    FB_TRY_ASSIGN(child, sys::ChildProgram::start(spawn));
    const auto line = child.read_line(drawing_max);
    if (!line) {
        const auto complaints = sys::read_text(store, spawn.log_path, complaint_bytes_max);
        return Error{line.error().kind,
                     fmt::format("{}{}{}", line.error().what, complaints && !complaints->empty() ? "; it said " : "",
                                 complaints ? complaints->substr(0, complaints->find('\n')) : "")};
    }
    if (!*line)
        return Error{ErrorKind::retry,
                     fmt::format("{} did not finish the drawing in {} minutes", spawn.program, drawing_max.count())};
    if (**line == "drawn") return {};
    if (**line == "missing")
        return Error{ErrorKind::unsupported, fmt::format("{} has no matplotlib, which draws PNG", spawn.program), "",
                     how_to_install};
    return Error{ErrorKind::broken, fmt::format("the pictures cannot be drawn: {}", **line)};
}

}  // namespace

Result<> write_report_png(sys::Store& store, const report::HtmlRun& run, const std::string& path,
                          const std::string& python) {
    const auto place = agent::python_place(python);
    const Passing data(store, sys::temporary_beside(path)), picture(store, sys::temporary_beside(path)),
        complaints(store, sys::temporary_beside(path));
    FB_TRY(sys::write_text_durable(store, data.path(), report::html_data({&run, 1}, {})));
    FB_TRY(draw(store, {.program = place.program,
                        .arguments = {"-c", std::string(report::asset("report_png.py")), data.path(), picture.path(),
                                      report::name_in_page(run.summary.run, 100)},
                        .environment = place.environment,
                        .environment_removed = {"LD_PRELOAD"},
                        .log_path = complaints.path()}));
    FB_TRY_ASSIGN(file, store.open(picture.path(), sys::Access::update));
    FB_TRY(file->sync());
    FB_TRY(file->close());
    return move::put_in_place(store, picture.path(), path);
}

}  // namespace forebay::cli
