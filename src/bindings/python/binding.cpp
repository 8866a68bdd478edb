// The extension module forebay._forebay: forebay.hpp for Python. Arrays come as addresses, shapes and strides;
// forebay/writing.py keeps their owners alive. Calls that can wait release the interpreter lock.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include "core/describe/counter_list.hpp"
#include "core/describe/option_list.hpp"
#include "core/sys/target_store.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/values.hpp"
#include "wished.hpp"

namespace nb = nanobind;
using namespace forebay;
using namespace nanobind::literals;

namespace {

using Numbers = std::vector<std::uint64_t>;
/// Position, size, address, strides in bytes, halo before and after.
using Box_ = std::tuple<Numbers, Numbers, std::uintptr_t, std::vector<std::int64_t>, Numbers, Numbers>;

Extents extents(const Numbers& numbers) {
    Extents result;
    for (const auto number : numbers) result.push_back(number);
    return result;
}

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

std::vector<Piece> pieces(const std::vector<Box_>& boxes) {
    std::vector<Piece> result;
    for (const auto& [lo, size, address, strides, halo_lo, halo_hi] : boxes) {
        Piece piece{.box = {extents(lo), extents(size)},
                    .data = at(address),
                    .halo_lo = extents(halo_lo),
                    .halo_hi = extents(halo_hi)};
        for (std::size_t dim = 0; dim < std::min(strides.size(), piece.stride_bytes.size()); ++dim)
            piece.stride_bytes[dim] = strides[dim];
        result.push_back(piece);
    }
    return result;
}

std::vector<ColumnData> columns(const std::vector<std::pair<std::uintptr_t, std::int64_t>>& given) {
    std::vector<ColumnData> result;
    for (const auto& [address, stride] : given) result.emplace_back(at(address), stride);
    return result;
}

// For Options::interrupted: if this is Python's main thread, runs the handlers of signals that have come. An exception
// of a handler stays with the thread until waiting() raises it.
bool python_interrupted() {
    const nb::gil_scoped_acquire acquired;
    return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
}

// `bind` is a function of the chosen Restart, or None. If it raises an exception, that rank raises it again after all
// ranks have agreed to end.
std::optional<Restart> restore(Stream& self, const nb::object& bind) {
    std::exception_ptr flagged;
    const auto call = [&](Restart& chosen) -> Result<> {
        const nb::gil_scoped_acquire acquired;
        const nb::error_scope kept;
        try {
            if (!bind.is_none()) bind(nb::cast(chosen));
            return {};
        } catch (const std::exception& thrown) {
            flagged = std::current_exception();
            return Error{ErrorKind::refused, std::string("the function for restore() failed: ") + thrown.what(),
                         "all snapshots"};
        }
    };
    auto restart = [&] {
        const nb::gil_scoped_release released;
        return self.restore(call);
    }();
    if (flagged) std::rethrow_exception(flagged);
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return restart.value();
}

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, 1e12) * 1000));
}

// One Python class for each kind of error.
void add_errors(nb::module_& module) {
    // The translator below is a plain function without state, so the classes are static.
    static nb::object base, kinds[8];
    base = nb::exception<Exception>(module, "Error", PyExc_RuntimeError);
    const std::pair<ErrorKind, const char*> named[] = {
        {ErrorKind::retry, "RetryError"},     {ErrorKind::full, "FullError"},
        {ErrorKind::missing, "MissingError"}, {ErrorKind::corrupt, "CorruptError"},
        {ErrorKind::refused, "RefusedError"}, {ErrorKind::unsupported, "UnsupportedError"},
        {ErrorKind::broken, "BrokenError"}};
    for (const auto& [kind, name] : named) {
        kinds[static_cast<int>(kind)] =
            nb::steal(PyErr_NewException((std::string("forebay.") + name).c_str(), base.ptr(), nullptr));
        module.attr(name) = kinds[static_cast<int>(kind)];
    }
    module.def(
        "error_text",
        [](std::string what, std::string safe, std::string next) {
            return Error{ErrorKind::refused, std::move(what), std::move(safe), std::move(next)}.text();
        },
        "what"_a, "safe"_a = "", "next"_a = "");
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Exception& error) {
            PyErr_SetString(kinds[static_cast<int>(error.kind())].ptr(), error.what());
        }
    });
}

