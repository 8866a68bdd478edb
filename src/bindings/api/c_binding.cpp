// include/forebay/forebay.h: each call converts, calls C++, and converts back.

#include "bindings/api/c_binding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "bindings/api/state.hpp"
#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/counter_list.hpp"

static_assert(static_cast<int>(forebay::ErrorKind::broken) == FB_BROKEN);

namespace forebay::c_binding {

fb_status tell(const Error& why, fb_error* error) {
    if (error != nullptr) {
        const auto text = why.text();
        auto bytes = std::min(text.size(), sizeof error->text - 1);
        // Never cut within a UTF-8 character.
        while (bytes < text.size() && bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
        std::memcpy(error->text, text.data(), bytes);
        error->text[bytes] = '\0';
    }
    return static_cast<fb_status>(why.kind);
}

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

namespace {

// A wait that no clock can count stays out of range: the call that gets it refuses it.
std::chrono::milliseconds milliseconds(double seconds) {
    constexpr double longest = 1e12;
    return std::chrono::milliseconds(
        static_cast<std::int64_t>((std::isnan(seconds) ? -1 : std::clamp(seconds, -1.0, longest)) * 1000));
}

fb_saved saved_for_c(const Saved& saved) {
    return {saved.step,         saved.kept ? 1 : 0, saved.replaced,    saved.bytes, saved.blocked_seconds,
            saved.wait_seconds, saved.plan_seconds, saved.copy_seconds};
}

Result<> give_options(Result<Options> result, fb_options** options) {
    if (!result) return result.error();
    *options = new fb_options{std::move(*result)};
    return {};
}

bool has_options(const fb_options* options) { return options != nullptr && options->value; }

Result<> give_restart(Result<std::optional<Restart>> result, fb_restart** restart) {
    if (!result) return result.error();
    *restart = *result ? new fb_restart{std::move(**result)} : nullptr;
    return {};
}

}  // namespace

}  // namespace forebay::c_binding

using namespace forebay;
using namespace forebay::c_binding;

const char* fb_status_name(fb_status status) {
    return status == FB_OK ? "ok" : name_of(static_cast<ErrorKind>(status));
}

const char* fb_version(void) { return FOREBAY_VERSION; }

fb_status fb_options_load(const char* path, fb_options** options, fb_error* error) {
    return guarded(error, [&] { return give_options(load_options(text_or_empty(path)), options); });
}

fb_status fb_options_parse(const char* toml, fb_options** options, fb_error* error) {
    return guarded(
        error, [&] { return give_options(decode_options(text_or_empty(toml), "the text of the options"), options); });
}

fb_options* fb_options_file(const char* path) {
    fb_options* options = nullptr;
    static_cast<void>(guarded(nullptr, [&]() -> Result<> {
        options = new fb_options{load_options(text_or_empty(path))};
        return {};
    }));
    return options;
}

void fb_options_set_run(fb_options* options, const char* directory) {
    if (has_options(options)) options->value->run = text_or_empty(directory);
}
void fb_options_set_staging(fb_options* options, const char* directory) {
    if (has_options(options)) options->value->staging = text_or_empty(directory);
}
void fb_options_set_log(fb_options* options, void (*log)(const char* line, void* context), void* context) {
    if (!has_options(options)) return;
    if (log == nullptr) options->value->log = {};
    else options->value->log = [log, context](const std::string& line) { log(line.c_str(), context); };
}
void fb_options_set_log_to_stderr(fb_options* options, int yes) {
    if (has_options(options)) options->value->log_to_stderr = yes != 0;
}
void fb_options_free(fb_options* options) { delete options; }

fb_status fb_open(const fb_options* options, fb_session** session, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(options, "fb_options"));
        FB_TRY_ASSIGN(opened, Session::open(options->value));
        *session = new fb_session{std::move(opened)};
        return {};
    });
}

fb_status fb_close(fb_session* session, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(session, "fb_session"));
        return session->value.close();
    });
}

void fb_session_free(fb_session* session) { delete session; }
int fb_draining(const fb_session* session) { return session != nullptr && session->value.draining() ? 1 : 0; }

const char* fb_spool(fb_session* session) {
    if (session == nullptr) return "";
    session->spool = session->value.spool();
    return session->spool.c_str();
}

fb_status fb_check_job(fb_session* session, int stop_wanted, fb_job* job, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(session, "fb_session"));
        FB_TRY_ASSIGN(agreed, session->value.job(stop_wanted != 0));
        // The texts begin as zeros, so they end with NUL after the copies below.
        *job = {agreed.save ? 1 : 0, agreed.stop ? 1 : 0,  agreed.seconds_left, {}, {},
                agreed.value,        agreed.condition_step};
        agreed.reason.copy(job->reason, sizeof job->reason - 1);
        agreed.condition.copy(job->condition, sizeof job->condition - 1);
        return {};
    });
}

