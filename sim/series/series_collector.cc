#include "sim/series/series_collector.h"

#include <algorithm>
#include <utility>

namespace schedsim::sim {
namespace {

using framework::Resource;

// Of so many points at most a half stays where they are simplified to one part.
constexpr size_t kPointsPerPart = 2 * kPartPointsMax;

template <typename T>
void MoveEnd(size_t from, std::vector<T>& source, std::vector<T>& target) {
  target.insert(target.end(), source.begin() + static_cast<std::ptrdiff_t>(from), source.end());
  source.resize(from);
}

// Moves the points from a place on to the end of another series of the same resources.
void MoveEnd(size_t from, TimeSeries& source, TimeSeries& target) {
  MoveEnd(from, source.times, target.times);
  const std::vector<std::vector<int64_t>*> sources = ColumnsOf(source);
  const std::vector<std::vector<int64_t>*> targets = ColumnsOf(target);
  for (size_t i = 0; i < sources.size(); ++i) MoveEnd(from, *sources[i], *targets[i]);
}

// nullptr: the object is none of the kind, or there is none.
template <typename T>
const T* As(const api::ObjectPtr& object, api::Kind kind) {
  return object != nullptr && object->kind == kind ? static_cast<const T*>(object.get()) : nullptr;
}

}  // namespace

// What is known while a run is under way.
struct SeriesCollector::Run {
  // Places of resources: these, then scalars in the order in which they came.
  enum Place : size_t { kCpu, kMemory, kStorage, kPods, kFirstScalar };

  struct Sums {
    absl::int128 requested = 0;
    absl::int128 allocatable = 0;
  };
  struct Node {
    bool is_there = false;        // False: pods name it, or it is gone.
    std::map<size_t, Sums> sums;  // By place.
  };

  explicit Run(Simulation& of) : simulation(of), pod_infos(of.options().line, symbols) {}

  // Adds `sign` times the amounts to those of the node, and to the totals where it is there.
  void Add(Node& node, const Resource& amounts, int64_t pods, int64_t sign, absl::int128 Sums::*side) {
    AddOne(node, kCpu, absl::int128(amounts.milli_cpu) * sign, side);
    AddOne(node, kMemory, absl::int128(amounts.memory_bytes) * sign, side);
    AddOne(node, kStorage, absl::int128(amounts.ephemeral_storage_bytes) * sign, side);
    AddOne(node, kPods, absl::int128(pods) * sign, side);
    for (const framework::ScalarResource& scalar : amounts.scalars)
      AddOne(node, PlaceOf(scalar.name), absl::int128(scalar.value) * sign, side);
  }

  void AddPod(const api::PodPtr& pod, int64_t sign) {
    Add(NodeOf(pod->node_name), pod_infos.Make(pod)->requests, 1, sign, &Sums::requested);
  }

  void AddNode(const api::Node& node, int64_t sign) {
    const Resource allocatable = framework::MakeResource(node.status.allocatable, symbols);
    Add(NodeOf(node.metadata.name), allocatable, allocatable.allowed_pod_number, sign, &Sums::allocatable);
  }

  // The node comes or goes, with the pods on it.
  void SetThere(const std::string& name, bool is_there) {
    Node& node = NodeOf(name);
    node.is_there = is_there;
    for (const auto& [place, sums] : node.sums) {
      totals[place].requested += is_there ? sums.requested : -sums.requested;
      totals[place].allocatable += is_there ? sums.allocatable : -sums.allocatable;
    }
  }

  size_t PlaceOf(Symbol scalar) {
    if (const size_t* place = places.Find(scalar)) return *place;
    places[scalar] = names.size();
    names.emplace_back(symbols.Text(scalar));
    totals.emplace_back();
    return names.size() - 1;
  }

  // Leaves points of the series out where there are more than `points_max`. What is old must not be thinned
  // out again and again, so points that are new are brought to its density first; at the end they always are.
  void Thin(size_t points_max, bool is_last, TimeSeries& series) {
    const size_t limit = std::max(points_max, kPointsPerPart);
    if (series.size() <= limit && !(is_last && thinned_count > 0)) return;
    TimeSeries fresh;
    for (const TimeSeries::Resource& resource : series.resources)
      fresh.resources.push_back({.name = resource.name, .requested = {}, .allocatable = {}});
    MoveEnd(thinned_count, series, fresh);
    const size_t fresh_parts = std::max<size_t>(fresh.size() / points_per_part, 1);
    Simplify(fresh_parts, fresh);
    MoveEnd(0, fresh, series);
    part_count += fresh_parts;
    if (part_count > limit / kPointsPerPart) {
      part_count = std::max<size_t>(part_count / 2, 1);
      points_per_part *= 2;
      Simplify(part_count, series);
    }
    thinned_count = series.size();
  }

  Node& NodeOf(const std::string& name) {
    if (const size_t* place = node_places.Find(name)) return nodes[*place];
    node_places[name] = nodes.size();
    return nodes.emplace_back();
  }

  Simulation& simulation;
  // Its own, so that nothing of the scheduler's is touched.
  SymbolTable symbols;
  framework::PodInfoFactory pod_infos;
  LookupMap<Symbol, size_t> places;
  // By place.
  std::vector<std::string> names = {"cpu", "memory", "ephemeral-storage", "pods"};
  std::vector<Sums> totals = std::vector<Sums>(kFirstScalar);
  LookupMap<std::string, size_t> node_places;
  std::deque<Node> nodes;
  int64_t node_count = 0;
  int64_t bound_count = 0;
  int64_t pending_count = 0;
  int64_t evicted_count = 0;
  // How many points of the series are thinned out, to how many parts; of how many points these are made.
  size_t thinned_count = 0;
  size_t part_count = 0;
  size_t points_per_part = kPointsPerPart;

