#include "tests/sim/extenders/test_server.h"

#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace schedsim::sim {
namespace {

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

X509* Parse(const std::string& pem) {
  BIO* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* const certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return certificate;
}

EVP_PKEY* ParseKey(const std::string& pem) {
  BIO* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return key;
}

}  // namespace

TestIdentity MakeIdentity() {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  // From 1970 to 2100: the test looks at no clock.
  ASN1_TIME_set_string(X509_getm_notBefore(certificate), "700101000000Z");
  ASN1_TIME_set_string(X509_getm_notAfter(certificate), "21000101000000Z");
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"),
                             -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_set_pubkey(certificate, key);
  X509_EXTENSION* const names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost");
  X509_add_ext(certificate, names, -1);
  X509_EXTENSION_free(names);
  CHECK(X509_sign(certificate, key, EVP_sha256()) > 0);
  BIO* const certificate_bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(certificate_bio, certificate);
  BIO* const key_bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return {.certificate = TextOf(certificate_bio), .key = TextOf(key_bio)};
}

struct TestServer::Parts {
  std::unique_ptr<httplib::Server> server;
  std::thread thread;
};

TestServer::TestServer(Handler handler, const TestIdentity* identity) : parts_(std::make_unique<Parts>()) {
  if (identity == nullptr) {
    parts_->server = std::make_unique<httplib::Server>();
  } else {
    X509* const certificate = Parse(identity->certificate);
    EVP_PKEY* const key = ParseKey(identity->key);
    parts_->server = std::make_unique<httplib::SSLServer>(certificate, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  parts_->server->Post(
      R"(/.*)", [handler = std::move(handler)](const httplib::Request& request, httplib::Response& response) {
        const TestAnswer answer = handler({.path = request.path,
                                           .content_type = request.get_header_value("Content-Type"),
                                           .body = request.body});
        response.status = answer.status;
        response.set_content(answer.body, "application/json");
      });
  const int port = parts_->server->bind_to_any_port("127.0.0.1");
  CHECK(port > 0);
  url_ = absl::StrCat(identity == nullptr ? "http" : "https", "://localhost:", port);
  parts_->thread = std::thread([server = parts_->server.get()] { server->listen_after_bind(); });
  // A server that does not run yet cannot be stopped.
  while (!parts_->server->is_running()) std::this_thread::yield();
}

TestServer::~TestServer() {
  parts_->server->stop();
  parts_->thread.join();
}

}  // namespace schedsim::sim
