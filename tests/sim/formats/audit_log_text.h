// Audit logs written by hand.
#ifndef SCHEDSIM_TESTS_SIM_FORMATS_AUDIT_LOG_TEXT_H_
#define SCHEDSIM_TESTS_SIM_FORMATS_AUDIT_LOG_TEXT_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace schedsim::sim {

// Times are milliseconds from the start of the log; a call lasts from `start` to `end`.
class AuditLogText {
 public:
  static absl::Time At(double ms) {
    return absl::FromUnixSeconds(1'767'225'600) + absl::Microseconds(std::llround(ms * 1000));
  }

  // `group` and `sub` may be "". Without a body the event has level Metadata.
  struct Call {
    double start = 0;
    double end = 0;
    std::string agent = "kubectl/v1";
    std::string verb = "create";
    std::string group;
    std::string resource = "pods";
    std::string sub;
    std::string name;
    std::string body;
    int code = 200;
  };
  AuditLogText& Add(const Call& call) {
    const auto time = [](double ms) {
      return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", At(ms), absl::UTCTimeZone());
    };
    const bool in_namespace = call.resource == "pods" || call.resource == "persistentvolumeclaims" ||
                              call.resource == "poddisruptionbudgets";
    absl::StrAppend(
        &text_,
        R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","stage":"ResponseComplete",)",
        R"("verb":")", call.verb, R"(","userAgent":")", call.agent, R"(","objectRef":{"resource":")",
        call.resource, R"(","apiVersion":"v1")");
    for (const auto& [key, value] :
         {std::pair("apiGroup", call.group), std::pair("subresource", call.sub), std::pair("name", call.name),
          std::pair("namespace", std::string(in_namespace ? "default" : ""))}) {
      if (!value.empty()) absl::StrAppend(&text_, ",\"", key, "\":\"", value, "\"");
    }
    absl::StrAppend(&text_, R"(},"responseStatus":{"code":)", call.code, R"(},"requestReceivedTimestamp":")",
                    time(call.start), R"(","stageTimestamp":")", time(call.end), "\"");
    if (!call.body.empty()) absl::StrAppend(&text_, ",\"requestObject\":", call.body);
    absl::StrAppend(&text_, "}\n");
    return *this;
  }

  AuditLogText& PriorityClass(double at, const std::string& name, int value) {
    return Add({.start = at - 1,
                .end = at,
                .group = "scheduling.k8s.io",
                .resource = "priorityclasses",
                .name = name,
                .body = absl::StrCat(
                    R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")",
                    name, R"("},"value":)", value, "}")});
  }
  AuditLogText& Node(double at, const std::string& name, const std::string& cpu = "4") {
    return Add({.start = at - 1,
                .end = at,
                .resource = "nodes",
                .name = name,
                .body = absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                                     R"("},"status":{"allocatable":{"cpu":")", cpu,
                                     R"(","memory":"8Gi","pods":"1000"}}})")});
  }
  // A pod that asks for `cpu`; `more` of its spec begins with a comma.
  static std::string PodBody(const std::string& metadata, const std::string& cpu, const std::string& more) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{)", metadata,
                        R"(},"spec":{"containers":[{"name":"a","image":"a","resources":{"requests":{"cpu":")",
                        cpu, R"("}}}])", more, "}}");
  }
  AuditLogText& Pod(double at, const std::string& name, const std::string& cpu = "1m",
                    const std::string& more = "") {
    return Add({.start = at - 1,
                .end = at,
                .name = name,
                .body = PodBody(absl::StrCat("\"name\":\"", name, "\""), cpu, more)});
  }
  // Whose name the log does not say.
  AuditLogText& GeneratedPod(double at, const std::string& generate_name, const std::string& more = "") {
    return Add({.start = at - 1,
                .end = at,
                .body = PodBody(absl::StrCat("\"generateName\":\"", generate_name, "\""), "1m", more)});
  }
  AuditLogText& Bind(double start, double end, const std::string& pod, const std::string& node = "n",
                     const std::string& agent = kScheduler) {
    return Add({.start = start,
                .end = end,
                .agent = agent,
                .sub = "binding",
                .name = pod,
                .body = absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", pod,
                                     R"("},"target":{"kind":"Node","name":")", node, "\"}}")});
  }
  AuditLogText& Fail(double start, double end, const std::string& pod) {
    return Add({.start = start,
                .end = end,
                .agent = kScheduler,
                .verb = "patch",
                .sub = "status",
                .name = pod,
                .body = R"({"status":{"conditions":[{"type":"PodScheduled","status":"False"}]}})"});
  }
  // `grace`: the grace period in seconds; -1: the pod's own.
  AuditLogText& Delete(double at, const std::string& pod, int grace = -1,
                       const std::string& agent = "kubectl/v1") {
    return Add({.start = at - 1,
                .end = at,
                .agent = agent,
                .verb = "delete",
                .name = pod,
                .body = grace < 0
                            ? R"({"kind":"DeleteOptions"})"
                            : absl::StrCat(R"({"kind":"DeleteOptions","gracePeriodSeconds":)", grace, "}")});
  }

  const std::string& text() const { return text_; }

  static constexpr const char* kScheduler = "kube-scheduler/v1";

 private:
  std::string text_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_TESTS_SIM_FORMATS_AUDIT_LOG_TEXT_H_
