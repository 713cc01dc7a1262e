#include "sim/stages/scale.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "core/base/rng.h"
#include "core/base/status_macros.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/reader.h"
#include "sim/jq/jq_program.h"
#include "sim/stages/kwok_object.h"
#include "sim/stages/pod_addresses.h"
#include "sim/stages/stage_functions.h"
#include "sim/stages/stage_reader.h"

namespace schedsim::sim {
namespace {

using codec::StrictReader;
using codec::Value;

constexpr int64_t kReplicasMax = 10'000'000;
constexpr int64_t kSerialLengthMax = 100;

// Nodes of 32 cores, and pods of one container.
constexpr char kBuiltIn[] = R"(
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlResource
metadata: {name: node}
parameters:
  allocatable: {cpu: 32, memory: 256Gi, pods: 110}
  capacity: {}
  nodeInfo: {architecture: amd64, operatingSystem: linux}
  podCIDRs: [10.0.0.0/24, 'fd00::/64']
  nodeIPs: [192.0.2.1, '2001:db8::1']
template: |
  {{ $serial := Index }}
  {{ $cidrs := list }}
  {{ range .podCIDRs }}{{ $cidrs = append $cidrs (AddCIDR . $serial) }}{{ end }}
  {{ $capacity := .capacity }}
  apiVersion: v1
  kind: Node
  metadata:
    name: {{ Name | Quote }}
    annotations:
      kwok.x-k8s.io/node: fake
      node.alpha.kubernetes.io/ttl: "0"
      metrics.k8s.io/resource-metrics-path: /metrics/nodes/{{ Name }}/metrics/resource
    labels:
      {{ range list "beta.kubernetes.io" "kubernetes.io" }}
      {{ . }}/arch: {{ $.nodeInfo.architecture | Quote }}
      {{ . }}/os: {{ $.nodeInfo.operatingSystem | Quote }}
      {{ end }}
      kubernetes.io/hostname: {{ Name | Quote }}
      kubernetes.io/role: agent
      node-role.kubernetes.io/agent: ""
      type: kwok
  spec:
    podCIDR: {{ first $cidrs | Quote }}
    podCIDRs: {{ toJson $cidrs }}
  status:
    addresses:
    {{ range .nodeIPs }}
    - {type: InternalIP, address: {{ AddIP . $serial | Quote }}}
    {{ end }}
    allocatable: {{ toJson .allocatable }}
    capacity:
    {{ range $key, $value := .allocatable }}
      {{ $key }}: {{ or (index $capacity $key) $value | Quote }}
    {{ end }}
    nodeInfo: {{ toJson .nodeInfo }}
---
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlResource
metadata: {name: pod}
parameters:
  initContainers: []
  containers: [{name: container-0, image: busybox}]
  hostNetwork: false
  nodeName: ""
template: |
  apiVersion: v1
  kind: Pod
  metadata: {name: {{ Name | Quote }}, namespace: {{ or Namespace "default" | Quote }}}
  spec:
    hostNetwork: {{ .hostNetwork }}
    nodeName: {{ .nodeName | Quote }}
    {{ range $field := list "containers" "initContainers" }}
    {{ $field }}:
    {{ range index $ $field }}
    - name: {{ .name | Quote }}
      image: {{ .image | Quote }}
      {{ with .resources }}
      {{ $limits := or .limits dict }}
      resources:
        requests: {{ or .requests dict | toJson }}
        limits:
        {{ range $key, $value := .requests }}
          {{ $key }}: {{ or (index $limits $key) $value | Quote }}
        {{ end }}
      {{ end }}
    {{ end }}
    {{ end }}
)";

// What differs from one object to the next.
struct Variables {
  std::string name;
  std::string name_space;
  int64_t index = 0;
};

class Marks : public StageEnvironment {
 public:
  explicit Marks(const Clock& clock) : clock_(clock) {}

  GoResult Call(absl::string_view function, const GoArguments& /*arguments*/) override {
    if (function != "Now" && function != "StartTime") {
      return absl::InvalidArgumentError(absl::StrCat(function, " has no value here"));
    }
    return GoValue(api::FormatRfc3339(clock_.Now()));
  }