fb_status fb_stream_open(fb_session* session, const char* name, const char* options, fb_stream** stream,
                         fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(session, "fb_session"));
        const auto stream_name = text_or_empty(name);
        auto opened = options == nullptr ? session->value.stream(stream_name)
                                         : session->value.stream(stream_name, parse_stream_options(options));
        if (!opened) return opened.error();
        *stream = new fb_stream{std::move(*opened)};
        return {};
    });
}

void fb_stream_free(fb_stream* stream) { delete stream; }

void fb_particles_free(fb_particles* particles) { delete particles; }

fb_status fb_prepare(fb_stream* stream, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        return stream->value.prepare();
    });
}

fb_status fb_save(fb_stream* stream, int64_t step, double time, fb_saved* saved, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        FB_TRY_ASSIGN(done, stream->value.save(step, time));
        if (saved != nullptr) *saved = saved_for_c(done);
        return {};
    });
}

fb_status fb_wait_committed(fb_stream* stream, double seconds_max, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        return stream->value.wait_committed(milliseconds(seconds_max));
    });
}

fb_status fb_begin(fb_stream* stream, int64_t step, double time, fb_direct** direct, fb_saved* saved, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        FB_TRY_ASSIGN(begun, stream->value.begin(step, time));
        if (saved != nullptr) {
            *saved = {};
            saved->step = step;
            saved->kept = begun.kept() ? 1 : 0;
            saved->replaced = -1;
        }
        *direct = new fb_direct{std::move(begun)};
        return {};
    });
}

fb_status fb_direct_block(fb_direct* direct, const char* variable, size_t piece, void** address, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(direct, "fb_direct"));
        FB_TRY_ASSIGN(at, direct->value.block(text_or_empty(variable), piece));
        *address = at;
        return {};
    });
}

fb_status fb_direct_column(fb_direct* direct, const fb_particles* particles, size_t column, void** address,
                           fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(direct, "fb_direct"));
        FB_TRY(given(particles, "fb_particles"));
        FB_TRY_ASSIGN(at, direct->value.column(particles->value, column));
        *address = at;
        return {};
    });
}

fb_status fb_direct_seal(fb_direct* direct, fb_saved* saved, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(direct, "fb_direct"));
        FB_TRY_ASSIGN(done, direct->value.seal());
        if (saved != nullptr) *saved = saved_for_c(done);
        return {};
    });
}

void fb_direct_free(fb_direct* direct) { delete direct; }

fb_status fb_counter(const fb_stream* stream, const char* name, double* value, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        FB_TRY_ASSIGN(counter, describe::counter_named(stream->value.counters(), text_or_empty(name)));
        *value = counter;
        return {};
    });
}

const char* fb_counters_text(fb_stream* stream) {
    if (stream == nullptr) return "";
    static_cast<void>(guarded(nullptr, [&]() -> Result<> {
        stream->counters = describe::counters_text(stream->value.counters());
        return {};
    }));
    return stream->counters.c_str();
}

fb_status fb_restore(fb_stream* stream, fb_bind_rows bind, void* context, fb_restart** restart, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        const auto bind_rows = [&](Restart& chosen) -> Result<> {
            if (bind == nullptr) return {};
            // The caller gets a copy that lives only during the call: it need not free it.
            fb_restart lent{chosen};
            fb_error why{};
            const auto status = bind(&lent, context, &why);
            if (status == FB_OK) return {};
            return error_of_text(static_cast<ErrorKind>(status), why.text);
        };
        auto restored = stream->value.restore(bind_rows);
        if (!restored) return restored.error();
        return restart == nullptr ? Result<>() : give_restart(std::move(restored), restart);
    });
}

fb_status fb_newest(fb_stream* stream, fb_restart** restart, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        return give_restart(stream->value.newest(), restart);
    });
}

fb_status fb_newest_below(fb_stream* stream, int64_t below, fb_restart** restart, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        return give_restart(stream->value.newest(below), restart);
    });
}

fb_status fb_older(fb_stream* stream, fb_restart** restart, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(stream, "fb_stream"));
        return give_restart(stream->value.older(), restart);
    });
}

const char* fb_note(const fb_stream* stream, size_t number) {
    if (stream == nullptr || number >= stream->value.notes().size()) return nullptr;
    return stream->value.notes()[number].c_str();
}

int64_t fb_restart_step(const fb_restart* restart) { return restart->value.step(); }
double fb_restart_time(const fb_restart* restart) { return restart->value.time(); }
const char* fb_restart_source(const fb_restart* restart) { return restart->value.source().c_str(); }
int fb_restart_same_ranks(const fb_restart* restart) { return restart->value.same_ranks() ? 1 : 0; }
uint64_t fb_restart_rows(const fb_restart* restart, const fb_particles* particles) {
    return restart->value.rows(particles->value);
}

fb_status fb_read(fb_restart* restart, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(restart, "fb_restart"));
        return restart->value.read();
    });
}

fb_status fb_read_variables(fb_restart* restart, size_t count, const char* const* names, fb_error* error) {
    return guarded(error, [&]() -> Result<> {
        FB_TRY(given(restart, "fb_restart"));
        return restart->value.read(std::vector<std::string>(names, names + count));
    });
}

void fb_restart_free(fb_restart* restart) { delete restart; }