void add_options(nb::module_& module) {
    nb::class_<WishedOptions>(module, "Options")
        .def_prop_rw(
            "run", [](const WishedOptions& self) { return self.options ? self.options->run : ""; },
            [](WishedOptions& self, const std::string& run) {
                if (self.options) self.options->run = run;
            })
        .def_prop_rw(
            "staging", [](const WishedOptions& self) { return self.options ? self.options->staging : ""; },
            [](WishedOptions& self, const std::string& staging) {
                if (self.options) self.options->staging = staging;
            })
        .def(
            "set_log",
            [](WishedOptions& self, nb::object log) {
                if (!self.options) return;
                if (log.is_none()) return void(self.options->log = {});
                // The last thread that holds the options frees the log, so take the lock of the interpreter.
                const auto held = std::shared_ptr<nb::object>(new nb::object(std::move(log)), [](nb::object* object) {
                    const nb::gil_scoped_acquire acquire;
                    delete object;
                });
                self.options->log = [held](const std::string& line) {
                    const nb::gil_scoped_acquire acquire;
                    const nb::error_scope
                        kept;  // an exception of a signal handler, kept aside: Python calls nothing while one is set
                    try {
                        (*held)(line);
                    } catch (const nb::python_error& flagged) {
                        if (!flagged.matches(PyExc_KeyboardInterrupt)) throw;
                        PyErr_SetInterrupt();  // callers of the log drop exceptions, so Ctrl-C is raised again
                    }
                };
            },
            "log"_a.none());
    module.def(
        "options",
        [](const std::optional<std::string>& config) {
            WishedOptions wished{config ? load_options(*config) : Result<Options>(Options())};
            if (wished.options) wished.options->interrupted = python_interrupted;
            return wished;
        },
        "config"_a.none());
}

void add_saving(nb::module_& module) {
    nb::class_<Saved>(module, "Saved")
        .def_ro("step", &Saved::step)
        .def_ro("kept", &Saved::kept)
        .def_ro("replaced", &Saved::replaced)
        .def_ro("bytes", &Saved::bytes)
        .def_ro("blocked_seconds", &Saved::blocked_seconds)
        .def_ro("wait_seconds", &Saved::wait_seconds)
        .def_ro("plan_seconds", &Saved::plan_seconds)
        .def_ro("copy_seconds", &Saved::copy_seconds)
        .def("__repr__", [](const Saved& saved) {
            return nb::cast<nb::str>(
                nb::str("<forebay.Saved: step {}{}, {} bytes, blocked for {:.3g} s, {:.3g} s of it waiting>")
                    .attr("format")(saved.step, saved.kept ? "" : ", not kept", saved.bytes, saved.blocked_seconds,
                                    saved.wait_seconds));
        });
    nb::class_<Job>(module, "Job")
        .def_ro("save", &Job::save)
        .def_ro("stop", &Job::stop)
        .def_ro("seconds_left", &Job::seconds_left)
        .def_ro("reason", &Job::reason)
        .def_ro("condition", &Job::condition)
        .def_ro("value", &Job::value)
        .def_ro("condition_step", &Job::condition_step)
        .def("__repr__", [](const Job& self) {
            const std::string decision = self.stop ? "save and stop" : self.save ? "save" : "go on";
            const auto left = std::isinf(self.seconds_left)
                                  ? "no limit known"
                                  : std::to_string(std::lround(self.seconds_left)) + " s left";
            return "<forebay.Job: " + decision + ", " + left + (self.reason.empty() ? "" : ": " + self.reason) + ">";
        });
    nb::class_<Counters> counters(module, "Counters");
    describe::each_counter(
        [&](const char* name, auto member, const char* meaning) { counters.def_ro(name, member, meaning); });
    counters.def("__repr__", [](const Counters& self) { return describe::counters_text(self); });
    nb::class_<Particles>(module, "Particles")
        .def(
            "bind",
            [](Particles& self, std::uint64_t rows, const std::vector<std::pair<std::uintptr_t, std::int64_t>>& data) {
                self.bind(rows, columns(data)).value();
            },
            "rows"_a, "columns"_a);
    nb::class_<Restart>(module, "Restart")
        .def_prop_ro("step", &Restart::step)
        .def_prop_ro("time", &Restart::time)
        .def_prop_ro("source", &Restart::source)
        .def_prop_ro("same_ranks", &Restart::same_ranks)
        .def("rows", &Restart::rows, "table"_a)
        .def("read", [](Restart& self) { waiting([&] { return self.read(); }); })
        .def(
            "read_variables",
            [](Restart& self, const std::vector<std::string>& names) { waiting([&] { return self.read(names); }); },
            "names"_a);
}