 private:
  const Clock& clock_;
};

// AddCIDR and AddIP.
template <std::string (*kAdd)(absl::string_view, uint64_t)>
GoResult AddTo(const GoArguments& arguments) {
  const std::string* base = arguments[0].AsString();
  const int64_t* count = arguments[1].AsInt();
  if (base == nullptr || count == nullptr || *count < 0) {
    return absl::InvalidArgumentError("expected a text and a number");
  }
  std::string moved = kAdd(*base, static_cast<uint64_t>(*count));
  if (moved.empty()) return absl::InvalidArgumentError(absl::StrCat("no address: ", *base));
  return GoValue(std::move(moved));
}

void AddFunctions(const Variables& variables, GoTemplateFunctions& functions) {
  functions.Add({"AddCIDR", 2, 2, AddTo<AddToCidr>});
  functions.Add({"AddIP", 2, 2, AddTo<AddToAddress>});
  functions.Add(
      {"Name", 0, 0, [&variables](const GoArguments&) -> GoResult { return GoValue(variables.name); }});
  functions.Add({"Namespace", 0, 0,
                 [&variables](const GoArguments&) -> GoResult { return GoValue(variables.name_space); }});
  functions.Add(
      {"Index", 0, 0, [&variables](const GoArguments&) -> GoResult { return GoValue(variables.index); }});
}

const GoTemplateFunctions& KnownFunctions() {
  static const GoTemplateFunctions* const kKnown = [] {
    auto* functions = new GoTemplateFunctions(KnownStageFunctions());
    AddFunctions(*new Variables(), *functions);
    return functions;
  }();
  return *kKnown;
}

// The member of a map; `with` in its place, or added.
GoValue With(const GoValue& value, const std::string& key, GoValue with) {
  GoValue::Map map = value.AsMap() == nullptr ? GoValue::Map() : *value.AsMap();
  for (auto& [name, member] : map) {
    if (name != key) continue;
    member = std::move(with);
    return GoValue(std::move(map));
  }
  map.emplace_back(key, std::move(with));
  return GoValue(std::move(map));
}

absl::StatusOr<GoValue> ReadOne(std::string text, absl::string_view file) {
  GoValue value;
  int count = 0;
  RETURN_IF_ERROR(codec::ReadText(std::move(text), file, {}, [&](const codec::Document& document) {
    value = GoValueOf(document.root, GoNumbers::kJsonNumber);
    if (++count == 1) return absl::OkStatus();
    return codec::ErrorAt({.file = file, .position = document.root.position},
                          "expected one document, got several");
  }));
  return value;
}

absl::StatusOr<GoValue> WithParam(const GoValue& parameters, const std::string& param) {
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("--param: ", QuotedJq(param), ": ", what));
  };
  const absl::StatusOr<JqProgram> program = JqProgram::Parse(param, JqProgram::By::kLibrary);
  if (!program.ok()) return error(program.status().message());
  codec::Document document;
  std::string cause;
  const std::vector<JqOutput> outputs = program->Run(DocumentValueOf(parameters, document), &cause);
  if (!cause.empty()) return error(cause);
  if (outputs.size() != 1 || outputs[0].type != JqOutput::Type::kOther) {
    return error(absl::StrCat("expected one map, got ", outputs.size(), " values"));
  }
  return ReadOne(outputs[0].text, "param.json");
}

}  // namespace

absl::StatusOr<ScaleResource> ReadScaleResource(const Value& document, absl::string_view file) {
  codec::ErrorList errors(file);
  StrictReader reader(document, "", errors);
  const std::string name = ReadKwokObjectHead(document, reader, errors).name;
  GoValue parameters{GoValue::Map()};
  if (const Value* given = reader.Take("parameters")) parameters = GoValueOf(*given, GoNumbers::kJsonNumber);
  std::string text;
  reader.Read("template", text);
  const Value* given = reader.Take("template");
  if (given == nullptr) errors.Add(document.position, "template: expected a template");
  reader.Finish();
  RETURN_IF_ERROR(errors.ToStatus());
  absl::StatusOr<GoTemplate> parsed = ParseTemplateOf(*given, file, KnownFunctions());
  if (!parsed.ok()) return parsed.status();
  return ScaleResource{.name = name, .parameters = parameters, .text = *std::move(parsed)};
}

absl::StatusOr<ScaleResource> FindScaleResource(absl::string_view name, const std::string& path) {
  std::optional<ScaleResource> found;
  std::vector<std::string> names;
  const auto look = [&](const codec::Document& document, absl::string_view file) -> absl::Status {
    const Value* kind = document.root.Find("kind");
    if (kind == nullptr || kind->text != "KwokctlResource") return absl::OkStatus();
    absl::StatusOr<ScaleResource> resource = ReadScaleResource(document.root, file);
    if (!resource.ok()) return resource.status();
    names.push_back(resource->name);
    if (!found.has_value() && resource->name == name) found = *std::move(resource);
    return absl::OkStatus();
  };
  if (!path.empty()) RETURN_IF_ERROR(codec::ReadPath(path, {}, look));
  RETURN_IF_ERROR(codec::ReadText(
      kBuiltIn, "built-in resources.yaml", {},
      [&](const codec::Document& document) { return look(document, "built-in resources.yaml"); }));
  if (found.has_value()) return *std::move(found);
  return absl::NotFoundError(absl::StrCat("no KwokctlResource ", api::GoQuote(name), ", expected one of ",
                                          absl::StrJoin(names, ", ")));
}

