import { openDatabase } from 'group-commit/sqlite';
import { type Backend, HttpError } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';

const noBook = () => new HttpError(404, 'there is no such book');

export async function openBooks(file: string): Promise<Backend & { handlers: Handlers }> {
  const module = new URL('./books.ts', import.meta.url);
  const books = await openDatabase<typeof import('./books.ts').default>({ file, module });

  const handlers: Handlers = {
    async listBooks({ query: { after = '', limit } }) {
      return { status: 200, body: await books.read('list', after, limit) };
    },
    async getBook({ path: { isbn } }) {
      const book = await books.read('get', isbn);
      if (book === undefined) throw noBook();
      return { status: 200, body: book };
    },
    async putBook({ path: { isbn }, body: { title, author } }) {
      const book = { isbn, title, author };
      await books.write('put', book);
      return { status: 200, body: book };
    },
    async deleteBook({ path: { isbn } }) {
      if (!(await books.write('remove', isbn))) throw noBook();
      return { status: 204 };
    },
  };
  const { location, ready, stats, close } = books;
  return { handlers, location, ready, stats, close };
}
