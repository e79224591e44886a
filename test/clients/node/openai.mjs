// The npm package openai of today.
import OpenAI from 'openai'
import { base, check, fails, model, pirate } from './checks.mjs'

const client = new OpenAI({ baseURL: base, apiKey: 'none', maxRetries: 0 })

const ask = (text, more = {}, options = {}) =>
  client.chat.completions.create({ model, messages: [{ role: 'user', content: text }], ...more }, options)

async function all(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}
const joined = (chunks) => chunks.map((c) => c.choices[0]?.delta.content ?? '').join('')

let answer = await ask('I love Red Hat!')
check('text', answer.choices[0].message.content === pirate && answer.choices[0].finish_reason === 'stop', answer)
check('usage', answer.usage.total_tokens === answer.usage.prompt_tokens + answer.usage.completion_tokens, answer)
check('stream', joined(await all(await ask('I love Red Hat!', { stream: true }))) === pirate)
let chunks = await all(await ask('I love Red Hat!', { stream: true, stream_options: { include_usage: true } }))
check('stream usage', chunks.at(-1).usage.total_tokens > 0 && chunks.at(-1).choices.length === 0, chunks)
const helper = client.chat.completions.stream({ model, messages: [{ role: 'user', content: 'I love Red Hat!' }] })
check('stream helper', (await helper.finalContent()) === pirate)
check('stop', (await ask('I love Red Hat!', { stop: 'operating' })).choices[0].message.content === 'Aye, Red Hat be a fine ')
check('stop stream', joined(await all(await ask('I love Red Hat!', { stop: ['operating'], stream: true }))) === 'Aye, Red Hat be a fine ')
await fails('error before', () => ask('fail first'), 'worker is out of memory')
await fails('error before the stream', () => ask('fail first', { stream: true }), 'worker is out of memory')
await fails('error in the stream', async () => all(await ask('fail midway', { stream: true })), 'worker is out of memory')
await fails('unknown model', () => client.chat.completions.create({ model: 'nope', messages: [{ role: 'user', content: 'x' }] }), 'nope')
const models = (await all(await client.models.list())).map((m) => m.id)
check('models', models.includes(model), models)

for (const form of [{}, { encoding_format: 'float' }]) {
  const made = await client.embeddings.create({ model, input: ['a', 'bb'], ...form })
  const [one, two] = made.data.map((d) => d.embedding)
  check(`embeddings ${JSON.stringify(form)}`, one.length === 3 && two[0] === 2 && two[1] === -0.25 && made.usage.total_tokens === 6, made)
}
await fails('embeddings error', () => client.embeddings.create({ model, input: 'fail first' }), 'worker is out of memory')

const slow = await ask('slow', { stream: true })
for await (const chunk of slow) {
  if (!chunk.choices[0]?.delta.content) continue
  check('cancel', chunk.choices[0].delta.content === 'Aye', chunk)
  break // leaving the loop aborts the request
}
