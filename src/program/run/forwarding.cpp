#include "program/run/forwarding.hpp"

#include "core/base/try.hpp"
#include "core/sys/private_file.hpp"

namespace forebay::cli {

Result<std::string> read_token(const std::string& path) {
    FB_TRY_ASSIGN(text, sys::read_private(path));
    return text.substr(0, text.find_last_not_of("\r\n") + 1);
}

Result<node::Forwarding> forwarding_of(const std::vector<std::string>& to, const std::string& token_file) {
    if (to.empty() && token_file.empty()) return node::Forwarding{};
    if (to.empty() || token_file.empty())
        return Error{
            ErrorKind::refused,
            "give --forward-to and --token-file together: the address of the forwarder, and the file that it made."};
    FB_TRY_ASSIGN(token, read_token(token_file));
    return node::Forwarding{.to = to, .token = token};
}

}  // namespace forebay::cli
