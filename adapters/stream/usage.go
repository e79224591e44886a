package stream

import "dragoman/adapters/llm"

// mergeUsage returns what is known after news came. Zero counts mean that the
// backend did not say: some count the prompt in the first frame only.
func mergeUsage(known, news llm.Usage) llm.Usage {
	if !news.Has {
		return known
	}
	set := func(to *int, n int) {
		if n > 0 {
			*to = n
		}
	}
	set(&known.Prompt, news.Prompt)
	set(&known.Completion, news.Completion)
	set(&known.Cached, news.Cached)
	set(&known.Reasoning, news.Reasoning)
	known.Has, known.Estimated = true, news.Estimated
	return known
}

// estimateUsage fills in the counts that the backend left out, at four bytes a
// token, the usual rule of thumb for English.
func estimateUsage(u llm.Usage, req *llm.Request, generated int) llm.Usage {
	if u.Prompt == 0 {
		if n := promptBytes(req); n > 0 {
			u.Prompt, u.Estimated = tokens(n), true
		}
	}
	if u.Completion == 0 && generated > 0 {
		u.Completion, u.Estimated = tokens(generated), true
	}
	u.Has = true
	return u
}

func tokens(bytes int) int { return (bytes + 3) / 4 }

func promptBytes(req *llm.Request) int {
	n := 0
	for _, piece := range req.Prompt {
		n += len(piece.Text)
	}
	if n > 0 {
		return n
	}
	for i := range req.Messages {
		n += len(req.Messages[i].Role) + len(req.Messages[i].Content)
	}
	return n
}
