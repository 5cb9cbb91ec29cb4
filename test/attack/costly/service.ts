import { setTimeout as delay } from 'node:timers/promises';
import { serve } from 'spec-first-server';

const done = async () => ({ status: 204 });

async function lines({ body }: { readonly body: unknown }) {
  for await (const _item of body as AsyncIterable<unknown>);
  return { status: 204 };
}

/** Keeps its request in memory while it waits, like a handler that queries a slow database. */
async function waiting({ body }: { readonly body: unknown }) {
  await delay(30_000);
  return { status: 204, reason: typeof body };
}

await serve({
  open: () => ({
    handlers: { form: done, lines, waiting, texts: done, lists: done, shapes: done },
  }),
});
