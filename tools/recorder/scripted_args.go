package recorder

// ScriptedArgs says what a scripted plugin does. README.md has the exact meaning.
type ScriptedArgs struct {
	FactoryError string            `json:"factoryError"`
	EventsError  string            `json:"eventsError"`
	Events       []EventRule       `json:"events"`
	Count        map[string]string `json:"count"`
	Sign         *SignArgs         `json:"sign"`
	Normalize    *NormalizeArgs    `json:"normalize"`

	PreEnqueue       []Rule `json:"preEnqueue"`
	PreFilter        []Rule `json:"preFilter"`
	AddPod           []Rule `json:"addPod"`
	RemovePod        []Rule `json:"removePod"`
	Filter           []Rule `json:"filter"`
	PostFilter       []Rule `json:"postFilter"`
	PreScore         []Rule `json:"preScore"`
	Score            []Rule `json:"score"`
	Reserve          []Rule `json:"reserve"`
	Permit           []Rule `json:"permit"`
	PreBindPreFlight []Rule `json:"preBindPreFlight"`
	PreBind          []Rule `json:"preBind"`
	Bind             []Rule `json:"bind"`
	PostBind         []Rule `json:"postBind"`
}

// Rule is one behaviour; the first that holds counts.
type Rule struct {
	When    RuleWhen  `json:"when"`
	Match   RuleMatch `json:"match"`
	Code    string    `json:"code"` // empty: Success
	Message *string   `json:"message"`

	Nodes      *[]string         `json:"nodes"`      // PreFilter: the node set
	NodesLabel map[string]string `json:"nodesLabel"` // PreFilter: the node set, by label
	Nominate   string            `json:"nominate"`   // PostFilter
	Result     string            `json:"result"`     // PostFilter: "" no result, noop, override
	Score      int64             `json:"score"`
	ScoreLabel string            `json:"scoreLabel"`
	ScoreHash  uint32            `json:"scoreHash"`
	Timeout    float64           `json:"timeout"`  // Permit, seconds
	Allow      *WaitingMatch     `json:"allow"`    // Permit, PostBind
	Reject     *WaitingMatch     `json:"reject"`   // Permit, PostBind
	Parallel   bool              `json:"parallel"` // PreBindPreFlight, from 1.36
	Delay      float64           `json:"delay"`    // PreBind, Bind, seconds
	Do         string            `json:"do"`       // Bind: "" bind, "none" only say so
}

// RuleWhen selects pods.
type RuleWhen struct {
	PodLabel   map[string]string `json:"podLabel"`
	NoLabel    string            `json:"noLabel"`
	PodHash    *Hash             `json:"podHash"`
	Calls      *[2]int           `json:"calls"`      // this point's n-th call for this pod
	Cycle      *[2]int           `json:"cycle"`      // PreFilter's calls for this pod so far
	OtherLabel map[string]string `json:"otherLabel"` // AddPod, RemovePod: labels of the other pod
}

// RuleMatch selects nodes.
type RuleMatch struct {
	NodeMatch
	PodsAtLeast  int `json:"podsAtLeast"`
	CountAtLeast int `json:"countAtLeast"`
}

// WaitingMatch selects waiting pods.
type WaitingMatch struct {
	PodLabel map[string]string `json:"podLabel"`
	Message  string            `json:"message"`
}

// EventRule is one registered event.
type EventRule struct {
	Resource string     `json:"resource"`
	Actions  []string   `json:"actions"`
	Hint     []HintRule `json:"hint"` // absent: no hint function
}

// HintRule answers a hint; the first that holds counts, none: Queue.
type HintRule struct {
	When     RuleWhen          `json:"when"`
	ObjLabel map[string]string `json:"objLabel"`
	Answer   string            `json:"answer"` // Queue, Skip, Error
}

// SignArgs says how a pod is signed.
type SignArgs struct {
	Mode string `json:"mode"` // label, none, refuse, error
	Key  string `json:"key"`
}

// NormalizeArgs says how scores are normalised.
type NormalizeArgs struct {
	Mode    string `json:"mode"` // default, add, fail
	Reverse bool   `json:"reverse"`
	Add     int64  `json:"add"`
	Code    string `json:"code"`
	Message string `json:"message"`
}
