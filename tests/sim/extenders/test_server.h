// A real HTTP server within the process of a test.
#ifndef SCHEDSIM_TESTS_SIM_EXTENDERS_TEST_SERVER_H_
#define SCHEDSIM_TESTS_SIM_EXTENDERS_TEST_SERVER_H_

#include <functional>
#include <memory>
#include <string>

namespace schedsim::sim {

// Certificate and key in PEM, of `localhost` and by itself.
struct TestIdentity {
  std::string certificate;
  std::string key;
};
TestIdentity MakeIdentity();

struct TestRequest {
  std::string path;
  std::string content_type;
  std::string body;
};

struct TestAnswer {
  int status = 200;
  std::string body;
};

class TestServer {
 public:
  using Handler = std::function<TestAnswer(const TestRequest& request)>;

  // Answers POST to any path, in threads of its own. With an identity, by TLS.
  explicit TestServer(Handler handler, const TestIdentity* identity = nullptr);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  struct Parts;

  std::unique_ptr<Parts> parts_;
  std::string url_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_TESTS_SIM_EXTENDERS_TEST_SERVER_H_
