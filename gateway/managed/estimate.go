package managed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Estimate is what the engine program tells of a model without loading it.
type Estimate struct {
	Architecture string `json:"architecture"`
	Quantization string `json:"quantization"`
	Parameters   uint64 `json:"parameters"`
	Context      int    `json:"n_ctx"`       // tokens of one request
	TrainContext int    `json:"n_ctx_train"` // what the model was trained for
	Memory       struct {
		Total uint64 `json:"total"` // bytes that it will take
		Host  uint64 `json:"host"`  // of these, what is not on a GPU
		Aside uint64 `json:"aside"` // of these, what it can do without
	} `json:"memory"`
	Free    uint64 `json:"free"`    // bytes of the machine's memory; 0 is unknown
	Machine uint64 `json:"machine"` // bytes that it has; 0 is unknown
	Fits    bool   `json:"fits"`
}

// estimateTime bounds how long the program may look at a file.
const estimateTime = 30 * time.Second

// Ask has the engine program look at the model of opt. An error that says what
// is wrong with the model is a *StartError.
func Ask(ctx context.Context, opt Options) (*Estimate, error) {
	ctx, cancel := context.WithTimeout(ctx, estimateTime)
	defer cancel()
	opt = opt.withDefaults()
	cmd := exec.CommandContext(ctx, opt.Binary, append([]string{"-estimate", "-model", opt.Model}, opt.flags()...)...)
	cmd.SysProcAttr = ownGroup()
	cmd.WaitDelay = 2 * time.Second
	said := newTail(opt.Log)
	cmd.Stderr = said
	out, err := cmd.Output()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = errors.New("the engine program did not say in time what the model takes")
	case errors.Is(err, os.ErrNotExist):
		err = noProgram(opt.Binary)
	}
	e := new(Estimate)
	if err == nil {
		err = json.Unmarshal(out, e)
	}
	if err != nil {
		return nil, &StartError{Model: opt.Model, Lines: said.last(), Err: err}
	}
	return e, nil
}

func noProgram(binary string) error {
	return fmt.Errorf("the engine program is not there: %s (make build-engine builds it)", binary)
}
