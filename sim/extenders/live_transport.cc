#include "sim/extenders/live_transport.h"

#include <httplib.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"

namespace schedsim::sim {
namespace {

template <typename T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* object) const { kFree(object); }
};
using Certificate = std::unique_ptr<X509, Freer<X509, X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY, EVP_PKEY_free>>;

struct Bio {
  explicit Bio(const std::string& text) : bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))) {}
  ~Bio() { BIO_free(bio); }
  Bio(const Bio&) = delete;
  Bio& operator=(const Bio&) = delete;
  BIO* bio;
};

// The parts of a URL.
struct Address {
  std::string scheme;
  std::string host;
  int port = 0;
  std::string path;  // With the slash in front.

  std::string HostAndPort() const { return absl::StrCat(host, ":", port); }
};

std::optional<Address> ParseUrl(absl::string_view url) {
  Address address;
  const size_t scheme_end = url.find("://");
  if (scheme_end == absl::string_view::npos) return std::nullopt;
  address.scheme = std::string(url.substr(0, scheme_end));
  if (address.scheme != "http" && address.scheme != "https") return std::nullopt;
  absl::string_view rest = url.substr(scheme_end + 3);
  const size_t host_end = rest.find('/');
  address.path = host_end == absl::string_view::npos ? "/" : std::string(rest.substr(host_end));
  absl::string_view authority = rest.substr(0, host_end);
  const size_t colon = authority.rfind(':');
  const bool has_port =
      colon != absl::string_view::npos && authority.find(']', colon) == absl::string_view::npos;
  address.port = address.scheme == "https" ? 443 : 80;
  if (has_port && !absl::SimpleAtoi(authority.substr(colon + 1), &address.port)) return std::nullopt;
  absl::string_view host = has_port ? authority.substr(0, colon) : authority;
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  address.host = std::string(host);
  return address;
}

// A file's contents where there are no data.
absl::StatusOr<std::string> DataOf(const std::string& data, const std::string& file) {
  if (!data.empty() || file.empty()) return data;
  return codec::ReadFile(file);
}

class HttpServers : public ExtenderServers {
 public:
  // What one server is called with.
  struct Server {
    std::unique_ptr<httplib::ClientImpl> impl;
    // By which a server with another certificate than its address is known; "": none.
    std::string server_name;
    bool is_insecure = false;
    std::string ca_data;
    std::string cert_data;
    std::string key_data;
    Certificate certificate;
    PrivateKey key;
  };

  static absl::StatusOr<std::unique_ptr<ExtenderServers>> Make(
      const api::KubeSchedulerConfiguration& config) {
    auto servers = std::make_unique<HttpServers>();
    for (size_t i = 0; i < config.extenders.size(); ++i) {
      const absl::Status read = ReadTls(config.extenders[i], servers->servers_.emplace_back());
      if (!read.ok()) {
        return absl::InvalidArgumentError(absl::StrCat("extenders[", i, "].tlsConfig: ", read.message()));
      }
    }
    return servers;
  }

  absl::StatusOr<ExtenderAnswer> Call(const ExtenderCall& call) override {
    Server& server = servers_[call.extender];
    const std::optional<Address> address = ParseUrl(call.url);
    const std::string prefix = absl::StrCat("Post ", api::GoQuote(call.url), ": ");
    if (!address.has_value()) {
      const absl::string_view scheme = absl::string_view(call.url).substr(0, call.url.find("://"));
      return ExtenderAnswer{.error = absl::StrCat(prefix, "unsupported protocol scheme ",
                                                  api::GoQuote(scheme == call.url ? "" : scheme))};
    }
    if (server.impl == nullptr) RETURN_IF_ERROR(Connect(*address, server));
    const absl::Duration timeout = call.timeout;
    const auto timeout_std = absl::ToChronoMicroseconds(timeout);
    server.impl->set_connection_timeout(timeout_std);
    server.impl->set_read_timeout(timeout_std);
    server.impl->set_write_timeout(timeout_std);
    httplib::Request request;
    request.method = "POST";
    request.path = address->path;
    request.headers = {{"Content-Type", "application/json"}, {"Host", address->HostAndPort()}};
    request.body = call.body;
    const auto begin = std::chrono::steady_clock::now();
    const auto is_late = [begin, timeout_std] {
      return std::chrono::steady_clock::now() - begin >= timeout_std;
    };
    request.progress = [&is_late](uint64_t, uint64_t) { return !is_late(); };
    const httplib::Result result = server.impl->send(request);
    if (result) return ExtenderAnswer{.error = "", .status = result->status, .body = result->body};
    if (is_late()) {
      return absl::AbortedError(absl::StrCat("extender ", call.url, ": no answer within ",
                                             api::FormatGoDuration(timeout),
                                             ": the run ends here, since no real clock may reach a result"));
    }
    return ExtenderAnswer{.error = absl::StrCat(prefix, ErrorText(result.error(), *address))};
  }