absl::StatusOr<Scaler> Scaler::Make(ScaleResource resource, const ScaleRequest& request) {
  if (request.replicas < 0 || request.replicas > kReplicasMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--replicas: expected a number from 0 to ", kReplicasMax, ", got ", request.replicas));
  }
  if (request.serial_length < 0 || request.serial_length > kSerialLengthMax ||
      (request.serial_length == 0 && request.replicas > 1)) {
    return absl::InvalidArgumentError(absl::StrCat("--serial-length: expected a number from 1 to ",
                                                   kSerialLengthMax, ", or 0 for a single object, got ",
                                                   request.serial_length));
  }
  for (const std::string& param : request.params) {
    ASSIGN_OR_RETURN(resource.parameters, WithParam(resource.parameters, param));
  }
  Scaler scaler(std::move(resource), request);
  if (scaler.request_.name.empty()) scaler.request_.name = scaler.resource_.name;
  return scaler;
}

std::string Scaler::NameOf(int64_t serial) const {
  if (request_.serial_length == 0) return request_.name;
  return absl::StrFormat("%s-%0*d", request_.name, static_cast<int>(request_.serial_length), serial);
}

absl::StatusOr<std::shared_ptr<codec::Document>> Scaler::Object(int64_t serial, const Clock& clock) const {
  const Variables variables = {.name = NameOf(serial), .name_space = request_.name_space, .index = serial};
  Marks marks(clock);
  Rng rng = Rng(0).Fork("scale").Fork(variables.name);
  GoTemplateFunctions functions = StageFunctions(marks, clock, rng);
  AddFunctions(variables, functions);
  std::string text;
  ASSIGN_OR_RETURN(text, resource_.text.Execute(resource_.parameters, functions));
  absl::StripAsciiWhitespace(&text);
  GoValue object;
  ASSIGN_OR_RETURN(object, ReadOne(std::move(text), absl::StrCat(resource_.name, ".yaml")));
  if (object.AsMap() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("KwokctlResource ", resource_.name, ": the template gives no object"));
  }
  GoValue metadata = With(object.Find("metadata"), "name", GoValue(variables.name));
  if (!request_.name_space.empty()) metadata = With(metadata, "namespace", GoValue(request_.name_space));
  metadata = With(metadata, "labels",
                  With(metadata.Find("labels"), kScaleLabel, GoValue(std::string(request_.name))));
  auto document = std::make_shared<codec::Document>();
  document->root = DocumentValueOf(With(object, "metadata", std::move(metadata)), *document);
  return document;
}

absl::StatusOr<ScaleChange> ChangeToScale(const Scaler& scaler, const ApiServer& server, const Clock& clock) {
  codec::ObjectReader reader;
  const auto decode = [&](int64_t serial) -> absl::StatusOr<api::ObjectPtr> {
    std::shared_ptr<codec::Document> document;
    ASSIGN_OR_RETURN(document, scaler.Object(serial, clock));
    return reader.Decode(document->root, absl::StrCat(scaler.NameOf(serial), ".yaml"));
  };
  api::ObjectPtr sample;
  ASSIGN_OR_RETURN(sample, decode(0));
  const ScaleRequest& request = scaler.request();
  std::vector<api::ObjectPtr> set;
  for (const auto& [key, object] : server.List(sample->kind)) {
    const std::string* name = object->metadata.labels.Find(kScaleLabel);
    const bool is_kind =
        object->kind_name == sample->kind_name && object->metadata.namespace_ == sample->metadata.namespace_;
    if (is_kind && name != nullptr && *name == request.name) set.push_back(object);
  }
  const int64_t count = static_cast<int64_t>(set.size());
  ScaleChange change;
  if (count > request.replicas) {
    std::stable_sort(set.begin(), set.end(), [](const api::ObjectPtr& a, const api::ObjectPtr& b) {
      return a->metadata.creation_timestamp < b->metadata.creation_timestamp;
    });
    change.remove.assign(set.begin() + request.replicas, set.end());
    return change;
  }
  const int64_t missing = request.replicas - count;
  // Of so many names one more than are taken is free.
  for (int64_t serial = 0; static_cast<int64_t>(change.create.size()) < missing; ++serial) {
    api::ObjectPtr object;
    ASSIGN_OR_RETURN(object, decode(serial));
    if (server.Find(*object) == nullptr) {
      change.create.push_back(std::move(object));
    } else if (request.serial_length == 0) {
      return absl::AlreadyExistsError(
          absl::StrCat(object->kind_name, " ", object->Key(), " is there already"));
    }
  }
  return change;
}

}  // namespace schedsim::sim
