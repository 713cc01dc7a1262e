// The operations in files of scheduler_perf.
#ifndef SCHEDSIM_SIM_BENCH_WORKLOAD_OP_READER_H_
#define SCHEDSIM_SIM_BENCH_WORKLOAD_OP_READER_H_

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/text/value.h"
#include "sim/bench/workload_file.h"

namespace schedsim::sim {

class WorkloadOpReader {
 public:
  // `folder` is what paths are relative to, with a slash, or "". `errors` must outlive the reader.
  WorkloadOpReader(std::string file, std::string folder, codec::ErrorList& errors)
      : file_(std::move(file)), folder_(std::move(folder)), errors_(errors) {}

  // Reads one operation. What is wrong goes to the list of errors.
  WorkloadStep Read(const codec::Value& value, const std::string& path);

  // Fields that not only operations have. Absent ones leave the target as it is.
  void ReadPath(codec::StrictReader& reader, absl::string_view name, std::string& target) const;
  void ReadLabels(codec::StrictReader& reader, absl::string_view name, Labels& target) const;
  static void ReadParams(codec::StrictReader& reader, absl::string_view name, TemplateParams& target);

 private:
  using Reader = codec::StrictReader;
  WorkloadOp ReadCreateNodes(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadCreateNamespaces(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadCreatePods(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadCreatePodSets(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadDeletePods(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadChurn(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadCreateAny(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadCreatePodGroups(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadUpdateAny(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadBarrier(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadSleep(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadStartCollecting(const codec::Value& value, const std::string& path, Reader& reader);
  WorkloadOp ReadStopCollecting(const codec::Value& value, const std::string& path, Reader& reader);

  struct Opcode;
  static const Opcode kOpcodes[];
  static const Opcode* FindOpcode(absl::string_view name);

  CreatePodsOp ReadPods(const codec::Value& value, const std::string& path, Reader& reader);
  NodeStrategy ReadStrategy(Reader& reader);
  NodeAllocatableStrategy ReadAllocatable(const codec::Value& value, const std::string& path);
  AnyObjectOp ReadAny(const codec::Value& value, const std::string& path, Reader& reader);
  // A count that is not negative, and the name of a parameter that begins with $.
  void ReadCount(const codec::Value& value, Reader& reader, absl::string_view name,
                 Parameterized<int64_t>& target);
  void ReadParamName(const codec::Value& value, Reader& reader, absl::string_view name, std::string& target);
  // A whole number that is not negative.
  void ReadNumber(const codec::Value& value, Reader& reader, absl::string_view name, int64_t& target);
  void Error(const codec::Value& value, absl::string_view what) { errors_.Add(value.position, what); }

  const std::string file_;
  const std::string folder_;
  codec::ErrorList& errors_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_WORKLOAD_OP_READER_H_
