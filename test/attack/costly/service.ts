import { serve } from 'spec-first-server';

const done = async () => ({ status: 204 });

async function lines({ body }: { readonly body: unknown }) {
  for await (const _item of body as AsyncIterable<unknown>);
  return { status: 204 };
}

await serve({ open: () => ({ handlers: { form: done, lines, texts: done, shapes: done } }) });
