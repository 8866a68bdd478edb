#include "insight/report/page_answer.hpp"

#include <nlohmann/json.hpp>

namespace forebay::report {

namespace {

int status_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::refused: return 400;
        case ErrorKind::missing: return 404;
        case ErrorKind::unsupported: return 501;
        case ErrorKind::retry:
        case ErrorKind::full: return 503;
        case ErrorKind::corrupt: return 422;
        case ErrorKind::broken: return 500;
    }
    return 500;
}

}  // namespace

PageAnswer answer_of(const Error& error) {
    const nlohmann::ordered_json parts{
        {"kind", forebay::name_of(error.kind)}, {"what", error.what}, {"safe", error.safe}, {"next", error.next}};
    return {status_of(error.kind), "application/json",
            nlohmann::ordered_json{{"error", parts}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

}  // namespace forebay::report
