import { randomUUID } from 'node:crypto';
import { type Caller, Forbidden } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';

type Note = { id: string; text: string };

/** Notes by the name of the token. */
const notes = new Map<string, Note[]>();

function subjectOf({ subject }: Caller): string {
  if (subject === undefined) throw new Forbidden('the token has no name');
  return subject;
}

export const handlers: Handlers = {
  listNotes({ caller, query: { limit } }) {
    return { status: 200, body: notes.get(subjectOf(caller))?.slice(0, limit) ?? [] };
  },
  addNote({ caller, body: { text } }) {
    const subject = subjectOf(caller);
    const note = { id: randomUUID(), text };
    notes.set(subject, [note, ...(notes.get(subject) ?? [])]);
    return { status: 201, body: note };
  },
  exportNotes({ caller }) {
    const texts = notes.get(subjectOf(caller))?.map(({ text }) => text.replaceAll(/\s+/g, ' '));
    return { status: 200, body: texts?.join('\n') ?? '' };
  },
};
