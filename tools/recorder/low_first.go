package recorder

// lowFirst sorts the queue by lower priority first, then by time.
type lowFirst struct{}

func (lowFirst) Name() string { return "LowFirst" }
