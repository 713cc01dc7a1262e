#include "sim/cluster/admission/probe_validation.h"

#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/cluster/admission/port_validation.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kSchemes[] = {"HTTP", "HTTPS"};
// In the API server's order.
constexpr absl::string_view kProbeActions[] = {"exec", "httpGet", "tcpSocket", "grpc"};
constexpr absl::string_view kHookActions[] = {"exec", "httpGet", "tcpSocket", "sleep"};

// Source: apimachinery v0.37, pkg/util/validation/validation.go, IsHTTPHeaderName.
bool IsHeaderName(absl::string_view name) {
  return !name.empty() && absl::c_all_of(name, [](char c) { return absl::ascii_isalnum(c) || c == '-'; });
}

void CheckHttpGet(const FieldAt& action, ValidationErrors& errors) {
  CheckPortNumberOrName(action.Child("port"), errors);
  const FieldAt scheme = action.Child("scheme");
  if (!scheme.Text().empty()) errors.OneOf(scheme, kSchemes);
  const FieldAt headers = action.Child("httpHeaders");
  for (size_t i = 0; i < headers.size(); ++i) {
    const std::string name = headers.Item(i).Child("name").Text();
    if (IsHeaderName(name)) continue;
    errors.Invalid(headers.path, name,
                   "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
                   "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')");
  }
}

void CheckAction(absl::string_view kind, const FieldAt& action, int64_t grace_seconds,
                 ValidationErrors& errors) {
  if (kind == "exec") {
    if (action.Child("command").size() == 0) errors.Required(action.Child("command").path, "");
  } else if (kind == "httpGet") {
    CheckHttpGet(action, errors);
  } else if (kind == "tcpSocket") {
    CheckPortNumberOrName(action.Child("port"), errors);
  } else if (kind == "grpc") {
    CheckPortNumber(action.Child("port").path, action.Child("port").Number().value_or(0), errors);
  } else if (kind == "sleep") {
    const int64_t seconds = action.Child("seconds").Number().value_or(0);
    if (seconds >= 0 && seconds <= grace_seconds) return;
    errors.Invalid(action.path, seconds,
                   absl::StrCat("must be non-negative and less than terminationGracePeriodSeconds (",
                                grace_seconds, ")"));
  }
}

// One of `kinds` must be there, and no other. Source: as above, validateHandler.
void CheckHandler(const FieldAt& handler, absl::Span<const absl::string_view> kinds, int64_t grace_seconds,
                  ValidationErrors& errors) {
  bool has_one = false;
  for (const absl::string_view kind : kinds) {
    const FieldAt action = handler.Child(kind);
    if (!action.is_present()) continue;
    if (has_one) {
      errors.Forbidden(action.path, "may not specify more than 1 handler type");
    } else {
      CheckAction(kind, action, grace_seconds, errors);
    }
    has_one = true;
  }
  if (!has_one) errors.Required(handler.path, "must specify a handler type");
}

void CheckProbe(const FieldAt& probe, int64_t grace_seconds, ValidationErrors& errors) {
  CheckHandler(probe, kProbeActions, grace_seconds, errors);
  for (const absl::string_view name :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
    errors.NotNegative(probe.Child(name));
  }
  const FieldAt grace = probe.Child("terminationGracePeriodSeconds");
  if (grace.is_present() && grace.Number().value_or(0) <= 0)
    errors.Invalid(grace.path, grace.Number().value_or(0), "must be greater than 0");
}

}  // namespace

void CheckLifecycleAndProbes(const FieldAt& container, int64_t grace_seconds, ValidationErrors& errors) {
  const FieldAt lifecycle = container.Child("lifecycle");
  for (const absl::string_view name : {"postStart", "preStop"}) {
    const FieldAt hook = lifecycle.Child(name);
    if (hook.is_present()) CheckHandler(hook, kHookActions, grace_seconds, errors);
  }
  for (const absl::string_view name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const FieldAt probe = container.Child(name);
    if (!probe.is_present()) continue;
    CheckProbe(probe, grace_seconds, errors);
    const FieldAt threshold = probe.Child("successThreshold");
    const FieldAt grace = probe.Child("terminationGracePeriodSeconds");
    // What is 0 gets the default.
    const int64_t successes = threshold.Number().value_or(0);
    if (name == "readinessProbe") {
      if (grace.is_present())
        errors.Invalid(grace.path, grace.Number().value_or(0), "must not be set for readinessProbes");
    } else if (successes != 0 && successes != 1) {
      errors.Invalid(threshold.path, successes, "must be 1");
    }
  }
}

void CheckNoLifecycle(const FieldAt& container, ValidationErrors& errors) {
  for (const absl::string_view name : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
    const FieldAt field = container.Child(name);
    if (field.is_present())
      errors.Forbidden(field.path, "may not be set for init containers without restartPolicy=Always");
  }
}

}  // namespace schedsim::sim
