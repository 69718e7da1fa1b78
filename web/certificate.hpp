// How the outbound client judges the certificate of a server. Used by client.cpp.
#pragma once

#include <string>

namespace nightjar::web {

// For the next request of a libcurl handle. Believes the authorities of SSL_CERT_FILE and
// SSL_CERT_DIR where they are set, and the system's otherwise. If a certificate is refused,
// `refused` gets whose it is and until when it was valid, or who issued it. It must outlive the
// request.
void check_certificate(void* curl, std::string& refused);

}  // namespace nightjar::web