 private:
  static absl::Status ReadTls(const api::Extender& extender, Server& server) {
    const api::ExtenderTlsConfig tls = extender.tls_config.value_or(api::ExtenderTlsConfig());
    server.server_name = tls.server_name;
    ASSIGN_OR_RETURN(server.ca_data, DataOf(tls.ca_data, tls.ca_file));
    ASSIGN_OR_RETURN(server.cert_data, DataOf(tls.cert_data, tls.cert_file));
    ASSIGN_OR_RETURN(server.key_data, DataOf(tls.key_data, tls.key_file));
    // As the real one: without an authority nothing is verified.
    server.is_insecure = tls.insecure || (extender.enable_https && server.ca_data.empty());
    if (tls.insecure && !server.ca_data.empty()) {
      return absl::InvalidArgumentError(
          "specifying a root certificates file with the insecure flag is not allowed");
    }
    if (server.cert_data.empty() != server.key_data.empty()) {
      return absl::InvalidArgumentError("expected a certificate and its key, or neither");
    }
    if (server.cert_data.empty()) return absl::OkStatus();
    server.certificate.reset(PEM_read_bio_X509(Bio(server.cert_data).bio, nullptr, nullptr, nullptr));
    server.key.reset(PEM_read_bio_PrivateKey(Bio(server.key_data).bio, nullptr, nullptr, nullptr));
    if (server.certificate == nullptr) return absl::InvalidArgumentError("expected a certificate in PEM");
    if (server.key == nullptr) return absl::InvalidArgumentError("expected a private key in PEM");
    return absl::OkStatus();
  }

  static absl::Status Connect(const Address& address, Server& server) {
    if (address.scheme == "http") {
      server.impl = std::make_unique<httplib::ClientImpl>(address.host, address.port);
    } else {
      const std::string& name = server.server_name.empty() ? address.host : server.server_name;
      auto client = std::make_unique<httplib::SSLClient>(name, address.port, server.certificate.get(),
                                                         server.key.get());
      if (!client->is_valid())
        return absl::InvalidArgumentError("TLS: the certificate and its key do not match");
      client->enable_server_certificate_verification(!server.is_insecure);
      if (name != address.host) client->set_hostname_addr_map({{name, address.host}});
      if (!server.ca_data.empty()) RETURN_IF_ERROR(TrustOnly(server.ca_data, *client));
      server.impl = std::move(client);
    }
    server.impl->set_keep_alive(true);
    server.impl->set_tcp_nodelay(true);
    return absl::OkStatus();
  }

  // Makes the client take certificates of these authorities alone.
  static absl::Status TrustOnly(const std::string& ca_data, httplib::SSLClient& client) {
    X509_STORE* const store = X509_STORE_new();
    const Bio bio(ca_data);
    int count = 0;
    while (X509* const certificate = PEM_read_bio_X509(bio.bio, nullptr, nullptr, nullptr)) {
      X509_STORE_add_cert(store, certificate);
      X509_free(certificate);
      ++count;
    }
    // The client owns it from here on.
    client.set_ca_cert_store(store);
    if (count == 0) return absl::InvalidArgumentError("TLS: expected authorities' certificates in PEM");
    return absl::OkStatus();
  }

  // As Go says it, as far as that can be told.
  static std::string ErrorText(httplib::Error error, const Address& address) {
    switch (error) {
      case httplib::Error::Connection:
      case httplib::Error::ConnectionTimeout:
      case httplib::Error::BindIPAddress:
        return absl::StrCat("dial tcp ", address.HostAndPort(), ": connect: connection refused");
      case httplib::Error::SSLServerVerification:
        return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
      case httplib::Error::SSLConnection:
      case httplib::Error::SSLLoadingCerts:
        return "remote error: tls: handshake failure";
      default:
        return "EOF";
    }
  }

  std::vector<Server> servers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ExtenderServers>> MakeExtenderServers(
    const api::KubeSchedulerConfiguration& config) {
  return HttpServers::Make(config);
}

}  // namespace schedsim::sim