 private:
  void AddOne(Node& node, size_t place, absl::int128 amount, absl::int128 Sums::*side) {
    if (amount == 0) return;
    node.sums[place].*side += amount;
    if (node.is_there) totals[place].*side += amount;
  }
};

SeriesCollector::SeriesCollector(size_t points_max) : points_max_(points_max) {}

SeriesCollector::~SeriesCollector() = default;

void SeriesCollector::AddTo(SimulationOptions& options) {
  options.on_settled = [this, next = std::move(options.on_settled)] {
    Note(/*is_last=*/false);
    if (next != nullptr) next();
  };
}

void SeriesCollector::Attach(Simulation& simulation) {
  series_ = TimeSeries();
  run_ = std::make_unique<Run>(simulation);
  simulation.server().Watch([this](const WatchEvent& event) { OnChange(event); });
}

void SeriesCollector::OnChange(const WatchEvent& event) {
  const auto* const old_node = As<api::Node>(event.old_object, api::Kind::kNode);
  const auto* const new_node = As<api::Node>(event.new_object, api::Kind::kNode);
  if (old_node != nullptr && new_node == nullptr) {
    run_->SetThere(old_node->metadata.name, false);
    --run_->node_count;
  }
  if (old_node != nullptr) run_->AddNode(*old_node, -1);
  if (new_node != nullptr) run_->AddNode(*new_node, 1);
  if (old_node == nullptr && new_node != nullptr) {
    run_->SetThere(new_node->metadata.name, true);
    ++run_->node_count;
  }
  const auto add_pod = [this](const api::ObjectPtr& object, int64_t sign) {
    const auto* const pod = As<api::Pod>(object, api::Kind::kPod);
    if (pod == nullptr || pod->IsTerminal()) return false;
    if (!pod->node_name.empty()) {
      run_->bound_count += sign;
      run_->AddPod(std::static_pointer_cast<const api::Pod>(object), sign);
    } else if (run_->simulation.ResponsibleFor(*pod)) {
      run_->pending_count += sign;
    }
    return true;
  };
  const bool was_there = add_pod(event.old_object, -1);
  const bool is_there = add_pod(event.new_object, 1);
  if (was_there && !is_there && run_->simulation.evicted().count(event.old_object->Key()) > 0)
    ++run_->evicted_count;
}

void SeriesCollector::Note(bool is_last) {
  Simulation& simulation = run_->simulation;
  const absl::Duration now = simulation.now() - simulation.zero();
  for (size_t place = series_.resources.size(); place < run_->names.size(); ++place) {
    const std::vector<int64_t> zeros(series_.size());
    series_.resources.push_back({.name = run_->names[place], .requested = zeros, .allocatable = zeros});
  }
  const bool is_new = series_.times.empty() || series_.times.back() < now;
  bool differs = is_last || series_.times.empty();
  const auto note = [&](std::vector<int64_t>& column, int64_t value) {
    differs = differs || column.back() != value;
    if (is_new) {
      column.push_back(value);
    } else {
      column.back() = value;
    }
  };
  if (is_new) series_.times.push_back(now);
  // Those of all schedulers.
  queue::SchedulingQueue::Counts queue;
  for (scheduler::Scheduler* scheduler : simulation.schedulers()) {
    const queue::SchedulingQueue::Counts counts = scheduler->queue().GetCounts();
    queue.active += counts.active;
    queue.backoff += counts.backoff;
    queue.unschedulable += counts.unschedulable;
    queue.gated += counts.gated;
  }
  note(series_.nodes, run_->node_count);
  note(series_.bound, run_->bound_count);
  note(series_.pending, run_->pending_count);
  note(series_.active, static_cast<int64_t>(queue.active));
  note(series_.backoff, static_cast<int64_t>(queue.backoff));
  note(series_.unschedulable, static_cast<int64_t>(queue.unschedulable));
  note(series_.gated, static_cast<int64_t>(queue.gated));
  note(series_.attempts, simulation.trace().attempt_count());
  note(series_.evicted, run_->evicted_count);
  for (size_t place = 0; place < run_->names.size(); ++place) {
    note(series_.resources[place].requested, Saturated(run_->totals[place].requested));
    note(series_.resources[place].allocatable, Saturated(run_->totals[place].allocatable));
  }
  if (is_new && !differs) DropLast();
  if (points_max_ > 0) run_->Thin(points_max_, is_last, series_);
}

void SeriesCollector::DropLast() {
  series_.times.pop_back();
  for (std::vector<int64_t>* column : ColumnsOf(series_)) column->pop_back();
}

void SeriesCollector::Finish() {
  Note(/*is_last=*/true);
  std::sort(series_.resources.begin(), series_.resources.end(),
            [](const TimeSeries::Resource& a, const TimeSeries::Resource& b) { return a.name < b.name; });
}

std::vector<SeriesCollector::Amount> SeriesCollector::AmountsOf(const std::string& node_name) const {
  std::vector<Amount> amounts;
  for (const auto& [place, sums] : run_->NodeOf(node_name).sums) {
    if (sums.requested == 0 && sums.allocatable == 0) continue;
    amounts.push_back(
        {.name = run_->names[place], .requested = sums.requested, .allocatable = sums.allocatable});
  }
  std::sort(amounts.begin(), amounts.end(), [](const Amount& a, const Amount& b) { return a.name < b.name; });
  return amounts;
}

}  // namespace schedsim::sim
