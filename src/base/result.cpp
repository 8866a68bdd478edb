#include "forebay/result.hpp"

namespace forebay {

const char* name_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::retry: return "retry";
        case ErrorKind::full: return "full";
        case ErrorKind::missing: return "missing";
        case ErrorKind::corrupt: return "corrupt";
        case ErrorKind::refused: return "refused";
        case ErrorKind::unsupported: return "unsupported";
        case ErrorKind::broken: return "broken";
    }
    return "broken";
}

}  // namespace forebay
