#include "core/forward/stranger.hpp"

#include "core/base/try.hpp"
#include "core/sys/machine.hpp"

namespace forebay::forward {

namespace {

// Answers need no wait: they fit into the send buffer of a connection that has carried nothing else.
constexpr sys::Timeout at_once{0};

}  // namespace

Result<bool> Stranger::hear(const SipKey& key) {
    while (true) {
        FB_TRY_ASSIGN(bytes, connection_.receive_some(incoming_.wanted()));
        if (bytes == 0) return false;
        FB_TRY(incoming_.got(bytes));
        if (!incoming_.wanted().empty()) continue;
        FB_TRY_ASSIGN(is_client, answer(key, incoming_.take()));
        if (is_client) return true;
        incoming_ = Incoming(limits::greeting_bytes_max);
    }
}

Guest Stranger::guest() {
    return {.connection = std::move(connection_), .client = greeting_.client, .run = greeting_.run, .name = name_};
}

Error Stranger::refuse(Error why) {
    // The stranger may be gone already.
    static_cast<void>(send(connection_, FrameKind::answer, encode(refusal(why)), at_once));
    return why;
}

Result<bool> Stranger::answer(const SipKey& key, const Frame& message) {
    if (message.kind != (known_ ? FrameKind::proof : FrameKind::hello))
        return Error{ErrorKind::refused, "its first message is not a greeting"};
    FB_TRY_ASSIGN(request, decode_request(message.body));
    if (!known_) {
        FB_TRY(answer_hello(key, request));
        return false;
    }
    if (request.number != word_of_client(key, greeting_))
        return refuse({ErrorKind::refused, "it does not have the token of this forwarder"});
    name_ = request.path;
    return true;
}

Result<> Stranger::answer_hello(const SipKey& key, const Request& hello) {
    greeting_ = {
        .client_nonce = hello.offset, .forwarder_nonce = sys::random_u64(), .client = hello.file, .run = hello.path};
    if (hello.number != word_of_hello(key, greeting_))
        return refuse({ErrorKind::refused,
                       "it cannot prove that it has the token of this forwarder, or has another version of forebay"});
    // From now on this connection does not go when strangers come.
    known_ = true;
    return send(connection_, FrameKind::go,
                encode(Answer{.number = greeting_.forwarder_nonce, .word = word_of_forwarder(key, greeting_)}),
                at_once);
}

}  // namespace forebay::forward
