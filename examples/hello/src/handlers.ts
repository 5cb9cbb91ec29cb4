import type { Handlers } from '../generated/openapi.ts';

export const handlers: Handlers = {
  sayHello({ path, query }) {
    return { status: 200, body: { text: `Hello, ${path.name}!`.repeat(query.times) } };
  },
};
