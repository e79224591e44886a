// What the client programs share.
export const base = process.env.OPENAI_API_BASE
export const model = 'vicuna-13B'
export const pirate = 'Aye, Red Hat be a fine operating system, arrr!'

export function check(name, ok, seen) {
  console.log((ok ? 'ok ' : 'FAILED ') + name, ok ? '' : JSON.stringify(seen))
  if (!ok) process.exit(1)
}

export async function fails(name, call, want) {
  try {
    await call()
  } catch (e) {
    return check(name, e.message.includes(want), String(e))
  }
  check(name, false, 'no error')
}
