// Vercel's AI SDK with its OpenAI-compatible provider.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { embedMany, generateText, streamText } from 'ai'
import { base, check, fails, model, pirate } from './checks.mjs'

const provider = createOpenAICompatible({ name: 'dragoman', baseURL: base, apiKey: 'none', includeUsage: true })
const ask = (prompt, more = {}) => ({ model: provider(model), prompt, maxRetries: 0, onError() {}, ...more })

const answer = await generateText(ask('I love Red Hat!'))
check('text', answer.text === pirate && answer.finishReason === 'stop', answer.text)
check('usage', answer.usage.totalTokens > 0, answer.usage)

const streamed = streamText(ask('I love Red Hat!'))
let text = ''
for await (const part of streamed.textStream) text += part
check('stream', text === pirate && (await streamed.finishReason) === 'stop', text)
check('stream usage', (await streamed.usage).totalTokens > 0, await streamed.usage)
check('stop', (await generateText(ask('I love Red Hat!', { stopSequences: ['operating'] }))).text === 'Aye, Red Hat be a fine ')
const made = await embedMany({ model: provider.textEmbeddingModel(model), values: ['a', 'bb'], maxRetries: 0 })
check('embeddings', made.embeddings.map((v) => v[0]).join() === '1,2' && made.usage.tokens === 6, made)
await fails('error before', () => generateText(ask('fail first')), 'worker is out of memory')

const failing = []
for await (const part of streamText(ask('fail midway')).fullStream) failing.push(part)
const error = failing.find((p) => p.type === 'error')
check('error in the stream', String(error?.error?.message ?? error?.error).includes('worker is out of memory'), failing)

const abort = new AbortController()
for await (const part of streamText(ask('slow', { abortSignal: abort.signal })).fullStream) {
  if (part.type !== 'text-delta') continue
  check('cancel', part.text === 'Aye', part)
  abort.abort()
  break
}
