package adapters

import (
	"net/http"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Texts holds the texts that the events of one frame point into.
type Texts []byte

// Unquote returns the text of a JSON string, nothing for any other value. It is
// valid until t is emptied.
func (t *Texts) Unquote(value []byte) []byte {
	from := len(*t)
	*t = jsonscan.AppendUnquoted(*t, value)
	return (*t)[from:]
}

// Calls tells of the tool calls of an answer that is made of blocks, each of
// which begins, grows and ends, and has a number of its own. The zero value has
// none.
type Calls []blockCall

type blockCall struct {
	block int64
	input []byte // the arguments if none follow
	told  bool   // of arguments
}

// Begin appends the event of a call that a block begins. input is an object that
// stands for the arguments if no others follow; "" is {}.
func (c *Calls) Begin(dst []llm.Event, block int64, id, name, input string) []llm.Event {
	if input == "" {
		input = "{}"
	}
	tool := &llm.ToolDelta{Index: len(*c), ID: CallID(id), Name: name}
	*c = append(*c, blockCall{block: block, input: []byte(input)})
	return append(dst, llm.Event{Tool: tool})
}

// Add appends the event of a part of a call's arguments, if the block is a call.
func (c *Calls) Add(dst []llm.Event, block int64, args []byte) []llm.Event {
	if i := c.find(block); i >= 0 && len(args) > 0 {
		(*c)[i].told = true
		dst = append(dst, llm.Event{Tool: &llm.ToolDelta{Index: i, Arguments: args}})
	}
	return dst
}

// End appends the arguments of a call whose block ends and has told of none.
func (c *Calls) End(dst []llm.Event, block int64) []llm.Event {
	if i := c.find(block); i >= 0 {
		dst = c.end(dst, i)
	}
	return dst
}

// EndAll is End for all blocks.
func (c *Calls) EndAll(dst []llm.Event) []llm.Event {
	for i := range *c {
		dst = c.end(dst, i)
	}
	return dst
}

func (c *Calls) end(dst []llm.Event, i int) []llm.Event {
	call := &(*c)[i]
	if call.told {
		return dst
	}
	call.told = true
	return append(dst, llm.Event{Tool: &llm.ToolDelta{Index: i, Arguments: call.input}})
}

// find returns the number of the call that a block is, -1 if it is none.
func (c *Calls) find(block int64) int {
	for i := len(*c) - 1; i >= 0; i-- {
		if (*c)[i].block == block {
			return i
		}
	}
	return -1
}

// MaxCalls bounds the tool calls of one choice: far more than anybody needs, and
// few enough to look one up among them.
const MaxCalls = 1024

// TooManyCalls returns the error of an answer with more than MaxCalls.
func TooManyCalls() error {
	return llm.Upstream(http.StatusBadGateway, "", "The backend called more than %d tools.", MaxCalls)
}