void add_stream(nb::module_& module) {
    nb::class_<Stream>(module, "Stream")
        .def(
            "replicated",
            [](Stream& self, const std::string& name, const std::string& type, const Numbers& shape,
               std::uintptr_t address, const std::string& unit, const std::string& description, bool first_rank) {
                self.replicated(name, type_named(type).value(), extents(shape), at(address),
                                {.unit = unit, .description = description},
                                first_rank ? Replicated::first_rank : Replicated::equal)
                    .value();
            },
            "name"_a, "type"_a, "shape"_a, "address"_a, "unit"_a, "description"_a, "first_rank"_a)
        .def(
            "array",
            [](Stream& self, const std::string& name, const std::string& type, const Numbers& shape,
               const std::vector<Box_>& boxes, const std::string& unit, const std::string& description,
               const std::vector<std::string>& dimensions, bool partial) {
                self.array(name, type_named(type).value(), extents(shape), pieces(boxes),
                           {.unit = unit, .description = description, .dimensions = dimensions},
                           partial ? Coverage::partial : Coverage::full)
                    .value();
            },
            "name"_a, "type"_a, "shape"_a, "boxes"_a, "unit"_a, "description"_a, "dimensions"_a, "partial"_a)
        .def(
            "rebind_value",
            [](Stream& self, const std::string& name, const std::string& type, const Numbers& shape,
               std::uintptr_t address) {
                self.rebind(name, at(address), {.type = type_named(type).value(), .shape = extents(shape)}).value();
            },
            "name"_a, "type"_a, "shape"_a, "address"_a)
        .def(
            "rebind_array",
            [](Stream& self, const std::string& name, const std::string& type, const std::vector<Box_>& boxes) {
                self.rebind(name, pieces(boxes), {.type = type_named(type).value()}).value();
            },
            "name"_a, "type"_a, "boxes"_a)
        .def(
            "forget", [](Stream& self, const std::string& name) { self.forget(name).value(); }, "name"_a)
        .def(
            "particles",
            [](Stream& self, const std::string& name,
               const std::vector<std::tuple<std::string, std::string, std::string>>& given) {
                std::vector<Column> described;
                for (const auto& [column, type, unit] : given)
                    described.push_back({column, type_named(type).value(), {.unit = unit}});
                return self.particles(name, described).value();
            },
            "name"_a, "columns"_a)
        .def("prepare", [](Stream& self) { waiting([&] { return self.prepare(); }); })
        .def(
            "save",
            [](Stream& self, std::int64_t step, double time) { return waiting([&] { return self.save(step, time); }); },
            "step"_a, "time"_a)
        .def("restore", &restore, "bind"_a.none())
        .def(
            "newest", [](Stream& self, std::int64_t below) { return waiting([&] { return self.newest(below); }); },
            "below"_a)
        .def("older", [](Stream& self) { return waiting([&] { return self.older(); }); })
        .def_prop_ro("notes", &Stream::notes)
        .def(
            "wait_committed",
            [](Stream& self, double seconds) { waiting([&] { return self.wait_committed(milliseconds(seconds)); }); },
            "seconds"_a)
        .def("counters", &Stream::counters);
}

void add_session(nb::module_& module) {
    nb::class_<Session>(module, "Session")
        .def(
            "stream", [](Session& self, const std::string& name) { return waiting([&] { return self.stream(name); }); },
            "name"_a)
        .def(
            "stream_with",
            [](Session& self, const std::string& name, const std::string& options) {
                return waiting([&] { return self.stream(name, parse_stream_options(options)); });
            },
            "name"_a, "options"_a)
        .def_prop_ro("draining", &Session::draining)
        .def_prop_ro("spool", &Session::spool)
        .def(
            "job", [](Session& self, bool stop_wanted) { return waiting([&] { return self.job(stop_wanted); }); },
            "stop_wanted"_a)
        .def("close", [](Session& self) { waiting([&] { return self.close(); }); });
    module.def(
        "read_values",
        [](const std::string& directory, const std::vector<std::size_t>& variables) {
            auto& store = sys::target_store();
            const auto manifest = catalog::load_manifest(store, directory).value();
            std::vector<nb::bytes> values;
            for (const auto& value : catalog::read_values(store, directory, manifest, variables).value())
                values.emplace_back(value.data(), value.size());
            return values;
        },
        "directory"_a, "variables"_a);
    module.def(
        "show_leaks", [](bool shown) { nb::set_leak_warnings(shown); }, "shown"_a);
    module.def("stream_options", [] {
        std::vector<std::tuple<std::string, std::string, std::string, std::string>> lines;
        for (const auto& [key, values, by_default, meaning] : describe::stream_option_lines())
            lines.emplace_back(key, values, by_default, meaning);
        return lines;
    });
    module.def(
        "open_alone",
        [](const WishedOptions& wished) { return waiting([&] { return Session::open(wished.options); }); },
        "options"_a);
}

}  // namespace

NB_MODULE(_forebay, module) {
    module.attr("__version__") = FOREBAY_VERSION;
    add_errors(module);
    add_options(module);
    add_saving(module);
    add_stream(module);
    add_session(module);
}
