package llm

// Param names a sampling setting by its OpenAI (or commonly used) field.
type Param uint8

// The sampling settings that requests may carry.
const (
	Temperature Param = iota
	TopP
	TopK
	MinP
	FrequencyPenalty
	PresencePenalty
	RepetitionPenalty
	Seed
	MinTokens
	StopTokenIDs
	LogitBias
	NumParams // how many there are; not a setting
)

var paramNames = [NumParams]string{
	"temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty",
	"repetition_penalty", "seed", "min_tokens", "stop_token_ids", "logit_bias",
}

// String returns the field's name on the wire.
func (p Param) String() string { return paramNames[p] }

// ParamNamed returns the setting with that wire name, and whether there is one.
func ParamNamed(name string) (Param, bool) {
	for p, n := range paramNames {
		if n == name {
			return Param(p), true
		}
	}
	return 0, false
}

// Params holds each setting as JSON text: as the client spelled it, with
// integral floats written as integers where an integer belongs. "" is absent;
// an explicit zero is not.
type Params [NumParams]string
