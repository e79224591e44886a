package declared

import (
	"gopkg.in/yaml.v3"

	"dragoman/adapters/yamlstrict"
)

// source is a spec as it is written. docs/adding-an-adapter.md explains the
// keys to those who write one; yamlstrict reads them.
type source struct {
	Framing       string   `yaml:"framing"`        // sse, ndjson, json, lines, raw, whole, aws, ws
	Cumulative    bool     `yaml:"cumulative"`     // every frame repeats the whole text so far
	EchoPrompt    bool     `yaml:"echo_prompt"`    // the text begins with the prompt
	EOFIsFinish   bool     `yaml:"eof_is_finish"`  // nothing but the end says that the answer is complete
	EndMarker     string   `yaml:"end_marker"`     // a frame that is the end, such as [DONE]
	EndTexts      []string `yaml:"end_texts"`      // texts such as </s> to cut off at the very end
	MaxConcurrent int      `yaml:"max_concurrent"` // requests at once; 0 is no bound
	NoMaxTokens   bool     `yaml:"no_max_tokens"`  // a request without max_tokens is not bounded
	Unary         bool     `yaml:"unary"`          // non-stream requests get a non-stream answer, one frame
	Send          send     `yaml:"send"`
	Read          read     `yaml:"read"`
	Cancel        *send    `yaml:"cancel"` // the call that ends an answer; it takes id and model
	Health        question `yaml:"health"`
	Models        question `yaml:"models"`
}

// question is a call whose answer tells about the backend.
type question struct {
	Path   string   `yaml:"path"`
	Method string   `yaml:"method"` // GET or POST
	List   string   `yaml:"list"`   // models: path of a list, "." for the whole answer; without it there is one model
	Name   string   `yaml:"name"`   // models: path of the name, in an element of the list or in the answer; without it elements are names
	State  string   `yaml:"state"`  // health: path of a word
	Is     []string `yaml:"is"`     // health: the words that say that all is well
}

// send is how a request is written.
type send struct {
	Path   string           `yaml:"path"`   // appended to the backend's url; {model} and {id} stand for the model's name and the request's id
	Method string           `yaml:"method"` // POST or PUT
	Const  yamlstrict.Pairs `yaml:"const"`  // path in the body: the value that always stands there
	Map    yamlstrict.Pairs `yaml:"map"`    // part of the request: path in the body, or a shape
}

// shape is a part of a request and what is done to its value.
type shape struct {
	To         string    `yaml:"to"`          // path in the body
	List       bool      `yaml:"list"`        // sent as a list of the one value
	JSONString bool      `yaml:"json_string"` // the first member that to names is sent as a string that holds its JSON
	Min        *float64  `yaml:"min"`         // less is raised to it
	Max        *float64  `yaml:"max"`         // more is lowered to it; of a list, more elements are not sent
	OmitBelow  *float64  `yaml:"omit_below"`  // less is not sent
	OmitFrom   *float64  `yaml:"omit_from"`   // this and more is not sent
	Default    yaml.Node `yaml:"default"`     // sent where the client said nothing
}

// read is where a frame keeps its parts.
type read struct {
	Text             yaml.Node         `yaml:"text"`      // path, or paths of which the first with a string counts
	Reasoning        yaml.Node         `yaml:"reasoning"` // the same
	Finish           string            `yaml:"finish"`
	FinishMap        map[string]string `yaml:"finish_map"` // the backend's word: ours, or error, or none
	PromptTokens     string            `yaml:"prompt_tokens"`
	CompletionTokens string            `yaml:"completion_tokens"`
	FrameTokens      string            `yaml:"frame_tokens"`  // completion tokens of one frame, to be added up
	Error            yaml.Node         `yaml:"error"`         // path of what is there only in an error, or a condition, or a list of these
	ErrorMessage     yaml.Node         `yaml:"error_message"` // path, or paths of which the first with a value counts
	ErrorCode        string            `yaml:"error_code"`
	ErrorMap         map[string]int    `yaml:"error_map"` // the backend's code: the HTTP status that it means
	Skip             *conditionSource  `yaml:"skip"`      // frames whose text is not part of the answer
	Done             *conditionSource  `yaml:"done"`      // the frame that ends the answer; finish counts only there
}

// conditionSource compares the value at a path with a list of values: is it
// one of them, or is it not. What is not there is null.
type conditionSource struct {
	Path string      `yaml:"path"`
	Is   []yaml.Node `yaml:"is"`
	Not  []yaml.Node `yaml:"not"`
}
