// The static types of expressions.
#ifndef SCHEDSIM_CORE_CEL_CEL_TYPE_H_
#define SCHEDSIM_CORE_CEL_CEL_TYPE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::cel {

struct CelType {
  enum class Kind : uint8_t {
    kDyn,
    kError,  // Of what is wrong; it fits everywhere, so that nothing is said twice.
    kNull,
    kPrimitive,  // `name`: bool, int, uint, double, string, bytes, duration, timestamp.
    kObject,     // `name`: of a message.
    kList,
    kMap,
    kOptional,
    kType,
    kParameter,  // `name`: a type that is not known yet.
  };
  Kind kind = Kind::kDyn;
  std::string name;
  std::vector<CelType> parameters;

  // "list(int)", "map(string, dyn)", "optional_type(A)". A name of one letter is a parameter; a name with a
  // dot is that of an object. Terminates on wrong text: for our own tables.
  static CelType Parse(absl::string_view text);
  static CelType Error() { return {.kind = Kind::kError, .name = "", .parameters = {}}; }
  static CelType List(CelType item);
  static CelType Map(CelType key, CelType value);
  static CelType Optional(CelType value);

  bool IsDynOrError() const { return kind == Kind::kDyn || kind == Kind::kError; }
  // As messages have it.
  std::string Text() const;
  friend bool operator==(const CelType&, const CelType&) = default;
};

// What is known of parameters. Source: cel-go v0.29, checker/types.go.
class CelTypeMapping {
 public:
  // Whether a value of one type may stand where the other one is wanted, one by one; what this says of
  // parameters is kept if so.
  bool Assign(const CelType& from, const CelType& to);
  bool Assign(const std::vector<CelType>& from, const std::vector<CelType>& to);
  // The type with what is known put in; `to_dyn`: what is not known is dyn.
  CelType Substitute(const CelType& type, bool to_dyn) const;
  // A parameter that nothing is known of.
  CelType Fresh();

  // The more general one of two types that fit each other.
  static const CelType& MostGeneral(const CelType& a, const CelType& b);

 private:
  enum class Fit : uint8_t { kYes, kNo, kNoAndKnown };

  bool IsAssignable(const CelType& from, const CelType& to);
  Fit FitParameter(const CelType& type, const CelType& parameter);
  bool IsReferencedIn(const CelType& parameter, const CelType& type) const;

  std::map<std::string, CelType> known_;
  int fresh_ = 0;
};

// One way to call a function.
struct CelOverload {
  bool is_member = false;
  std::vector<CelType> arguments;  // As a member, the first one is in front of the dot.
  CelType result;
};

// What functions there are, and for what types; operators are "_+_", "!_", "_[_]", "@in" and so on.
class CelSignatures {
 public:
  void Add(absl::string_view function, bool is_member, absl::string_view arguments, absl::string_view result);
  // nullptr: no such function.
  const std::vector<CelOverload>* Find(absl::string_view function) const;

 private:
  std::map<std::string, std::vector<CelOverload>> overloads_;
};

// Those of the base environment of Kubernetes, as far as we have them.
// Source: apiserver v0.37, pkg/cel/environment/base.go; cel-go v0.29, common/stdlib and ext.
const CelSignatures& KubernetesCelSignatures();

// Whether that environment has a function of this name which is not among ours. `is_member` and `arguments`
// (with the one in front of the dot): how it is called.
bool IsUnbuiltCelFunction(absl::string_view function, bool is_member, size_t arguments);

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_TYPE_H_
