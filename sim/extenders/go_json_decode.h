// JSON as Go's encoding/json takes it, with its errors: what becomes of an extender's answer.
#ifndef SCHEDSIM_SIM_EXTENDERS_GO_JSON_DECODE_H_
#define SCHEDSIM_SIM_EXTENDERS_GO_JSON_DECODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// Calls `read` with the first JSON value of the text, as json.Decoder finds it: what follows does not count.
// Returns what Go says of a text that has none; "" where there is one. Of a key that comes twice the last
// value counts.
std::string ReadGoJson(absl::string_view text, absl::FunctionRef<void(const codec::Value& value)> read);

// Takes the values of one answer apart, as Go does for a struct: keys match without regard to case, unknown
// ones do not count, null changes nothing. The first value of a wrong type is an error, and the rest is read
// all the same.
class GoDecoder {
 public:
  // Where a value stands, for the error: the struct of Go and the path of its fields; none at the root.
  struct Place {
    absl::string_view struct_name;
    std::string path;
  };
  // What Go says of the first value of a wrong type; "": there is none.
  const std::string& error() const { return error_; }

  using Item = absl::FunctionRef<void(const codec::Value& item)>;
  using Field =
      std::pair<absl::string_view, std::function<void(const codec::Value& value, const Place& place)>>;

  void ReadText(const codec::Value& value, const Place& place, std::string& out);
  void ReadInteger(const codec::Value& value, const Place& place, int64_t& out);
  // `type`: how Go names the type of the list or map. False where it is null, or no such.
  bool ReadList(const codec::Value& value, const Place& place, absl::string_view type, Item read);
  bool ReadTexts(const codec::Value& value, const Place& place, std::vector<std::string>& out);
  bool ReadMap(const codec::Value& value, const Place& place, absl::string_view type,
               absl::FunctionRef<void(const std::string& key, const codec::Value& value)> read);
  void ReadTextMap(const codec::Value& value, const Place& place, absl::string_view type,
                   std::map<std::string, std::string>& out);
  // A struct of Go's package v1.
  bool ReadStruct(const codec::Value& value, const Place& place, absl::string_view name,
                  const std::vector<Field>& fields);

 private:
  bool Expect(const codec::Value& value, codec::Value::Type wanted, const Place& place,
              absl::string_view type);

  std::string error_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_GO_JSON_DECODE_H_
