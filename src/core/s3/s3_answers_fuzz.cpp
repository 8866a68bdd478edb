// Feeds any bytes to the decoders of S3 answers, headers, keys, directory records and AWS files. Nothing may crash, and
// accepted input must come back the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/s3/answers.hpp"
#include "core/s3/directory_record.hpp"
#include "core/s3/key.hpp"
#include "core/s3/listed_names.hpp"
#include "core/s3/object.hpp"
#include "core/s3/settings.hpp"

using namespace forebay;
using namespace forebay::s3;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (const auto page = listing_from(text)) {
        ListedNames names;
        const auto refuse = [](const ListedNames::Refused& refused) { static_cast<void>(refused.why()); };
        for (const auto& entry : names.add(*page, "", refuse))
            if (name_of_key_part(key_part_of(entry.name)) != entry.name) std::abort();
    }
    static_cast<void>(server_error_from(text));
    static_cast<void>(upload_id_from(text));
    static_cast<void>(parts_from(text));
    static_cast<void>(uploads_from(text));
    static_cast<void>(completed_from(text));
    static_cast<void>(not_removed_from(text));
    static_cast<void>(credentials_from(text));
    static_cast<void>(sections_from(text));
    static_cast<void>(place_from(text));
    if (const auto record = directory_record_from(text))
        if (directory_record_from(encode(*record, size)).value() != *record) std::abort();
    if (const auto name = name_of_key_part(text))
        if (key_part_of(*name) != text) std::abort();

    HttpAnswer answer{.headers = {{"content-length", "100"}}, .body = {}};
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const auto colon = std::min(line.find(':'), line.size());
        answer.headers.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 1, line.size())));
    }
    const auto object = object_from("key", answer, {});
    answer.headers = object.state.headers();
    answer.headers.emplace_back("content-length", std::to_string(object.bytes));
    // Parts that do not fit are left out. The rest must be read as it was written.
    if (object.state.check_size() && !object.state.data && object_from("key", answer, {}).state != object.state)
        std::abort();
    return 0;
}
