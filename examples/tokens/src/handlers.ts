import type { Handlers } from '../generated/openapi.ts';

/** Names by the subject of the token: each caller has a separate account. */
const names = new Map<string, string>();

export const handlers: Handlers = {
  readAccount({ caller: { subject = '' } }) {
    return { status: 200, body: { name: names.get(subject) ?? 'nameless' } };
  },
  renameAccount({ caller: { subject = '' }, body: { name } }) {
    names.set(subject, name);
    return { status: 204 };
  },
};
