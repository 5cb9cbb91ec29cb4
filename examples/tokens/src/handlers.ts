import { type Caller, Forbidden } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';

/** Names by the subject of the token: each caller has a separate account. */
const names = new Map<string, string>();

function subjectOf({ subject }: Caller): string {
  if (subject === undefined) throw new Forbidden('the token has no subject');
  return subject;
}

export const handlers: Handlers = {
  readAccount({ caller }) {
    return { status: 200, body: { name: names.get(subjectOf(caller)) ?? 'nameless' } };
  },
  renameAccount({ caller, body: { name } }) {
    names.set(subjectOf(caller), name);
    return { status: 204 };
  },
};
