// The side of the protocol on which plugins are: lines from the scheduler on standard input, and answers to
// it.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_REMOTE_LINE_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_REMOTE_LINE_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/value.h"

namespace schedsim::hosting {

// A connection to the scheduler that has started this process. Where that ends, or says what nobody expects,
// the process ends.
class RemoteLine {
 public:
  // Takes standard input and output for itself: what others print goes to standard error.
  RemoteLine();
  RemoteLine(const RemoteLine&) = delete;
  RemoteLine& operator=(const RemoteLine&) = delete;

  // Handles each line of the scheduler that is no reply.
  void set_handler(std::function<void(const codec::Value& line)> handler) { handler_ = std::move(handler); }

  // Handles lines until the scheduler ends the connection.
  void Run();
  // Sends a line.
  void Send(absl::string_view line);
  // Sends a request and hands the line with the reply to `take`; calls may come before it does.
  void Ask(absl::string_view line, absl::FunctionRef<void(const codec::Value& line)> take);

 private:
  // False: the connection has ended.
  bool Read(std::string& line);
  void Flush();

  int input_;
  int output_;
  std::string unread_;
  std::string unsent_;
  std::function<void(const codec::Value& line)> handler_;
};

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_REMOTE_LINE_H_
