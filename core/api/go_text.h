// Text as Go's standard library writes it: what Kubernetes' messages are made of.
#ifndef SCHEDSIM_CORE_API_GO_TEXT_H_
#define SCHEDSIM_CORE_API_GO_TEXT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace schedsim::api {

// `text` in double quotes, with Go's escapes for quotes, backslashes and control characters.
std::string GoQuote(absl::string_view text);

// `text` as a JSON string, as encoding/json writes it: <, > and & are escaped, too, unless
// SetEscapeHTML(false) was called.
std::string GoJsonQuote(absl::string_view text, bool escapes_html = true);

// A finite span as time.Duration prints it: "1m30s", "1.5s", "10ms", "0s".
std::string FormatGoDuration(absl::Duration duration);

// What time.ParseDuration reads: numbers with units from ns to h, cut to nanoseconds, of which there may be
// as many as 64 bits hold; std::nullopt for anything else.
std::optional<absl::Duration> ParseGoDuration(absl::string_view text);

// What time.Parse reads as RFC 3339, years 0 to 9999; std::nullopt for anything else.
std::optional<absl::Time> ParseRfc3339(absl::string_view text);

// `time` in UTC as time.Time prints it by time.RFC3339Nano: "2006-01-02T15:04:05.5Z".
std::string FormatRfc3339(absl::Time time);
// The same without fractions, as the API's Time is written, and with six digits of them, as MicroTime is:
// "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.500000Z".
std::string FormatRfc3339Seconds(absl::Time time);
std::string FormatRfc3339Micros(absl::Time time);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_GO_TEXT_H_
