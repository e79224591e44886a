package adapters

// ReasoningTags are the texts that begin and end reasoning in what models write,
// as their templates tell them to. Those that belong to a notation of messages
// are not among them.
var ReasoningTags = []struct{ Open, End string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"<seed:think>", "</seed:think>"},
	{"[THINK]", "[/THINK]"},
	{"◁think▷", "◁/think▷"},
	{"<|START_THINKING|>", "<|END_THINKING|>"},
	{"<|channel>thought", "<channel|>"},
	{"<|open|>think<|sep|>", "<|close|>think<|sep|>"},
}
