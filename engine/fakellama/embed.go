package fakellama

// Embed implements embed.Model: an embedding is the number of tokens, the first and
// the last.
func (m *Model) Embed(inputs [][]int32) ([][]float32, error) {
	if m.OnEmbed != nil {
		if err := m.OnEmbed(inputs); err != nil {
			return nil, err
		}
	}
	vectors := make([][]float32, len(inputs))
	for i, tokens := range inputs {
		vectors[i] = []float32{float32(len(tokens)), float32(tokens[0]), float32(tokens[len(tokens)-1])}
	}
	return vectors, nil
}
