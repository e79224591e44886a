package llm

// EmbedRequest is a client's request for embeddings, checked by the front end. It
// is read-only once routing has filled in Model.
type EmbedRequest struct {
	Model string // the backend's name of the model

	N      int      // inputs, at least 1
	Texts  []string // the inputs, none of them empty; nil if Tokens is set
	Tokens []byte   // token ids: a JSON list of them for a single input, or of such lists, as the client spelled it

	Dimensions int // numbers that an embedding shall have; 0: as many as the model gives

	// Raw and Members are the client's body, as in Request.
	Raw     []byte
	Members []Member
}

// Embeddings answer an EmbedRequest.
type Embeddings struct {
	Vectors      [][]float32 // one for each input, in order; every number is finite
	PromptTokens int         // of all inputs; 0: the backend did not say
	Estimated    bool        // PromptTokens is a guess
}
