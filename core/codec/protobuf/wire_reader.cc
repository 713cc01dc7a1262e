#include "core/codec/protobuf/wire_reader.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "protozero/pbf_reader.hpp"

namespace schedsim::codec {
namespace {

absl::Status NoMessage(const protozero::exception& error) {
  return absl::DataLossError(
      absl::StrCat("expected a protobuf message, got other bytes (", error.what(), ")"));
}

// False: the field is none of those that are wanted, and was stepped over.
bool ReadValue(protozero::pbf_reader& reader, WireValue& value) {
  switch (reader.wire_type()) {
    case protozero::pbf_wire_type::varint:
      value = {.bytes = {}, .whole = {}, .number = reader.get_uint64(), .is_number = true};
      return true;
    case protozero::pbf_wire_type::length_delimited: {
      const protozero::data_view view = reader.get_view();
      value = {.bytes = {view.data(), view.size()}};
      return true;
    }
    default:
      reader.skip();
      return false;
  }
}

}  // namespace

absl::Status ForEachField(absl::string_view bytes,
                          absl::FunctionRef<absl::Status(uint32_t number, const WireValue& value)> visit) {
  try {
    protozero::pbf_reader reader(bytes.data(), bytes.size());
    WireValue value;
    const char* begin = bytes.data();
    while (reader.next()) {
      const uint32_t number = reader.tag();
      const bool is_wanted = ReadValue(reader, value);
      const char* const end = reader.data().data();
      value.whole = {begin, static_cast<size_t>(end - begin)};
      begin = end;
      if (is_wanted) RETURN_IF_ERROR(visit(number, value));
    }
    return absl::OkStatus();
  } catch (const protozero::exception& error) {
    return NoMessage(error);
  }
}

absl::Status ForEachPacked(absl::string_view bytes, absl::FunctionRef<absl::Status(uint64_t number)> visit) {
  try {
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    while (at < end) RETURN_IF_ERROR(visit(protozero::decode_varint(&at, end)));
    return absl::OkStatus();
  } catch (const protozero::exception& error) {
    return NoMessage(error);
  }
}

}  // namespace schedsim::codec
