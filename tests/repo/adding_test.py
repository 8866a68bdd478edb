"""Goal: options of a session and of its agents, counters and figures of a run are each declared once: an addition
touches 2 files, and a member without its line does not compile.

Method: the test adds a member and lines of the list in a scratch copy of headers and sources, and counts the files
that differ. A program of the scratch copy then uses the addition. An option is read from a configuration, compared
between ranks, listed for the guide, written to the session file and read again. A counter is counted on the control
page, found by its name, written to a status, read again, and printed with the metrics. A figure is in summary.json. The
program links to the library of this build, and calls no function of the library that takes a changed structure. The
test undoes each addition, and adds members without lines, which the compiler has to refuse.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import tree

OPTIONS = "include/forebay/options.hpp"
SESSION_LIST = "src/core/describe/session_list.hpp"
COUNTER_LIST = "src/core/describe/counter_list.hpp"
SUMMARY = "src/path/telemetry/summary.hpp"
BUILT = pathlib.Path(os.environ.get("FOREBAY_BINARY_DIR", tree.ROOT / "build"))

# For each file: a pattern, and the text to insert after its first match.
MEMBERS_OF_SESSION = {OPTIONS: [
    (r"    std::string forward_token_file = \{\};.*\n", "    std::string notes = {};\n"),
    (r"    bool log_to_stderr = false;.*\n", "    std::string session_notes = {};\n")]}
LINES_OF_SESSION = {SESSION_LIST: [
    (r"forward_to,\s+forward_token_file", ", notes"),
    (r"    visit\(O\{\{\"mode\"[^;]*;\n",
     '    visit(O{{"notes", "of the user"}, alike, later, "none"}, AnyText{"a text"}, notes);\n'),
    (r"run_in_file,\s+log_to_stderr", ", session_notes"),
    (r"    visit\(O\{\{\"run\"[^;]*;\n",
     '    visit(O{{"session_notes", "of the user"}}, AnyText{"a text"}, session_notes);\n')]}
MEMBER_OF_COUNTERS = {OPTIONS: [
    (r"    std::uint64_t drain_rate_bytes_per_second = 0;.*\n", "    std::uint64_t notes = 0;\n")]}
LINES_OF_COUNTER = {COUNTER_LIST: [
    (r"    visit\(\"steps_counted\"[^;]*;\n", '    visit("notes", &C::notes, "of the agent");\n'),
    (r"limits_overruled\{0\}, drain_rate_bytes_per_second\{0\}", ", notes{0}"),
    (r"return all\.drain_rate_bytes_per_second; \}\);\n",
     '    visit(Count{"notes", InStatus::later, {10, true, "node_notes", "Notes of the agent."}}, &C::notes,\n'
     "          [](auto& all) -> auto& { return all.notes; });\n")]}
FIGURE = {SUMMARY: [
    (r"    std::uint64_t retries = 0, dropped = 0;\n", "    std::uint64_t notes = 0;\n"),
    (r"    visit\(\"dropped\", summary.dropped\);\n", '    visit("notes", summary.notes);\n')]}

SESSION_PROGRAM = """
#include "core/describe/session_list.cpp"
#include "bindings/api/option_reader.cpp"
#include "bindings/api/config.cpp"
#include "path/node/session_file.cpp"
#include <cstdio>
using namespace forebay;
static int failures = 0;
static void expect(bool good, const char* what) {
    if (!good) ++failures, std::printf("not so: %s\\n", what);
}
int main() {
    Options options;
    expect(bool(read_over("session_notes = \\"a\\"\\n[agent]\\nnotes = \\"b\\"\\n", "scratch", options)), "it is read");
    expect(options.session_notes == "a" && options.agent.notes == "b", "the members are set");
    expect(!read_over("[agent]\\nnotes = 3\\n", "scratch", options), "another kind of value is refused");
    const auto has = [](const auto& list, const describe::Setting& setting) {
        return std::ranges::find(list, setting) != list.end();
    };
    const auto settings = describe::settings_of(options);
    expect(has(settings, {"session_notes", "a"}) && has(settings, {"agent.notes", "b"}), "ranks compare it");
    int lines = 0;
    for (const auto& line : describe::session_option_lines())
        lines += line.key == "session_notes" || line.key == "agent.notes" ? 1 : 0;
    expect(lines == 2, "the guide is to have it");
    node::SessionFile session{.run = "/scratch/run7", .host = "nid1", .agent = options.agent};
    const auto text = node::encode_session(session).value();
    expect(node::decode_session(text, "session.json").value().agent.notes == "b", "the agent reads it");
    auto older = text;
    older.replace(older.find("\\"notes\\""), 7, "\\"other\\"");
    expect(node::decode_session(older, "session.json").value().agent.notes.empty(), "an older session lacks it");
    session.agent.notes = std::string("\\0", 1);
    expect(!node::encode_session(session), "what the session file cannot hold is refused");
    return failures;
}
"""

COUNTER_PROGRAM = """
#include "core/describe/counter_list.cpp"
#include "core/format/status_line.cpp"
#include "path/telemetry/metrics.cpp"
#include "path/telemetry/summary_json.cpp"
#include "path/node/control.hpp"
#include <cstdio>
#include <memory>
using namespace forebay;
static int failures = 0;
static void expect(bool good, const char* what) {
    if (!good) ++failures, std::printf("not so: %s\\n", what);
}
int main() {
    const auto page = std::make_unique<node::Control>();
    ++page->counts.notes;
    page->counts.notes += 6;
    Counters counters;
    describe::put_counters(page->counts, counters);
    expect(counters.notes == 7, "the application's counter has it");
    expect(describe::counter_named(counters, "notes").value() == 7, "C and Fortran find it by its name");
    expect(describe::counters_text(counters).find("notes 7\\n") != std::string::npos, "the text of all has it");
    format::StatusLine line{.host = "nid1", .virtual_node = "0", .counts = describe::plain(page->counts)};
    const auto text = format::encode(line);
    expect(text.find("\\"notes\\":7") != std::string::npos, "the status has it");
    expect(format::decode_status(text, "status").value().counts.notes == 7, "the status is read");
    telemetry::Summary summary;
    expect(telemetry::metrics_text(summary, {line}).find("forebay_node_notes_total{run=\\"\\",node=\\"nid1\\"} 7\\n") !=
               std::string::npos, "the metrics have it");
    summary.notes = 5;
    expect(telemetry::summary_json(summary).find("\\"notes\\": 5,") != std::string::npos, "summary.json has it");
    return failures;
}
"""


def changed(text, edits):
    for pattern, addition in edits:
        text, count = re.subn(pattern, lambda match, addition=addition: match[0] + addition, text, count=1)
        assert count == 1, f"the test looks for {pattern}, which is not there"
    return text


class Scratch:
    """A copy of the sources with changed files."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ("include", "src"):
            shutil.copytree(tree.ROOT / name, self.folder / name)

    def apply(self, *additions):
        for addition in additions:
            for name, edits in addition.items():
                file = self.folder / name
                file.write_text(changed(file.read_text(), edits))

    def restore(self):
        for name in (OPTIONS, SESSION_LIST, COUNTER_LIST, SUMMARY):
            shutil.copyfile(tree.ROOT / name, self.folder / name)

    def touched(self):
        """The files that differ from the tree."""
        files = [path for name in ("include", "src") for path in (self.folder / name).rglob("*") if path.is_file()]
        return sorted(str(path.relative_to(self.folder)) for path in files
                      if path.read_bytes() != (tree.ROOT / path.relative_to(self.folder)).read_bytes())

    def compile(self, program, *more):
        source = self.folder / "program.cpp"
        source.write_text(program)
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O0", "-w", '-DFOREBAY_VERSION="0"',
                   f"-I{self.folder / 'include'}", f"-I{self.folder / 'src'}", source, *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def run(self, program):
        """The output of a program over the scratch copy. The program must succeed."""
        flags = shlex.split(os.environ.get("FOREBAY_LINK_FLAGS", ""))
        library = BUILT / "lib"
        compiled = self.compile(program, *flags, f"-L{library}", "-lforebay", "-lfmt", "-pthread",
                                f"-Wl,-rpath,{library}", "-o", self.folder / "program")
        if compiled.returncode != 0:
            return compiled.stderr
        done = subprocess.run([self.folder / "program"], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr + (f"ended with {done.returncode}\n" if done.returncode != 0 else "")


def check(scratch, what, additions, program, problems):
    """Adds a member, counts the files, uses the addition, and removes it."""
    scratch.apply(*additions)
    files = scratch.touched()
    if len(files) > 2:
        problems.append(f"{what} touches {len(files)} files: {', '.join(files)}")
    print(f"{what}: {', '.join(files)}")
    if program:
        output = scratch.run(program)
        if output:
            problems.append(f"{what}: {output}")
    scratch.restore()
    if scratch.touched():
        problems.append(f"{what} is not undone: {scratch.touched()}")


def check_refused(scratch, what, additions, header, problems):
    """The compiler must refuse a member without its line."""
    scratch.apply(*additions)
    if scratch.compile(f'#include "{header}"\n', "-fsyntax-only").returncode == 0:
        problems.append(f"{what}: it compiles")
    scratch.restore()


def main():
    if not (BUILT / "lib" / "libforebay.so").exists():
        tree.skip("there is no library to link to")
    problems = []
    with tempfile.TemporaryDirectory(prefix="forebay-adding-") as folder:
        scratch = Scratch(folder)
        check(scratch, "an option of a session and one of its agents", (MEMBERS_OF_SESSION, LINES_OF_SESSION),
              SESSION_PROGRAM, problems)
        check(scratch, "a counter", (MEMBER_OF_COUNTERS, LINES_OF_COUNTER), None, problems)
        check(scratch, "a figure of a run", (FIGURE,), None, problems)
        scratch.apply(MEMBER_OF_COUNTERS, LINES_OF_COUNTER, FIGURE)
        output = scratch.run(COUNTER_PROGRAM)
        if output:
            problems.append(f"a counter and a figure: {output}")
        scratch.restore()
        check_refused(scratch, "an option without a line", (MEMBERS_OF_SESSION,), "describe/session_list.cpp", problems)
        check_refused(scratch, "a counter without a line", (MEMBER_OF_COUNTERS,), "describe/counter_list.cpp", problems)
    tree.finish("adding", 5, problems)


main()
