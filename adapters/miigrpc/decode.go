package miigrpc

import (
	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/protobuf"
)

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(*llm.Request) adapters.Decoder { return decoder{} }

type decoder struct{}

// Fields of MultiGenerationReply and of SingleGenerationReply.
const (
	repliesReply = 1

	replyText, replyFinish, replyPromptTokens, replyTokens = 1, 2, 3, 4
)

// Decode implements adapters.Decoder. There is one reply, as there is one prompt.
func (decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	replies := protobuf.Read(fr.Data)
	for replies.Next() {
		if replies.Number == repliesReply {
			ev, err := read(replies.Bytes)
			if err != nil {
				return dst, err
			}
			return append(dst, ev), nil
		}
	}
	return dst, replies.Err()
}

// read returns what a reply says.
func read(reply []byte) (ev llm.Event, err error) {
	fields := protobuf.Read(reply)
	for fields.Next() {
		switch fields.Number {
		case replyText:
			ev.Text = fields.Bytes
		case replyFinish:
			if string(fields.Bytes) != "none" && len(fields.Bytes) > 0 {
				if ev.Finish, err = adapters.FinishWord(string(fields.Bytes), nil); err != nil {
					return ev, err
				}
			}
		case replyPromptTokens:
			ev.Usage.Prompt, ev.Usage.Has = count(fields.Int), true
		case replyTokens: // of all replies so far
			ev.Usage.Completion, ev.Usage.Has = count(fields.Int), true
		}
	}
	return ev, fields.Err()
}

// count returns an int64 as a count: what can be none is 0.
func count(bits uint64) int {
	if bits > 1<<40 {
		return 0
	}
	return int(bits)
}
