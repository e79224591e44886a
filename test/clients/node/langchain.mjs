// LangChain for JavaScript. Its streaming: true is left out: that counts tokens
// with a table which it fetches from the network.
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { base, check, fails, model, pirate } from './checks.mjs'

const chat = (more = {}) =>
  new ChatOpenAI({ model, apiKey: 'none', maxRetries: 0, configuration: { baseURL: base }, ...more })

const messages = [
  ['system', 'You are a helpful assistant that translates english to pirate.'],
  ['human', 'I love Red Hat!'],
]

const answer = await chat().invoke(messages)
check('text', answer.content === pirate, answer)
check('usage', answer.usage_metadata.total_tokens > 0, answer)

let whole
for await (const chunk of await chat().stream(messages)) whole = whole ? whole.concat(chunk) : chunk
check('stream', whole.content === pirate && whole.constructor.name === 'AIMessageChunk', whole)
check('stream usage', whole.usage_metadata.total_tokens > 0, whole)
check('stop', (await chat({ stop: ['operating'] }).invoke(messages)).content === 'Aye, Red Hat be a fine ')
const embedder = new OpenAIEmbeddings({ model, apiKey: 'none', maxRetries: 0, configuration: { baseURL: base } })
check('embeddings', (await embedder.embedDocuments(['a', 'bb'])).map((v) => v[0]).join() === '1,2')
await fails('error before', () => chat().invoke('fail first'), 'worker is out of memory')
await fails('error in the stream', async () => {
  for await (const _ of await chat().stream('fail midway'));
}, 'worker is out of memory')

// Leaving the loop does not end the request here; a signal does.
const abort = new AbortController()
for await (const chunk of await chat().stream('slow', { signal: abort.signal })) {
  if (!chunk.content) continue
  check('cancel', chunk.content === 'Aye', chunk)
  abort.abort()
  break
}
